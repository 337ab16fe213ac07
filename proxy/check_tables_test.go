package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Sub-tables that drifted apart, and rows in a wrong place, are found by KS CHECK; keys are shown to those only who may see
// other users' statements.
func TestCheckTables(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		text := strings.Replace(oneNode(server.Addr, 6), "user_list:\n", "user_list:\n  - {user: ops, password: ops, rights: operate}\n  - {user: look, password: look, rights: read}\n", 1)
		p := startProxy(t, text+"  - {user: ops, nodes: [n], default: n, shard: [{db: "+database+", table: users, key: id, nodes: [n], type: mod, locations: [3]}, {db: "+database+", table: names, key: name, nodes: [n], type: crc32, locations: [2]}]}\n  - {user: look, nodes: [n], default: n}\n")
		ops := dial(t, p.addr, mysqltest.ClientConfig{User: "ops", Password: "ops", DB: database})
		look := dial(t, p.addr, mysqltest.ClientConfig{User: "look", Password: "look"})
		must(t, ops, "CREATE TABLE users (id INT PRIMARY KEY, n INT)")
		must(t, ops, "INSERT INTO users VALUES (0,0), (1,1), (2,2)")
		if r := must(t, ops, "KS CHECK TABLE users"); len(r.Rows) != 0 {
			t.Errorf("alike: %v", r.Rows)
		}
		if r := must(t, ops, "KS CHECK PLACEMENT users"); fmt.Sprint(r.Rows) != fmt.Sprintf("[[n %[1]s.users_0000 1 0 <nil> <nil>] [n %[1]s.users_0001 1 0 <nil> <nil>] [n %[1]s.users_0002 1 0 <nil> <nil>]]", database) {
			t.Errorf("in place: %v", r.Rows)
		}
		must(t, direct, "ALTER TABLE users_0002 ADD COLUMN z INT")
		must(t, direct, "DROP TABLE users_0001")
		must(t, direct, "INSERT INTO users_0002 VALUES (4711, 0, 0)")
		r := must(t, ops, "KS CHECK TABLE "+database+".users")
		if got, want := fmt.Sprint(r.Rows), fmt.Sprintf("[[%[1]s users n %[1]s.users_0001 is missing] [%[1]s users n %[1]s.users_0002 has column z, which n/%[1]s.users_0000 has not]]", database); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		got := fmt.Sprint(must(t, ops, "KS CHECK PLACEMENT users").Rows)
		for _, want := range []string{"users_0000 1 0 <nil> <nil>", "users_0001 0 0 <nil> ERROR 1146", "users_0002 2 1 ? belongs to n/" + database + ".users_0001"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: lacks %s", got, want)
			}
		}
		if strings.Contains(got+p.log.String(), "4711") {
			t.Error("a key is shown")
		}
		for text, code := range map[string]uint16{"KS CHECK TABLE nothing": 9032, "KS CHECK PLACEMENT nothing": 9032, "KS CHECK": 9031, "KS CHECK TABLE": 9031, "KS CHECK TABLE users x": 9031} {
			if r, err := ops.Query(text); err != nil || r.Err == nil || r.Err.Code != code {
				t.Errorf("%s: %+v, %v", text, r, err)
			}
		}
		for _, table := range []string{"names_0000", "names_0001"} {
			must(t, direct, "CREATE TABLE "+table+" (name VARCHAR(20))") // as it may have been made before the proxy refused it
		}
		must(t, ops, "INSERT INTO names VALUES ('a'), ('A')")
		if got := fmt.Sprint(must(t, ops, "KS CHECK TABLE names").Rows); !strings.Contains(got, "strings: exact") {
			t.Errorf("%s", got)
		}
		refused := "ALTER TABLE names CONVERT TO CHARACTER SET utf8mb4"
		if r, err := ops.Query(refused); err != nil || r.Err == nil || r.Err.Code != 9012 {
			t.Errorf("%s: %+v, %v", refused, r, err)
		}
		if r, err := look.Query("KS CHECK TABLE ALL"); err != nil || r.Err == nil || r.Err.Code != 9030 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
