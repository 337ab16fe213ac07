package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// capture gives what a command prints to standard output, and its exit code.
func capture(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stdout := os.Stdout
	os.Stdout = w
	read := make(chan string)
	go func() {
		data, _ := io.ReadAll(r)
		read <- string(data)
	}()
	code = run(args)
	os.Stdout = stdout
	_ = w.Close()
	return <-read, code
}

// planConfig is a configuration whose servers do not exist.
const planConfig = `addr: 127.0.0.1:0
user_list:
- {user: app, password: sesame}
- {user: plain, password: sesame, hints: false}
nodes:
- {name: node1, user: ks, password: secret1, master: "192.0.2.1:3306"}
- {name: node2, user: ks, password: secret2, master: "192.0.2.2:3306"}
schema_list:
- user: app
  nodes: [node1, node2]
  default: node1
  shard:
  - {db: shop, table: users, key: id, nodes: [node1, node2], type: hash, locations: [1, 1]}
  - {db: shop, table: orders, key: user_id, colocate_with: users}
  - {db: shop, table: events, key: day, nodes: [node1, node2], type: date_month, date_range: [202601-202602, 202603-202604]}
  - {db: shop, table: places, key: [country, city], nodes: [node1, node2], type: crc32}
  - {db: shop, table: countries, type: reference}
- user: plain
  nodes: [node1]
  default: node1
`

func planFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ks.yaml")
	if err := os.WriteFile(file, []byte(planConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExplain(t *testing.T) {
	file := planFile(t)
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"one shard", []string{"-user", "app", "SELECT * FROM users WHERE id = 5;"}, 0, `plan    forward
node    node2
shards  shop.users_0001
sql     SELECT * FROM ` + "`users_0001` AS `users`" + ` WHERE id = 5
`},
		{"the EXPLAIN of a client", []string{"-u", "app", "EXPLAIN DELETE FROM users WHERE id IN (1, 2)"}, 0, `plan    write
node    node1
shards  shop.users_0000
sql     DELETE FROM ` + "`users_0000`" + ` WHERE id IN (1, 2)

plan    write
node    node2
shards  shop.users_0001
sql     DELETE FROM ` + "`users_0001`" + ` WHERE id IN (1, 2)
`},
		{"another database", []string{"-u", "app", "-d", "other", "SELECT * FROM users"}, 0, `plan    forward
reason  no table with a rule: the default node
node    node1
sql     SELECT * FROM users
`},
		{"unsharded, not understood", []string{"-u", "app", "FROB THE NOB"}, 0, `plan    forward
reason  no table with a rule: the default node
node    node1
sql     FROB THE NOB
`},
		{"hint", []string{"-u", "app", "/*node2*/ SELECT * FROM users_0001"}, 0, `plan    forward
reason  a hint names the node
node    node2
sql     SELECT * FROM users_0001
`},
		{"hint of one who may not", []string{"-u", "plain", "/*node1*/ SELECT 1"}, 0, `plan    forward
reason  no table with a rule: the default node
node    node1
sql     SELECT 1
`},
		{"refused", []string{"-u", "app", "UPDATE users SET name = 'x' LIMIT 1"}, 1, `plan    refuse
reason  UPDATE or DELETE with LIMIT over several shards, of a table without a known primary key; a condition id = … would ask one shard
`},
		{"columns are not known", []string{"-u", "app", "SELECT * FROM users ORDER BY name"}, 1, `plan    refuse
reason  ORDER BY an expression whose type is not known: the columns of users are not known; a condition id = … would ask one shard
`},
		{"what would help", []string{"-u", "app", "DELETE FROM orders"}, 0, `plan    write
node    node1
shards  shop.orders_0000
sql     DELETE FROM ` + "`orders_0000`" + `
help    a condition user_id = … would ask one shard

plan    write
node    node2
shards  shop.orders_0001
sql     DELETE FROM ` + "`orders_0001`" + `
`},
		{"not to be read", []string{"-u", "app", "FROB users"}, 1, `plan    unreadable
reason  syntax that the proxy cannot read: near "FROB users"
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, code := capture(t, append([]string{"explain", "-config", file}, c.args...)...)
			if code != c.code || got != c.want {
				t.Errorf("exit code %d, want %d\n%swant\n%s", code, c.code, got, c.want)
			}
		})
	}
}

func TestRoute(t *testing.T) {
	file := planFile(t)
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"numbers and text", []string{"shop.users", "4", "5", "'7'"}, 0, `key  shard  node   table
4    0      node1  shop.users_0000
5    1      node2  shop.users_0001
'7'  1      node2  shop.users_0001
`},
		{"dates, one without a place", []string{"shop.events", "2026-03-31", "2026-05-01"}, 1, `key         shard  node   table
2026-03-31  2      node2  shop.events_202603
`},
		{"two columns", []string{"shop.places", "de", "Ulm", "at", "Linz"}, 0, `key      shard  node   table
de,Ulm   1      node2  shop.places_0001
at,Linz  1      node2  shop.places_0001
`},
		{"no key: all", []string{"shop.orders"}, 0, `shard  node   table
0      node1  shop.orders_0000
1      node2  shop.orders_0001
`},
		{"reference", []string{"shop.countries", "de"}, 0, `shard  node   table
0      node1  shop.countries
1      node2  shop.countries
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, code := capture(t, append([]string{"route", "-config", file, "-user", "app"}, c.args...)...)
			if code != c.code || got != c.want {
				t.Errorf("exit code %d, want %d\n%swant\n%s", code, c.code, got, c.want)
			}
		})
	}
}

func TestPlanExitCodes(t *testing.T) {
	file := planFile(t)
	missing := filepath.Join(t.TempDir(), "ks.yaml")
	for _, c := range []struct {
		args string
		want int
	}{
		{"explain -config " + file, 2},                                     // no statement
		{"explain -config " + file + " -u app SELECT 1", 2},                // without quotes: two arguments
		{"explain -config " + file + " -u app SELECT/**/1;SELECT/**/2", 2}, // two statements
		{"explain -config " + file + " BEGIN", 2},                          // which user?
		{"explain -config " + file + " -u nobody BEGIN", 2},
		{"explain -config " + missing + " -u app BEGIN", 1},
		{"explain -no-such-flag", 2},
		{"route -config " + file + " -u app", 2},
		{"route -config " + file + " -u app users 1", 2},         // no database
		{"route -config " + file + " -u app shop.products 1", 1}, // no rule
		{"route -config " + file + " -u app shop.places de", 2},  // half a key
		{"route -config " + missing + " -u app shop.users 1", 1},
	} {
		t.Run(c.args, func(t *testing.T) {
			out, code := capture(t, strings.Fields(c.args)...)
			if code != c.want || out != "" {
				t.Errorf("exit code %d, want %d; output %q, want none", code, c.want, out)
			}
		})
	}
}
