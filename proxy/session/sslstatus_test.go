package session_test

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Status variables of TLS are those of the client's own connection, in whichever form they are asked for; the backend's has none.
func TestStatusOfTLS(t *testing.T) {
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
			plain := dial(t, addr, login)
			login.TLS = &tls.Config{InsecureSkipVerify: true}
			secure := dial(t, addr, login)
			table := "performance_schema.session_status"
			if kind == mysqltest.MariaDB {
				table = "information_schema.session_status"
			}
			texts := []string{
				"SHOW STATUS LIKE 'Ssl_%'", "show session status like 'ssl_version%'", "SHOW LOCAL STATUS WHERE Variable_name IN ('Ssl_version', 'Ssl_cipher')",
				"SHOW STATUS LIKE \"Ssl_version\"", "SHOW GLOBAL STATUS LIKE 'Ssl_v%'", "SHOW STATUS", "/* x */ SHOW  STATUS LIKE 'Ssl_version'",
				"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM " + table + " WHERE VARIABLE_NAME = 'Ssl_version'",
				"SELECT s.VARIABLE_NAME, s.VARIABLE_VALUE FROM " + table + " AS s WHERE s.VARIABLE_NAME LIKE 'ssl\\_%'",
				"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM " + strings.ReplaceAll(table, ".", " . ") + " ORDER BY 1",
			}
			for _, text := range texts {
				for _, prepare := range []bool{false, true} {
					for _, c := range []*mysqltest.RawClient{plain, secure} {
						found := ""
						var r *mysqltest.RawResult
						if prepare {
							st, err := c.Prepare(text)
							if err != nil {
								t.Fatalf("%s: %v", text, err)
							}
							if r, err = st.Execute(); err != nil || r.Err != nil {
								t.Fatalf("%s: %v, %v", text, err, r)
							}
						} else {
							r = must(t, c, text)
						}
						for _, row := range r.Rows {
							if strings.EqualFold(row[0].(string), "Ssl_version") {
								found = row[1].(string)
							}
						}
						if (c == secure) != strings.HasPrefix(found, "TLSv1.") {
							t.Errorf("%s, prepared %v, with TLS %v: Ssl_version is %q", text, prepare, c == secure, found)
						}
					}
				}
			}
		})
	}
}
