package session_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// clientKinds are the ways in which clients speak: what they negotiate, over which channel, by which plugin.
func clientKinds(withTLS *tls.Config) map[string]mysqltest.ClientConfig {
	all := map[string]mysqltest.ClientConfig{}
	for name, without := range map[string]mysql.Capability{
		"modern":      0,
		"eof":         mysql.ClientDeprecateEOF,
		"untracked":   mysql.ClientSessionTrack,
		"5.5":         mysql.ClientDeprecateEOF | mysql.ClientSessionTrack | mysql.ClientOptionalResultsetMetadata | mysql.ClientQueryAttributes | mysql.ClientPluginAuthLenencClientData | mysql.ClientConnectAttrs,
		"no metadata": mysql.ClientOptionalResultsetMetadata | mysql.ClientQueryAttributes,
	} {
		base := mysqltest.ClientConfig{User: "root", Password: "root", DB: "wire_p", Without: without}
		all[name] = base
		for _, z := range []mysql.Compression{mysql.Zlib, mysql.Zstd} {
			c := base
			c.Compression = z
			all[fmt.Sprintf("%s, compression %d", name, z)] = c
		}
		c := base
		c.TLS = withTLS
		all[name+", TLS"] = c
		c.Compression = mysql.Zlib
		all[name+", TLS, zlib"] = c
	}
	for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2, auth.Ed25519} {
		all[plugin] = mysqltest.ClientConfig{User: plugin, Password: "secret", DB: "wire_p"}
		all[plugin+", TLS"] = mysqltest.ClientConfig{User: plugin, Password: "secret", DB: "wire_p", TLS: withTLS}
	}
	return all
}

// exchange is one command. The two clients work in databases of their own, wire_d and wire_p, so as not to lock each
// other out.
type exchange struct {
	command mysql.Command
	body    string
}

func (e exchange) in(db string) exchange {
	return exchange{e.command, strings.ReplaceAll(e.body, "wire_p", db)}
}

// longQuery has an answer longer than a packet may be. Under the race detector it takes most of the time of a client's exchanges.
const longQuery = "SELECT REPEAT('x', 16777300)"

// longKinds are the kinds of clients that send longQuery: all by KS_ALL=1, else all without TLS and compression, and one of each other channel.
func longKinds(t *testing.T, all map[string]mysqltest.ClientConfig) map[string]bool {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	names := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, channel, _ := strings.Cut(name, ", ")
		names[channel] = append(names[channel], name)
	}
	chosen := map[string]bool{}
	for _, channel := range slices.Sorted(maps.Keys(names)) {
		one := r.IntN(len(names[channel]))
		for k, name := range names[channel] {
			if everyCase || channel == "" || k == one {
				chosen[name] = true
			}
		}
	}
	t.Logf("by seed %d %q have a long answer", seed, slices.Sorted(maps.Keys(chosen)))
	return chosen
}

