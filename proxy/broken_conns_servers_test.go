package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Servers themselves close connections: by KILL and after wait_timeout, of which MySQL says a word before that nobody asked for. Over each
// kind of connection the statement behind it never arrives: it is sent again, or its client is told that it was not carried out.
func TestServersCloseConnections(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // a server takes a second at least until it ends a connection
			serverClosesConnections(t, kind)
		})
	}
}

func serverClosesConnections(t *testing.T, kind mysqltest.Kind) {
	server := startOwn(t, mysqltest.ServerConfig{Kind: kind, TLS: true})
	direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	must(t, direct, "CREATE DATABASE "+database)
	must(t, direct, "USE "+database)
	must(t, direct, "CREATE TABLE arr (id INT AUTO_INCREMENT PRIMARY KEY, tag VARCHAR(100) NOT NULL)")
	must(t, direct, "SET SESSION wait_timeout = 28800")
	own := value(t, direct, "SELECT CONNECTION_ID()")
	// Those of the proxy's pool are in the database, probes are not.
	list := "SELECT id FROM information_schema.processlist WHERE db = '" + database + "' AND id <> " + own
	for _, over := range []struct{ name, addr, option string }{
		{"TCP", server.Addr, ""}, {"TLS", server.Addr, "tls: {mode: required}, "}, {"unix socket", server.Socket, ""},
	} {
		for _, how := range []string{"KILL", "wait_timeout"} {
			must(t, direct, "SET GLOBAL wait_timeout = "+map[string]string{"KILL": "28800", "wait_timeout": "1"}[how])
			p := startProxy(t, strings.Replace(oneNode(over.addr, 2, "fast_lane: false"), "{name: n,", "{name: n, "+over.option, 1))
			for _, path := range []struct {
				name   string
				before []string
				text   string
				code   uint16
			}{
				{"pooled", nil, "INSERT INTO arr (tag) VALUES ('%s')", 0},
				{"in a transaction", []string{"BEGIN", "INSERT INTO arr (tag) VALUES ('%s')"}, "INSERT INTO arr (tag) VALUES ('%s')", 1213},
				{"COMMIT", []string{"BEGIN", "INSERT INTO arr (tag) VALUES ('%s')"}, "COMMIT", 1213},
			} {
				t.Run(strings.Join([]string{over.name, how, path.name}, "/"), func(t *testing.T) {
					tag := strings.ReplaceAll(t.Name(), "/", " ")
					c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
					for _, text := range append([]string{"INSERT INTO arr (tag) VALUES ('warm')"}, path.before...) {
						must(t, c, strings.ReplaceAll(text, "%s", tag))
					}
					if how == "KILL" {
						for _, row := range must(t, direct, list).Rows {
							_, _ = direct.Query(fmt.Sprint("KILL ", row[0]))
						}
					}
					mysqltest.WaitFor(t, "the connections to be gone", func() bool { return len(must(t, direct, list).Rows) == 0 })
					r, err := c.Query(strings.ReplaceAll(path.text, "%s", tag))
					if err != nil {
						t.Fatal(err)
					}
					code, rows := uint16(0), "1"
					if r.Err != nil {
						code, rows = r.Err.Code, "0"
					}
					if code != path.code {
						t.Errorf("%v, want %d", r.Err, path.code)
					}
					if got := value(t, direct, "SELECT COUNT(*) FROM arr WHERE tag = '"+tag+"'"); got != rows {
						t.Errorf("%s rows, want %s", got, rows)
					}
				})
			}
		}
	}
}
