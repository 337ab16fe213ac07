package decisions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// What is missing is found, made once, and then found to be right; the clients' account may call the procedures and nothing else.
func TestMake(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		n := nodesAt(t, true, b.server)[0]
		f, err := Look(n.Primary, soon())
		if err != nil || len(f.Missing) != 5 || f.Complete() || len(f.Open) > 0 || f.OneAccount || f.Maker != "`own`@`%`" || f.Caller != "`clients`@`%`" {
			t.Fatalf("%+v, %v", f, err)
		}
		f, made, err := Make(n.Primary, soon())
		if err != nil || !f.Complete() || !slices.Equal(made, []string{"ks_meta.dtx", "ks_meta.secret", "ks_meta.ks_branch", "ks_meta.ks_decide", "ks_meta.ks_recent"}) {
			t.Fatalf("%+v, %v, %v", f, made, err)
		}
		if f, made, err = Make(n.Primary, soon()); err != nil || !f.Complete() || len(made) > 0 {
			t.Fatalf("again: %+v, %v, %v", f, made, err)
		}
		c := dial(t, b.server, "clients", password)
		for _, sql := range []string{
			"SELECT * FROM ks_meta.dtx", "SELECT * FROM ks_meta.secret", "INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('a', 'C', '', '', '')", "UPDATE ks_meta.dtx SET state = 'C'",
			"DELETE FROM ks_meta.dtx", "DROP TABLE ks_meta.dtx", "DROP PROCEDURE ks_meta.ks_decide", "ALTER PROCEDURE ks_meta.ks_decide SQL SECURITY INVOKER", "CREATE TABLE ks_meta.t (a INT)",
		} {
			if code := refused(t, c, sql); code != 1142 && code != 1370 && code != 1044 {
				t.Errorf("%s: %d", sql, code)
			}
		}
		must(t, c, "CALL ks_meta.ks_branch('a', 'b', CONCAT(':', CONNECTION_ID()), 'm')")
		if r := must(t, b.root, "SELECT COUNT(*), MIN(state) FROM ks_meta.dtx"); r.Rows[0][0] != "1" || r.Rows[0][1] != "B" {
			t.Errorf("the row: %v", r.Rows)
		}
	})
}

// Many proxies make it at the same time, and agree on one key.
func TestMakeTogether(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		keys := map[Key]int{}
		for range 8 {
			nodes := nodesAt(t, true, b.server, b.server)
			wg.Go(func() {
				s := NewStore(nil, true)
				key, err := s.Ready(nodes, soon())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				keys[key]++
			})
		}
		wg.Wait()
		if len(keys) != 1 {
			t.Errorf("keys: %v", keys)
		}
	})
}

// Another account's statements do the same, also where all is there, and the proxy's own needs no right to make anything then.
func TestStatements(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		must(t, b.root, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM own")
		n := nodesAt(t, true, b.server)[0]
		for range 2 {
			for _, s := range Statements(Accounts{Own: "`own`@`%`", User: "`clients`@`%`"}) {
				must(t, b.root, s.SQL)
			}
			if f, made, err := Make(n.Primary, soon()); err != nil || len(made) > 0 || !f.Complete() || len(f.Open) > 0 {
				t.Fatalf("%+v, %v, %v", f, made, err)
			}
			if _, err := Agree([]*backend.Node{n}, soon()); err != nil {
				t.Error(err)
			}
		}
		must(t, b.root, "DROP DATABASE ks_meta")
		must(t, b.root, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM clients")
		for _, s := range Statements(Accounts{User: "`clients`@`%`"}) {
			must(t, b.root, s.SQL)
		}
		must(t, dial(t, b.server, "clients", password), "CALL ks_meta.ks_branch('a', 'b', CONCAT(':', CONNECTION_ID()), 'm')")
		for account, want := range map[string]string{"a@%": "`a`@`%`", "a@b@10.%": "`a@b`@`10.%`", "o`x@": "`o``x`@``", "role": "`role`"} {
			if got := QuoteAccount(account); got != want {
				t.Errorf("%s: %s, want %s", account, got, want)
			}
		}
	})
}