// exchanges have an answer of every kind that a server gives.
var exchanges = []exchange{
	{mysql.ComPing, ""},
	{mysql.ComQuery, "DROP TABLE IF EXISTS matrix"},
	{mysql.ComQuery, "CREATE TABLE matrix (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(50), d DATETIME(3), b BLOB, n DECIMAL(20,4))"},
	{mysql.ComQuery, "INSERT INTO matrix (s, d, b, n) VALUES ('one', '2024-01-02 03:04:05.678', x'00ff', 1.5), (NULL, NULL, NULL, NULL), ('', '1999-12-31', '', -3)"},
	{mysql.ComQuery, "SELECT * FROM matrix ORDER BY id"},
	{mysql.ComQuery, "SELECT * FROM matrix WHERE id < 0"},
	{mysql.ComQuery, "UPDATE matrix SET s = 'two' WHERE id < 3"},
	{mysql.ComQuery, "SELECT * FROM missing"},
	{mysql.ComQuery, "SELEC"},
	{mysql.ComQuery, ""},
	{mysql.ComQuery, "SELECT 1/0, CAST('x' AS SIGNED)"},
	{mysql.ComQuery, "BEGIN"},
	{mysql.ComQuery, "DELETE FROM matrix WHERE id = 1"},
	{mysql.ComPing, ""},
	{mysql.ComQuery, "ROLLBACK"},
	{mysql.ComQuery, "SET autocommit = 0"},
	{mysql.ComQuery, "SELECT COUNT(*) FROM matrix"},
	{mysql.ComQuery, "COMMIT"},
	{mysql.ComQuery, "SET autocommit = 1"},
	{mysql.ComQuery, "SELECT REPEAT('x', 70000) UNION ALL SELECT REPEAT('y', 300)"},
	{mysql.ComQuery, longQuery},
	{mysql.ComFieldList, "matrix\x00%"},
	{mysql.ComInitDB, "no_such_database"},
	{mysql.ComQuery, "DO 1"},
	{mysql.ComInitDB, "wire_p"},
	{mysql.ComQuery, "DROP PROCEDURE IF EXISTS matrix_p"},
	{mysql.ComQuery, "CREATE PROCEDURE matrix_p() BEGIN SELECT 1; SELECT id, s FROM matrix; UPDATE matrix SET s = 'p' WHERE id = 3; END"},
	{mysql.ComQuery, "CALL matrix_p()"},
	{mysql.ComSetOption, "\x00\x00"},
	{mysql.ComResetConnection, ""},
	{mysql.ComQuery, "SELECT @@autocommit"},
}

// TestWireIsTheServersOwn sends the same commands straight to a server and through the proxy, as clients of every kind:
// the answers must be the same to the byte.
func TestWireIsTheServersOwn(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			makeDatabases(t, server, "wire_d", "wire_p")
			_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
			if err != nil {
				t.Fatal(err)
			}
			addr := startProxy(t, server, 2, fmt.Sprintf("tls: {cert: %s, key: %s}\n", cert, key))
			clients := clientKinds(&tls.Config{InsecureSkipVerify: true})
			long := longKinds(t, clients)
			for name, c := range clients {
				t.Run(name, func(t *testing.T) {
					through := dial(t, addr, c)
					// Straight to the server the channel and the plugin are the server's business: only what was
					// negotiated must be the same.
					direct := dial(t, server.Addr, mysqltest.ClientConfig{
						User: "root", Password: "root", DB: "wire_d", TLS: &tls.Config{InsecureSkipVerify: true}, Capabilities: through.Conn.Capabilities &^ (mysql.ClientCompress | mysql.ClientZstdCompressionAlgorithm),
					})
					for _, e := range exchanges {
						if e.body == longQuery && !long[name] {
							continue
						}
						if e.body == "BEGIN" {
							// MySQL reports its transaction here; the proxy begins it with the next statement.
							answer(t, direct, e)
							answer(t, through, e)
							continue
						}
						want, got := answer(t, direct, e.in("wire_d")), answer(t, through, e.in("wire_p"))
						if diff := compare(want, got); diff != "" {
							t.Errorf("%s %.60q: %s", e.command, e.body, diff)
						}
					}
				})
			}
		})
	}
}

