package sequence

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestMain stops the shared servers and fails the package if goroutines are left.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// onServers runs a test on a server of each kind that has no sequences yet.
func onServers(t *testing.T, f func(t *testing.T, s *mysqltest.RealServer, db *sql.DB)) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			s := mysqltest.Shared(t, kind)
			db, err := s.DB("")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			run(t, db, "DROP DATABASE IF EXISTS ks_meta", "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop",
				"CREATE TABLE shop.t_0 (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT)", "CREATE TABLE shop.t_1 LIKE shop.t_0")
			f(t, s, db)
		})
	}
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, one := range statements {
		if _, err := db.Exec(one); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
}

// tableOn is the table shop.t with the sub-tables t_0 and t_1, all on one server, as a proxy with that account sees it.
func tableOn(t *testing.T, s *mysqltest.RealServer, step uint64, user, password string) *Table {
	t.Helper()
	cfg, faults := config.Parse(fmt.Appendf(nil, `
addr: 127.0.0.1:9696
user_list: [{user: u, password: p}]
nodes: [{name: n, user: "%s", password: "%s", master: "%s", max_conns_limit: 20, allow_public_key_retrieval: true}]
schema_list: [{user: u, nodes: [n], default: n}]
`, user, password, s.Addr), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["n"].Close)
	made := &Table{DB: "shop", Name: "t", Node: nodes["n"], Step: step}
	for k := range 2 {
		made.Shards = append(made.Shards, Shard{nodes["n"], "shop", fmt.Sprintf("t_%d", k)})
	}
	return made
}

// draw takes n ids, and waits for them.
func draw(t *testing.T, q *Sequence, table *Table, n int, s Spacing) uint64 {
	t.Helper()
	for {
		if first, ok := q.Take(table, n, s); ok {
			return first
		}
		if err := q.Fill(table, n, s, time.Now().Add(20*time.Second), nil); err != nil {
			t.Fatal(err)
		}
	}
}

var plain = Spacing{1, 1}

// Several proxies draw at the same time: no id is handed out twice, and there is one round trip for each block.
func TestNoIDTwice(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		const proxies, clients, each, step = 3, 8, 400, 50
		var mu sync.Mutex
		seen := map[uint64]bool{}
		var wg sync.WaitGroup
		var all [proxies]Sequences
		for k := range proxies {
			table := tableOn(t, s, step, mysqltest.User, mysqltest.Password)
			q := all[k].Of(table)
			if q != all[k].Of(table) {
				t.Fatal("two sequences of one table")
			}
			for client := range clients {
				wg.Go(func() {
					last := uint64(0)
					for i := range each {
						n := 1 + (i+client)%3
						first := draw(t, q, table, n, plain)
						mu.Lock()
						for id := first; id < first+uint64(n); id++ {
							if seen[id] || id <= last {
								t.Errorf("id %d is handed out twice, or behind %d", id, last)
							}
							seen[id], last = true, id
						}
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		var next uint64
		var shared bool
		if err := db.QueryRow("SELECT `next`, shared FROM ks_meta.sequence WHERE db = 'shop' AND name = 't'").Scan(&next, &shared); err != nil {
			t.Fatal(err)
		}
		if !shared || next > uint64(len(seen))*5/4+6*step {
			t.Errorf("%d ids, and the next block begins at %d; shared %v", len(seen), next, shared)
		}
	})
}

// A sequence begins above the rows that are there, behind a restart above the blocks of before, and above what clients bring.
func TestWhereIDsBegin(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		run(t, db, "INSERT INTO shop.t_0 VALUES (3, 1)", "INSERT INTO shop.t_1 VALUES (41, 1)")
		table := tableOn(t, s, 10, mysqltest.User, mysqltest.Password)
		var before Sequences
		q := before.Of(table)
		if id := draw(t, q, table, 1, plain); id != 42 {
			t.Errorf("above 41 comes %d", id)
		}
		q.Saw(table, 41, plain)
		if id := draw(t, q, table, 1, plain); id != 43 {
			t.Errorf("above 42 comes %d", id)
		}
		q.Saw(table, 47, plain)
		if id := draw(t, q, table, 2, plain); id != 48 {
			t.Errorf("above 47 comes %d", id)
		}
		q.Saw(table, 500, plain)
		if id := draw(t, q, table, 1, plain); id != 501 {
			t.Errorf("above 500 comes %d", id)
		}
		q.GiveBack(501, 501, plain)
		if id := draw(t, q, table, 1, plain); id != 501 {
			t.Errorf("behind one that was given back comes %d", id)
		}
		q.GiveBack(48, 49, plain) // not the last
		if id := draw(t, q, table, 1, plain); id != 502 {
			t.Errorf("above 501 comes %d", id)
		}
		var after Sequences
		other := after.Of(table)
		if id := draw(t, other, table, 1, plain); id < 503 || id > 530 {
			t.Errorf("behind a restart comes %d", id)
		}
		run(t, db, "INSERT INTO shop.t_0 VALUES (900, 1)")
		other.Doubt()
		if id := draw(t, other, table, 1, plain); id != 901 {
			t.Errorf("above 900 comes %d", id)
		}
		if id := draw(t, q, table, 30, plain); id < 902 {
			t.Errorf("the first proxy gives %d to %d", id, id+29)
		}
		next := draw(t, q, table, 1, plain)
		run(t, db, fmt.Sprintf("INSERT INTO shop.t_0 VALUES (%d, 1)", next+1))
		q.Doubt()
		if id := draw(t, q, table, 1, plain); id != next+2 {
			t.Errorf("above %d comes %d: the block goes on", next+1, id)
		}
	})
}

// What others must know of an id that a client brought, they know when they reserve their next block.
func TestOthersKnowWhatWasBrought(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := tableOn(t, s, 4, mysqltest.User, mysqltest.Password)
		var a, b Sequences
		draw(t, a.Of(table), table, 1, plain)
		draw(t, b.Of(table), table, 1, plain)
		a.Of(table).Saw(table, 100, plain)
		var next uint64
		for end := time.Now().Add(20 * time.Second); next <= 100; {
			if err := db.QueryRow("SELECT `next` FROM ks_meta.sequence").Scan(&next); err != nil || time.Now().After(end) {
				t.Fatalf("the row does not get beyond 100: %d, %v", next, err)
			}
		}
		var ids []uint64
		for range 12 {
			ids = append(ids, draw(t, b.Of(table), table, 1, plain))
		}
		if slices.ContainsFunc(ids, func(id uint64) bool { return id == 100 }) || ids[11] <= 100 {
			t.Errorf("the other proxy hands out %v", ids)
		}
	})
}