// What the clients' account may do besides is said, however it came to it.
func TestOpen(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		n := made(t, b)
		for _, c := range []struct{ grant, revoke, want string }{
			{"GRANT SELECT ON ks_meta.secret TO clients", "REVOKE SELECT ON ks_meta.secret FROM clients", "SELECT on ks_meta.secret"},
			{"GRANT INSERT (gtrid) ON ks_meta.dtx TO clients", "REVOKE INSERT (gtrid) ON ks_meta.dtx FROM clients", "INSERT on ks_meta.dtx"},
			{"GRANT INSERT, DELETE ON ks_meta.dtx TO clients", "REVOKE INSERT, DELETE ON ks_meta.dtx FROM clients", "INSERT on ks_meta.dtx, DELETE on ks_meta.dtx"},
			{"GRANT UPDATE ON ks_meta.* TO clients", "REVOKE UPDATE ON ks_meta.* FROM clients", "UPDATE on ks_meta"},
			{"GRANT DROP, ALTER ROUTINE ON *.* TO clients", "REVOKE DROP, ALTER ROUTINE ON *.* FROM clients", "DROP, ALTER ROUTINE on ks_meta"},
			{"GRANT SELECT ON `ks\\_%`.* TO clients", "REVOKE SELECT ON `ks\\_%`.* FROM clients", "SELECT on ks_meta"},
		} {
			must(t, b.root, c.grant)
			f, err := Look(n.Primary, soon())
			if err != nil || strings.Join(f.Open, ", ") != c.want || !f.Complete() {
				t.Errorf("%s: %+v, %v", c.grant, f, err)
			}
			must(t, b.root, c.revoke)
		}
		must(t, b.root, "GRANT ALL ON *.* TO clients")
		if f, err := Look(n.Primary, soon()); err != nil || len(f.Open) != 1 || !strings.HasPrefix(f.Open[0], "SELECT, INSERT, UPDATE, DELETE, ") {
			t.Errorf("ALL: %+v, %v", f, err)
		}
		if f, err := Look(nodesAt(t, false, b.server)[0].Primary, soon()); err != nil || !f.OneAccount || len(f.Open) > 0 || !f.Complete() {
			t.Errorf("one account: %+v, %v", f, err)
		}
	})
}

// Where something cannot be made, the error says what, and what to do.
func TestMakeRefused(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		n := nodesAt(t, true, b.server)[0]
		fails := func(parts ...string) {
			t.Helper()
			_, _, err := Make(n.Primary, soon())
			for _, part := range append(parts, "node a ("+b.server.Addr+")") {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in %v", part, err)
				}
			}
		}
		must(t, b.root, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM own")
		fails("ks_meta is missing and `own`@`%` could not make it: Access denied", "kingshard init -print")
		must(t, b.root, strings.Replace(ownGrant, " WITH GRANT OPTION", "", 1))
		fails("`clients`@`%` may not call ks_meta.ks_recent (", "), and `own`@`%` could not grant it", "run GRANT EXECUTE ON PROCEDURE ks_meta.ks_branch TO `clients`@`%`; GRANT EXECUTE ON")
		must(t, b.root, "GRANT EXECUTE ON ks_meta.* TO clients")
		if f, _, err := Make(n.Primary, soon()); err != nil || !f.Complete() {
			t.Errorf("granted by somebody else: %+v, %v", f, err)
		}
		must(t, b.root, "REVOKE EXECUTE ON ks_meta.* FROM clients")
		must(t, b.root, ownGrant)

		must(t, b.root, "ALTER TABLE ks_meta.dtx MODIFY conns VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL")
		fails("ks_meta.dtx has (", "conns varchar(10) NO ascii_bin", "DROP these, and run kingshard init")
		must(t, b.root, "DROP TABLE ks_meta.dtx")
		must(t, b.root, strings.Replace(objects[0].statement(), version, "kingshard 0", 1))
		fails("ks_meta.dtx has the comment 'kingshard 0' in place of 'kingshard 1'")
		must(t, b.root, "DROP TABLE ks_meta.dtx")
		must(t, b.root, "DROP PROCEDURE ks_meta.ks_branch")
		must(t, b.root, "SET sql_mode = ''")
		must(t, b.root, objects[2].statement())
		must(t, b.root, "SET sql_mode = DEFAULT")
		fails("ks_meta.ks_branch has the sql_mode ''")
		must(t, b.root, "DROP PROCEDURE ks_meta.ks_branch")
		must(t, b.root, "SET sql_mode = 'STRICT_ALL_TABLES'")
		must(t, b.root, strings.Replace(objects[2].statement(), "DEFINER", "INVOKER", 1))
		must(t, b.root, "SET sql_mode = DEFAULT")
		fails("ks_meta.ks_branch has SQL SECURITY INVOKER")
		must(t, b.root, "DROP PROCEDURE ks_meta.ks_branch")
		if f, made, err := Make(n.Primary, soon()); err != nil || !f.Complete() || len(made) != 2 {
			t.Errorf("the table and the procedure: %+v, %v, %v", f, made, err)
		}
		// Procedures whose maker may not write any more, or is gone.
		must(t, b.root, "CREATE USER IF NOT EXISTS gone")
		must(t, b.root, "DROP PROCEDURE ks_meta.ks_branch")
		must(t, b.root, "SET sql_mode = 'STRICT_ALL_TABLES'")
		must(t, b.root, strings.Replace(objects[2].statement(), "CREATE ", "CREATE DEFINER = gone ", 1))
		must(t, b.root, "GRANT EXECUTE ON PROCEDURE ks_meta.ks_branch TO clients")
		fails("`clients`@`%` may not call ks_meta.ks_branch", "gone")
		must(t, b.root, "SET sql_mode = DEFAULT")
		must(t, b.root, "DROP PROCEDURE ks_meta.ks_branch")
		must(t, b.root, "DROP USER gone")
		if f, _, err := Make(n.Primary, soon()); err != nil || !f.Complete() {
			t.Errorf("made again: %+v, %v", f, err)
		}
	})
}

