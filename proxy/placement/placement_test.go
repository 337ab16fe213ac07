package placement_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/placement"
	"kingshard/router"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const rules = `
  - {db: shop, table: users, key: id, nodes: [n1, n2], type: mod, locations: [2, 1]}
  - {db: shop, table: names, key: name, nodes: [n1, n2], type: crc32, strings: %s}
  - {db: shop, table: pairs, key: [a, b], nodes: [n1, n2], type: slots, locations: [2, 2]}
  - {db: shop, table: prices, key: region, nodes: [n1, n2], type: list, values: [[de, at], [us]]}
  - {db: shop, table: visits, key: at, nodes: [n1, n2], type: date_year, date_range: ["2023", "2024"]}
  - {db: shop, table: settings, type: reference}
`

// rig is a server that stands for two nodes.
type rig struct {
	t      *testing.T
	db     *sql.DB
	nodes  map[string]*backend.Node
	router *router.Router
}

func newRig(t *testing.T, kind mysqltest.Kind, fold string) *rig {
	t.Helper()
	server := mysqltest.Shared(t, kind)
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	text := "addr: 127.0.0.1:9696\nuser_list:\n- {user: app, password: sesame}\nnodes:\n"
	for _, name := range []string{"n1", "n2"} {
		text += fmt.Sprintf("- {name: %s, user: root, password: root, master: %q}\n", name, server.Addr)
	}
	c, faults := config.Parse([]byte(text+"schema_list:\n- user: app\n  nodes: [n1, n2]\n  default: n1\n  shard:"+fmt.Sprintf(rules, fold)), "", config.Options{})
	if c == nil {
		t.Fatal(faults)
	}
	r := &rig{t: t, db: db}
	if r.nodes, err = backend.Open(c); err != nil {
		t.Fatal(err)
	}
	if r.router, err = router.New(c.SchemaList[0], router.Options{Zone: time.UTC}); err != nil {
		t.Fatal(err)
	}
	opened := r.nodes
	t.Cleanup(func() {
		for _, n := range opened {
			n.Close()
		}
		_ = db.Close()
	})
	r.exec("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	return r
}

func (r *rig) exec(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if _, err := r.db.Exec(text); err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
	}
}

// create makes the sub-tables of a table; % stands for their names.
func (r *rig) create(table, text string) *router.Table {
	r.t.Helper()
	t := r.router.Table("shop", table)
	for _, s := range t.Shards {
		r.exec("DROP TABLE IF EXISTS shop."+s.Table, strings.Replace(text, "%", "shop."+s.Table, 1))
	}
	return t
}

func onAll(t *testing.T, f func(t *testing.T, kind mysqltest.Kind)) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) { f(t, kind) })
	}
}

func (r *rig) differences(t *router.Table) (lines []string) {
	for _, f := range placement.Differences(context.Background(), t, r.nodes) {
		lines = append(lines, f.Node+" "+f.Table+" "+f.What)
	}
	return lines
}