func dial(t *testing.T, addr string, c mysqltest.ClientConfig) *mysqltest.RawClient {
	t.Helper()
	r, err := mysqltest.DialRaw(addr, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func answer(t *testing.T, c *mysqltest.RawClient, e exchange) [][]byte {
	t.Helper()
	packets, err := c.Command(e.command, e.body)
	if err != nil {
		t.Fatalf("%s %.60q: %v", e.command, e.body, err)
	}
	return packets
}

// compare tells the first difference between two answers.
func compare(want, got [][]byte) string {
	for k := range min(len(want), len(got)) {
		want[k] = bytes.ReplaceAll(want[k], []byte("wire_d"), []byte("wire_p"))
		if between(want, k) && between(got, k) {
			continue // its flags are those of the end, which the proxy does not know yet
		}
		if !bytes.Equal(want[k], got[k]) {
			return fmt.Sprintf("packet %d of %d is\n  %s, the server's\n  %s", k, len(want), shown(got[k]), shown(want[k]))
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d packets, the server's %d", len(got), len(want))
	}
	return ""
}

// between tells whether packet k is an EOF with rows or an end behind it.
func between(packets [][]byte, k int) bool {
	return k > 0 && k < len(packets)-1 && len(packets[k]) == 5 && packets[k][0] == mysql.EOFHeader
}

func shown(p []byte) string {
	if len(p) > 120 {
		return fmt.Sprintf("%q ... (%d bytes)", p[:120], len(p))
	}
	return fmt.Sprintf("%q", p)
}

// TestOldServers runs clients of both EOF styles against scripted servers that lack what newer ones negotiate.
func TestOldServers(t *testing.T) {
	for name, without := range map[string]mysql.Capability{
		"5.6":           mysql.ClientDeprecateEOF | mysql.ClientSessionTrack | mysql.ClientOptionalResultsetMetadata | mysql.ClientQueryAttributes,
		"no attributes": mysql.ClientQueryAttributes,
		"all":           0,
	} {
		t.Run(name, func(t *testing.T) {
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Capabilities: mysqltest.ScriptCapabilities &^ without, Handler: oldServer})
			addr := startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 2)
			for _, style := range []mysql.Capability{0, mysql.ClientDeprecateEOF, mysql.ClientDeprecateEOF | mysql.ClientQueryAttributes | mysql.ClientSessionTrack} {
				c := dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root", Without: style})
				r, err := c.Query("SELECT rows")
				if err != nil || len(r.Rows) != 2 || r.Rows[1][0] != nil || strings.Join(r.Names(), ",") != "n,s" {
					t.Errorf("rows: %+v, %v", r, err)
				}
				st, err := c.Prepare("SELECT ?")
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if r, err = st.Execute("x"); err != nil || len(r.Rows) != 1 || r.Rows[0][0] != "x" {
						t.Errorf("execute: %+v, %v", r, err)
					}
				}
				if r, err = st.OpenCursor("x"); err != nil || !r.Status.Has(mysql.ServerStatusCursorExists) {
					t.Errorf("cursor: %+v, %v", r, err)
				}
				if r, err = st.Fetch(10); err != nil || len(r.Rows) != 1 || !r.Status.Has(mysql.ServerStatusLastRowSent) {
					t.Errorf("fetch: %+v, %v", r, err)
				}
				if r, err = c.Query("SELECT broken"); err != nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
					t.Errorf("an error behind rows: %+v, %v", r, err)
				}
			}
		})
	}
}

// oldServer answers what the proxy asks of a server and what TestOldServers sends.
func oldServer(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	text := string(payload)
	switch {
	case strings.Contains(text, "information_schema.collations"):
		c.Rows([]string{"id", "collation_name", "character_set_name"}, []any{45, "utf8mb4_general_ci", "utf8mb4"})
	case strings.Contains(text, "lower_case_table_names"):
		c.Rows([]string{"l", "m"}, []any{0, ""})
	case strings.Contains(text, "SELECT rows"):
		c.Rows([]string{"n", "s"}, []any{1, "one"}, []any{nil, "two"})
	case strings.Contains(text, "SELECT broken"):
		c.Columns(mysqltest.Strings("n")...)
		c.Row(1)
		c.Error(mysql.ERQueryInterrupted, "interrupted")
	case cmd == mysql.ComStmtPrepare:
		c.Prepared(3, 1, "n")
	case cmd == mysql.ComStmtExecute && payload[4]&7 != 0:
		c.Cursor(mysqltest.Strings("n")...)
	case cmd == mysql.ComStmtExecute:
		c.BinaryRows([]string{"n"}, []any{"x"})
	case cmd == mysql.ComStmtFetch:
		c.BinaryRow("x")
		c.Status |= mysql.ServerStatusLastRowSent
		c.End()
		c.Status &^= mysql.ServerStatusLastRowSent
	case cmd == mysql.ComFieldList:
		c.End()
	case cmd == mysql.ComStmtClose, cmd == mysql.ComStmtSendLongData:
	default:
		c.OK()
	}
}

func makeDatabases(t *testing.T, server *mysqltest.RealServer, names ...string) {
	t.Helper()
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range names {
		if _, err := db.Exec("CREATE DATABASE IF NOT EXISTS " + name); err != nil {
			t.Fatal(err)
		}
	}
}