// A replica that takes its primary's place has all of it, and the rights; a server that only reads says so.
func TestMadeOnReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("servers of its own")
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			start := func(of *mysqltest.RealServer) *mysqltest.RealServer {
				s, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind, Binlog: true, ReplicaOf: of})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Stop() })
				return s
			}
			source := start(nil)
			b := fresh(t, source)
			replica := start(source)
			if err := replica.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			ahead := nodesAt(t, true, replica)[0]
			if _, _, err := Make(ahead.Primary, soon()); err == nil || !strings.Contains(err.Error(), "ks_meta is missing and cannot be made, as the server is read-only: ") {
				t.Errorf("on a replica: %v", err)
			}
			made(t, b)
			key, err := Agree(nodesAt(t, true, source), soon())
			if err != nil {
				t.Fatal(err)
			}
			if err := replica.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			r := dial(t, replica, mysqltest.User, mysqltest.Password)
			must(t, r, "SET GLOBAL read_only = 0")
			f, madeThen, err := Make(ahead.Primary, soon())
			if err != nil || len(madeThen) > 0 || !f.Complete() || len(f.Open) > 0 {
				t.Errorf("promoted: %+v, %v, %v", f, madeThen, err)
			}
			if got, err := Agree([]*backend.Node{ahead}, soon()); err != nil || got != key {
				t.Errorf("its key: %v, not %v, %v", got, key, err)
			}
			// What is decided arrives, however it is logged.
			root := dial(t, source, mysqltest.User, mysqltest.Password)
			for k, format := range []string{"ROW", "MIXED", "STATEMENT"} {
				must(t, root, "SET binlog_format = '"+format+"'")
				must(t, root, fmt.Sprintf("XA START 'x%d'", k))
				must(t, root, branchCall(fmt.Sprintf("b%d", k)))
				must(t, root, fmt.Sprintf("XA END 'x%d'", k))
				must(t, root, fmt.Sprintf("XA PREPARE 'x%d'", k))
				must(t, root, fmt.Sprintf("XA COMMIT 'x%d'", k))
				must(t, root, "START TRANSACTION")
				must(t, root, decideCall(fmt.Sprintf("c%d", k), "1", "1", time.Now().Add(time.Second)))
			}
			time.Sleep(1100 * time.Millisecond) // the deadline is over
			if err := replica.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			got := must(t, r, "SELECT GROUP_CONCAT(gtrid, '=', state ORDER BY gtrid) FROM ks_meta.dtx").Rows[0][0]
			if got != "b0=B,b1=B,b2=B,c0=C,c1=C,c2=C" {
				t.Errorf("on the replica: %v", got)
			}
			// One that lacks all has it made again, and gets the key of the others.
			must(t, r, "SET sql_log_bin = 0")
			must(t, r, "DROP DATABASE ks_meta")
			nodes := nodesAt(t, true, source, replica)
			if got, err := NewStore(nil, true).Ready(nodes, soon()); err != nil || got != key {
				t.Errorf("made again: %v, not %v, %v", got, key, err)
			}
		})
	}
}

// One key for all nodes: found, copied, never made while a node may have one, and two are an error.
func TestAgree(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		other, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: b.server.Kind})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Stop() }()
		ob := fresh(t, other)
		made(t, b)
		made(t, ob)
		nodes := nodesAt(t, true, b.server, other)
		key, err := Agree(nodes, soon())
		if err != nil || key == (Key{}) {
			t.Fatal(key, err)
		}
		backwards := []*backend.Node{nodes[1], nodes[0]}
		if got, err := Agree(backwards, soon()); err != nil || got != key {
			t.Errorf("again: %v, not %v, %v", got, key, err)
		}
		for _, c := range []*mysqltest.RawClient{b.root, ob.root} {
			must(t, c, "DELETE FROM ks_meta.secret")
			if got, err := Agree(nodes, soon()); err != nil || got != key {
				t.Errorf("copied: %v, not %v, %v", got, key, err)
			}
		}
		must(t, ob.root, "UPDATE ks_meta.secret SET secret = REPEAT('x', 32)")
		if _, err := Agree(nodes, soon()); err == nil || !strings.Contains(err.Error(), "different keys in ks_meta.secret ("+key.String()+" on a; ") {
			t.Errorf("two keys: %v", err)
		}
		must(t, ob.root, "DELETE FROM ks_meta.secret")
		must(t, b.root, "DELETE FROM ks_meta.secret")
		if err := other.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := Agree(nodes, soon()); err == nil || !strings.Contains(err.Error(), "node b (") {
			t.Errorf("a node that is not reached: %v", err)
		}
		if r := must(t, b.root, "SELECT * FROM ks_meta.secret"); len(r.Rows) > 0 {
			t.Error("a key was made while a node was not reached")
		}
	})
}

// A key is not printed.
func TestKey(t *testing.T) {
	var a, b Key
	b[31] = 1
	if a.String() == b.String() {
		t.Error("two keys have one name")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		if got := fmt.Sprintf(verb, a); got != a.String() || len(got) != 8 {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
