package session_test

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Status variables of TLS and compression are those of the client's own connection, in whichever form they are asked for; the backend's has
// none.
func TestStatusOfConnection(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			makeDatabases(t, server, "accept")
			_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
			if err != nil {
				t.Fatal(err)
			}
			addr := startProxy(t, server, 2, fmt.Sprintf("tls: {cert: %s, key: %s}\n", cert, key))
			login := accept()
			clients := map[string]*mysqltest.RawClient{"plain": dial(t, addr, login)}
			for algorithm, name := range map[mysql.Compression]string{mysql.Zlib: "zlib", mysql.Zstd: "zstd"} {
				login.Compression = algorithm
				clients[name] = dial(t, addr, login)
			}
			login.Compression, login.TLS = mysql.NoCompression, &tls.Config{InsecureSkipVerify: true}
			clients["tls"] = dial(t, addr, login)
			want := func(client, variable string) string {
				switch packed := client == "zlib" || client == "zstd"; {
				case strings.EqualFold(variable, "Ssl_version") && client == "tls":
					return "TLSv1.3"
				case strings.EqualFold(variable, "Compression_algorithm") && packed:
					return client
				case strings.EqualFold(variable, "Compression") && packed:
					return "ON"
				case strings.EqualFold(variable, "Compression"):
					return "OFF"
				}
				return ""
			}
			table := "performance_schema.session_status"
			if kind == mysqltest.MariaDB {
				table = "information_schema.session_status"
			}
			texts := []string{
				"SHOW STATUS LIKE 'Ssl_%'", "SHOW STATUS LIKE 'Compression%'", "show session status like 'ssl_version%'", "SHOW LOCAL STATUS WHERE Variable_name IN ('Ssl_version', 'Ssl_cipher')",
				"SHOW STATUS LIKE \"Ssl_version\"", "SHOW GLOBAL STATUS LIKE 'Ssl_v%'", "SHOW STATUS", "/* x */ SHOW  STATUS LIKE 'Ssl_version'",
				"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM " + table + " WHERE VARIABLE_NAME = 'Ssl_version'",
				"SELECT s.VARIABLE_NAME, s.VARIABLE_VALUE FROM " + table + " AS s WHERE s.VARIABLE_NAME LIKE 'ssl\\_%'",
				"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM " + strings.ReplaceAll(table, ".", " . ") + " ORDER BY 1",
				"SELECT session_status.VARIABLE_NAME, VARIABLE_VALUE FROM `" + strings.ReplaceAll(table, ".", "` /* x */ .`") + "`",
				"SELECT a.VARIABLE_NAME, a.VARIABLE_VALUE FROM (SELECT 1) AS x JOIN " + table + " a LEFT JOIN " + table + " USING (VARIABLE_NAME)",
			}
			for _, text := range texts {
				for _, prepare := range []bool{false, true} {
					for name, c := range clients {
						found := 0
						for _, row := range textOrPrepared(t, c, text, prepare).Rows {
							switch variable := row[0].(string); strings.ToLower(variable) {
							case "ssl_version", "compression", "compression_algorithm":
								found++
								if w := want(name, variable); row[1].(string) != w {
									t.Errorf("%s, prepared %v, client %s: %s is %q, want %q", text, prepare, name, variable, row[1], w)
								}
							}
						}
						if found == 0 {
							t.Errorf("%s, prepared %v, client %s: no such variable", text, prepare, name)
						}
					}
				}
			}
			// A column of that name is none, wherever it stands, nor is a query that WITH names so.
			schema, _, _ := strings.Cut(table, ".")
			for _, c := range clients {
				must(t, c, "USE "+schema)
				for _, text := range []string{
					"SELECT 1, session_status FROM (SELECT 2 AS session_status) AS s", "SELECT 1, MAX(session_status) FROM (SELECT 2 AS session_status) AS s", "SELECT 1, (session_status) FROM (SELECT 2 AS session_status) AS s",
					"SELECT 1, COALESCE(NULL, session_status) FROM (SELECT 1 AS one, 2 AS session_status) AS s ORDER BY 1, session_status", "WITH session_status AS (SELECT 2 AS b) SELECT 1, b FROM session_status",
					"SELECT 1, TRIM(LEADING 1 FROM session_status) FROM (SELECT 2 AS session_status) AS s", "SELECT 1, s.b FROM (SELECT COUNT(*) AS a FROM session_status) AS d, (SELECT 2 AS b) AS s",
				} {
					for _, prepare := range []bool{false, true} {
						if row := textOrPrepared(t, c, text, prepare).Rows; fmt.Sprint(row) != "[[1 2]]" {
							t.Errorf("%s, prepared %v: %v", text, prepare, row)
						}
					}
				}
			}
			for _, c := range clients {
				if v := must(t, c, "SELECT 'x FROM "+table+"'").Rows[0][0]; v != "x FROM "+table {
					t.Errorf("a string became %q", v)
				}
				if rows := must(t, c, "DESCRIBE "+table).Rows; len(rows) != 2 {
					t.Errorf("DESCRIBE %s: %v", table, rows)
				}
			}
		})
	}
}

// textOrPrepared runs a statement, as text or prepared.
func textOrPrepared(t *testing.T, c *mysqltest.RawClient, text string, prepare bool) *mysqltest.RawResult {
	t.Helper()
	if !prepare {
		return must(t, c, text)
	}
	st, err := c.Prepare(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r, err := st.Execute()
	if err != nil || r.Err != nil {
		t.Fatalf("%s: %v, %v", text, err, r)
	}
	return r
}