// A server that takes another's place may not have what that one reserved: the sequence begins anew, above all that it has handed out.
func TestAnotherServerHasTheRow(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := tableOn(t, s, 10, mysqltest.User, mysqltest.Password)
		var all Sequences
		q := all.Of(table)
		for range 25 {
			draw(t, q, table, 1, plain)
		}
		run(t, db, "UPDATE ks_meta.sequence SET `next` = 7, server = server + 1") // as on a replica that was late
		q.mu.Lock()
		q.at = "another"
		q.mu.Unlock()
		if id := draw(t, q, table, 1, plain); id < 26 {
			t.Errorf("behind 25 comes %d", id)
		}
		// A process that begins now, and those that have not heard of it yet, do not meet.
		run(t, db, "UPDATE ks_meta.sequence SET `next` = 7, server = server + 1", "INSERT INTO shop.t_0 VALUES (31, 1)")
		var late Sequences
		if id := draw(t, late.Of(table), table, 1, plain); id < 32+skipBlocks*10 {
			t.Errorf("a process that begins behind the change begins with %d", id)
		}
		// A server that lacks the row as well is one that had not heard of it.
		run(t, db, "DELETE FROM ks_meta.sequence")
		stood := q.Next()
		q.mu.Lock()
		q.at = "another"
		q.mu.Unlock()
		if id := draw(t, q, table, 1, plain); id < stood+skipBlocks*10 {
			t.Errorf("behind %d, without the row, comes %d", stood, id)
		}
	})
}

func TestSpacing(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := tableOn(t, s, 10, mysqltest.User, mysqltest.Password)
		var all Sequences
		for _, tt := range []struct {
			n     int
			s     Spacing
			first uint64
		}{{1, plain, 1}, {1, Spacing{10, 5}, 5}, {3, Spacing{10, 5}, 15}, {1, plain, 45}, {1, Spacing{3, 1}, 46}, {2, Spacing{3, 1}, 49}, {1, Spacing{1, 7}, 55}} {
			if first := draw(t, all.Of(table), table, tt.n, tt.s); first != tt.first {
				t.Errorf("%d ids, %+v: they begin at %d, not %d", tt.n, tt.s, first, tt.first)
			}
		}
	})
}