// Every part of a definition that differs in one sub-table is named with its node and table, and nothing else is.
func TestDifferences(t *testing.T) {
	onAll(t, func(t *testing.T, kind mysqltest.Kind) {
		r := newRig(t, kind, "exact")
		const text = "CREATE TABLE % (id INT NOT NULL, a VARCHAR(20) NOT NULL DEFAULT 'x', n INT AUTO_INCREMENT, PRIMARY KEY (id), KEY n (n), UNIQUE KEY u (id, a(5))) ENGINE=InnoDB"
		users := r.create("users", text)
		r.exec("INSERT INTO shop.users_0001 (id, n) VALUES (1, 1000)", "ALTER TABLE shop.users_0002 COMMENT 'x'")
		for _, s := range users.Shards { // as a server makes one for a foreign key
			r.exec("ALTER TABLE shop." + s.Table + " ADD KEY `fk$" + strings.TrimPrefix(s.Table, "users_") + "` (n, a)")
		}
		if got := r.differences(users); len(got) != 0 {
			t.Fatalf("alike: %q", got)
		}
		for _, c := range []struct{ change, want string }{
			{"ADD COLUMN z INT", "has column z, which n1/shop.users_0000 has not"},
			{"DROP KEY n, ADD KEY n2 (n)", "has key n2, which n1/shop.users_0000 has not|lacks key n, which n1/shop.users_0000 has"},
			{"DROP KEY u", "lacks key u, which"},
			{"DROP KEY u, ADD KEY u (id, a(5))", "key u is BTREE (id, a(5)), and UNIQUE BTREE (id, a(5)) in"},
			{"DROP KEY u, ADD UNIQUE KEY u (id, a(6))", "key u is UNIQUE BTREE (id, a(6)), and"},
			{"MODIFY a VARCHAR(21) NOT NULL DEFAULT 'x'", "column a is varchar(21)"},
			{"MODIFY a VARCHAR(20) NULL DEFAULT 'x'", "column a is varchar(20)"},
			{"MODIFY a VARCHAR(20) NOT NULL DEFAULT 'y'", "column a is varchar(20)"},
			{"MODIFY a VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'x'", "column a is varchar(20) COLLATE utf8mb4_bin"},
			{"MODIFY a VARCHAR(20) NOT NULL DEFAULT 'x' FIRST", "column a is varchar(20) COLLATE utf8mb4_general_ci NOT NULL DEFAULT"},
			{"DEFAULT CHARACTER SET latin1", "the table is BASE TABLE InnoDB latin1_swedish_ci"},
			{"ENGINE=MyISAM", "the table is BASE TABLE MyISAM"},
		} {
			r.create("users", text)
			r.exec("ALTER TABLE shop.users_0002 " + c.change)
			got := r.differences(users)
			for _, want := range strings.Split(c.want, "|") {
				if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "n2 shop.users_0002 "+want) }) {
					t.Errorf("%s: %q, want %s", c.change, got, want)
				}
			}
		}
		r.create("users", text)
		r.exec("DROP TABLE shop.users_0001")
		if got := r.differences(users); !slices.Equal(got, []string{"n1 shop.users_0001 is missing"}) {
			t.Errorf("dropped: %q", got)
		}
		r.nodes = map[string]*backend.Node{"n1": r.nodes["n1"]}
		if got := r.differences(users); len(got) != 2 || !strings.Contains(strings.Join(got, "|"), "n2  cannot be asked") {
			t.Errorf("without a node: %q", got)
		}
	})
}