// Where a block ends changes nothing of what comes next: that is an increment beyond the last id, whatever the next statement's spacing is.
func TestSpacingOverBlocks(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		for _, kind := range []string{"TINYINT UNSIGNED", "BIGINT UNSIGNED"} { // blocks of one id, and of five
			run(t, db, "ALTER TABLE shop.t_0 MODIFY id "+kind+" AUTO_INCREMENT", "ALTER TABLE shop.t_1 MODIFY id "+kind+" AUTO_INCREMENT", "DROP DATABASE IF EXISTS ks_meta")
			table := tableOn(t, s, 5, mysqltest.User, mysqltest.Password)
			var all Sequences
			q := all.Of(table)
			next := uint64(1)
			for k := range 24 {
				spacing, n := []Spacing{{7, 5}, plain, {3, 2}, plain, plain}[k%5], 1+k%4%3
				want := spacing.first(next)
				next = want + uint64(n)*spacing.Increment
				if first := draw(t, q, table, n, spacing); first != want {
					t.Fatalf("%s: draw %d, %d ids, %+v: they begin at %d, not %d", kind, k, n, spacing, first, want)
				}
				if k%3 == 0 {
					q.GiveBack(want, next-spacing.Increment, spacing)
					if first := draw(t, q, table, n, spacing); first != want {
						t.Fatalf("%s: draw %d, given back, begins at %d, not %d", kind, k, first, want)
					}
				}
			}
		}
	})
}

// Near the largest id of the column it is as on a server of MySQL; one of MariaDB has no more ids then.
func TestSpacingToTheLargest(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		if strings.HasSuffix(t.Name(), string(mysqltest.MariaDB)) {
			return // the ids are those of MySQL
		}
		run(t, db, "CREATE TABLE shop.one (id TINYINT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO shop.one VALUES (250)", "INSERT INTO shop.t_0 VALUES (250, 1)",
			"ALTER TABLE shop.t_0 MODIFY id TINYINT UNSIGNED AUTO_INCREMENT", "ALTER TABLE shop.t_1 MODIFY id TINYINT UNSIGNED AUTO_INCREMENT")
		one, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		var all Sequences
		table := tableOn(t, s, 5, mysqltest.User, mysqltest.Password)
		for _, spacing := range []Spacing{{7, 1}, plain} {
			var want uint64
			for _, sql := range []string{
				fmt.Sprintf("SET auto_increment_increment = %d, auto_increment_offset = %d", spacing.Increment, spacing.Offset), "INSERT INTO shop.one VALUES ()",
			} {
				if _, err := one.ExecContext(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			if err := one.QueryRowContext(t.Context(), "SELECT LAST_INSERT_ID()").Scan(&want); err != nil {
				t.Fatal(err)
			}
			if first := draw(t, all.Of(table), table, 1, spacing); first != want {
				t.Errorf("near the largest, %+v: %d, not %d", spacing, first, want)
			}
		}
	})
}

// Errors say what the account lacks, and where.
func TestMissingRights(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		run(t, db, "DROP USER IF EXISTS few", "CREATE USER few IDENTIFIED BY 'few'", "GRANT SELECT ON shop.* TO few")
		table := tableOn(t, s, 10, "few", "few")
		var all Sequences
		err := all.Of(table).Fill(table, 1, plain, time.Now().Add(10*time.Second), nil)
		refused, is := err.(*mysql.SQLError)
		if !is || refused.Code != 9022 || !strings.Contains(refused.Message, "ks_meta.sequence on node n") || !strings.Contains(refused.Message, "denied") {
			t.Fatalf("without rights: %v", err)
		}
		run(t, db, "GRANT ALL ON ks_meta.* TO few")
		if id := draw(t, all.Of(table), table, 1, plain); id != 1 {
			t.Errorf("with them: %d", id)
		}
		run(t, db, "UPDATE ks_meta.sequence SET `next` = 18446744073709551610")
		var late Sequences
		err = late.Of(table).Fill(table, 1, plain, time.Now().Add(10*time.Second), nil)
		if refused, is := err.(*mysql.SQLError); !is || refused.Code != 1467 {
			t.Errorf("at the end of all ids: %v", err)
		}
	})
}

// A column of a small type is not used up by processes that begin and end.
func TestSmallTypes(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		run(t, db, "DROP TABLE shop.t_0, shop.t_1", "CREATE TABLE shop.t_0 (id TINYINT AUTO_INCREMENT PRIMARY KEY)", "CREATE TABLE shop.t_1 LIKE shop.t_0")
		table := tableOn(t, s, 1000, mysqltest.User, mysqltest.Password)
		for process := range 20 {
			var all Sequences
			all.Of(table).Saw(table, 1000, plain) // which no row can have
			if id := draw(t, all.Of(table), table, 1, plain); id > uint64(3*process+1) {
				t.Errorf("process %d begins with %d", process, id)
			}
			all.Of(table).Saw(table, 1000, plain)
		}
	})
	for kind, want := range map[string]uint64{
		"tinyint(4)": 127, "tinyint unsigned": 255, "smallint": 1<<15 - 1, "mediumint(8) unsigned": 1<<24 - 1, "int": 1<<31 - 1, "INT(10) UNSIGNED": 1<<32 - 1,
		"bigint": 1<<63 - 1, "bigint(20) unsigned": 1<<63 - 1, "double": 1<<63 - 1,
	} {
		if got := limitOf(kind); got != want {
			t.Errorf("%s: %d", kind, got)
		}
	}
}

// No block is taken from the row while an operator sets where ids go on: it would be lost.
func TestSetAlone(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := tableOn(t, s, 10, mysqltest.User, mysqltest.Password)
		var one Sequences
		q := one.Of(table)
		draw(t, q, table, 1, plain)
		for range 3 {
			q.Relearn(table)
			done, err := q.alone(time.Now().Add(20 * time.Second))
			if err != nil {
				t.Fatal(err)
			}
			before := one.List()[0].Blocks
			q.Relearn(table)
			if err := q.Fill(table, 1, plain, time.Now().Add(50*time.Millisecond), nil); err != pool.ErrTimeout {
				t.Errorf("a reservation beside it: %v", err)
			}
			if _, err := q.alone(time.Now().Add(50 * time.Millisecond)); err != pool.ErrTimeout {
				t.Errorf("another one beside it: %v", err)
			}
			if after := one.List()[0].Blocks; after != before {
				t.Errorf("%d blocks were reserved beside it", after-before)
			}
			done()
			draw(t, q, table, 1, plain)
		}
	})
}

// A table that is emptied twice begins at 1 again, whatever ids it was brought in between.
func TestRestartTwice(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := tableOn(t, s, 10, mysqltest.User, mysqltest.Password)
		var one Sequences
		q := one.Of(table)
		restart := func() {
			t.Helper()
			if err := q.Restart(table, time.Now().Add(20*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		q.Saw(table, 5, plain)
		restart() // there is no table of sequences yet
		if id := draw(t, q, table, 1, plain); id != 1 {
			t.Errorf("it begins with %d", id)
		}
		restart()
		q.Saw(table, 19, plain)
		restart()
		if id := draw(t, q, table, 1, plain); id != 1 {
			t.Errorf("emptied twice it begins with %d", id)
		}
	})
}

// An operator sets where ids go on.
func TestSet(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := tableOn(t, s, 10, mysqltest.User, mysqltest.Password)
		var one, other Sequences
		set := func(next uint64, forced bool) error {
			return one.Of(table).Set(table, next, forced, time.Now().Add(20*time.Second))
		}
		if err := set(100, false); err != nil {
			t.Fatal(err)
		}
		if id := draw(t, one.Of(table), table, 1, plain); id != 100 {
			t.Errorf("set to 100 it begins with %d", id)
		}
		if id := draw(t, other.Of(table), table, 1, plain); id < 110 || id > 120 {
			t.Errorf("another process has %d", id)
		}
		if err := set(50, false); err != ErrBelow {
			t.Errorf("lower: %v", err)
		}
		run(t, db, "INSERT INTO shop.t_1 VALUES (60, 1)")
		if err := set(50, true); err != nil {
			t.Error(err)
		}
		if id := draw(t, one.Of(table), table, 1, plain); id != 61 {
			t.Errorf("lowered by force, above 60 comes %d", id)
		}
		list := one.List()
		if len(list) != 1 || list[0].DB != "shop" || list[0].Table != "t" || list[0].Node != "n" || list[0].Next != 62 || list[0].Drawn != 2 || list[0].Blocks != 2 || list[0].Left == 0 {
			t.Errorf("it stands at %+v", list)
		}
	})
}

// Rights on the table of sequences alone are enough where the schema is there.
func TestRightsOnTheTable(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		run(t, db, "DROP USER IF EXISTS drawer", "CREATE USER drawer IDENTIFIED BY 'drawer'", "CREATE DATABASE ks_meta", "GRANT SELECT ON shop.* TO drawer",
			"GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON ks_meta.sequence TO drawer")
		var all Sequences
		table := tableOn(t, s, 10, "drawer", "drawer")
		if first := draw(t, all.Of(table), table, 1, plain); first != 1 {
			t.Errorf("the first id is %d", first)
		}
	})
}