// Rows that lie elsewhere are counted, with a few of their keys, for every kind of key.
func TestRows(t *testing.T) {
	onAll(t, func(t *testing.T, kind mysqltest.Kind) {
		r := newRig(t, kind, "ascii_ci")
		scan := func(table *router.Table) string {
			var lines []string
			if err := placement.Rows(context.Background(), table, r.nodes, func(s placement.Scanned) {
				if s.Err != nil {
					t.Errorf("%v: %v", s.Shard, s.Err)
				}
				if s.Elsewhere > 0 {
					lines = append(lines, fmt.Sprintf("%s %d of %d %v", s.Shard, s.Elsewhere, s.Rows, s.Keys))
				}
			}); err != nil {
				t.Error(err)
			}
			return strings.Join(lines, "\n")
		}
		users := r.create("users", "CREATE TABLE % (id BIGINT PRIMARY KEY)")
		for shard := range 3 {
			var values []string
			for id := shard; id < 30_000; id += 3 {
				values = append(values, fmt.Sprintf("(%d)", id))
			}
			r.exec(fmt.Sprintf("INSERT INTO shop.users_%04d VALUES %s", shard, strings.Join(values, ",")))
		}
		if got := scan(users); got != "" {
			t.Errorf("all in place: %s", got)
		}
		r.exec("INSERT INTO shop.users_0001 VALUES (300000), (-3), (300002), (600000), (600003), (600006), (600009)")
		want := `n1/shop.users_0001 7 of 10007 [{"-3" n1/shop.users_0000} {"300000" n1/shop.users_0000} {"300002" n2/shop.users_0002} {"600000" n1/shop.users_0000} {"600003" n1/shop.users_0000}]`
		if got := scan(users); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		names := r.create("names", "CREATE TABLE % (name VARCHAR(20))")
		for _, name := range []string{"anna", "ANNA", "Bob", "bob ", "é"} {
			r.exec("INSERT INTO shop.names_0000 VALUES ('"+name+"')", "INSERT INTO shop.names_0001 VALUES ('"+name+"')")
		}
		r.exec("INSERT INTO shop.names_0000 VALUES (NULL)")
		got := scan(names)
		if strings.Count(got, "no certain sub-table") != 2 || !strings.Contains(got, "{NULL no sub-table}") {
			t.Errorf("%s", got)
		}
		for _, pair := range []string{`"anna"`, `"Bob"`} {
			if strings.Count(got, pair) != 1 {
				t.Errorf("%s is in one place wrongly:\n%s", pair, got)
			}
		}
		pairs := r.create("pairs", "CREATE TABLE % (b VARBINARY(9), a DECIMAL(9,2))")
		for _, s := range pairs.Shards {
			r.exec("INSERT INTO shop." + s.Table + " VALUES ('x', 1.50), ('y', 2)")
		}
		if got := scan(pairs); strings.Count(got, `"1.50", "x"`) != 3 || strings.Count(got, `"2.00", "y"`) != 3 {
			t.Errorf("%s", got)
		}
		visits := r.create("visits", "CREATE TABLE % (at DATETIME)")
		r.exec("INSERT INTO shop.visits_2023 VALUES ('2023-12-31 23:59:59'), ('2024-01-01'), ('2025-01-01')")
		if got, want := scan(visits), `n1/shop.visits_2023 2 of 3 [{"2024-01-01 00:00:00" n2/shop.visits_2024} {"2025-01-01 00:00:00" no sub-table}]`; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if err := placement.Rows(context.Background(), r.router.Table("shop", "settings"), r.nodes, nil); err == nil {
			t.Error("a reference table has rows in a wrong place")
		}
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		err := placement.Rows(ctx, users, r.nodes, func(placement.Scanned) { seen++; cancel() })
		if !errors.Is(err, context.Canceled) || seen != 1 {
			t.Errorf("cancelled: %v after %d", err, seen)
		}
	})
}

// A key of text under a collation that its rule does not follow is found, whatever its fold.
func TestCollations(t *testing.T) {
	onAll(t, func(t *testing.T, kind mysqltest.Kind) {
		for _, c := range []struct {
			fold, collation string
			fine            bool
		}{
			{"exact", "utf8mb4_bin", true}, {"exact", "utf8mb4_general_ci", false}, {"exact", "utf8mb4_unicode_ci", false}, {"exact", "latin1_swedish_ci", false},
			{"exact", "latin1_general_cs", false}, {"ascii_ci", "utf8mb4_general_ci", true}, {"ascii_ci", "utf8mb4_bin", true}, {"ascii_ci", "utf8mb4_lithuanian_ci", false},
			{"ascii_ci", "utf8mb4_romanian_ci", true}, {"ascii_ci", "utf8mb4_roman_ci", false}, {"ascii_ci", "gbk_chinese_ci", false}, {"ascii_ci", "utf8mb4_hungarian_ci", true},
		} {
			r := newRig(t, kind, c.fold)
			names := r.create("names", "CREATE TABLE % (name VARCHAR(20) CHARACTER SET "+strings.SplitN(c.collation, "_", 2)[0]+" COLLATE "+c.collation+", other VARCHAR(9) COLLATE utf8mb4_general_ci)")
			found := placement.Collations(context.Background(), names, r.nodes)
			if c.fine != (len(found) == 0) || !c.fine && (len(found) != 2 || !strings.Contains(found[0].What, c.collation)) {
				t.Errorf("%s under %s: %v", c.fold, c.collation, found)
			}
		}
	})
}
