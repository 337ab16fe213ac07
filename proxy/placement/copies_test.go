package placement_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/placement"
	"kingshard/router"
)

// copiesRig are two servers with a reference table.
type copiesRig struct {
	t     *testing.T
	db    [2]*sql.DB
	nodes map[string]*backend.Node
	table *router.Table
}

// twoOf gives a pair of servers.
func twoOf(t *testing.T, a, b mysqltest.Kind) [2]*mysqltest.RealServer {
	t.Helper()
	servers := [2]*mysqltest.RealServer{mysqltest.Shared(t, a)}
	if a != b {
		servers[1] = mysqltest.Shared(t, b)
		return servers
	}
	other, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Stop() })
	servers[1] = other
	return servers
}

func startCopies(t *testing.T, servers [2]*mysqltest.RealServer) *copiesRig {
	t.Helper()
	r := &copiesRig{t: t}
	text := "addr: 127.0.0.1:9696\nuser_list:\n- {user: app, password: sesame}\nnodes:\n"
	for k, s := range servers {
		db, err := s.DB("")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		r.db[k] = db
		text += fmt.Sprintf("- {name: n%d, user: root, password: root, master: %q}\n", k+1, s.Addr)
	}
	c, faults := config.Parse([]byte(text+"schema_list:\n- user: app\n  nodes: [n1, n2]\n  default: n1\n  shard:\n  - {db: shop, table: r, type: reference}\n"), "", config.Options{})
	if c == nil {
		t.Fatal(faults)
	}
	var err error
	if r.nodes, err = backend.Open(c); err != nil {
		t.Fatal(err)
	}
	rules, err := router.New(c.SchemaList[0], router.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	r.table = rules.Table("shop", "r")
	t.Cleanup(func() {
		for _, n := range r.nodes {
			n.Close()
		}
		for _, db := range r.db {
			_ = db.Close()
		}
	})
	r.both("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE shop", "SET time_zone = '+00:00', sql_mode = ''")
	return r
}

func (r *copiesRig) on(k int, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if _, err := r.db[k].Exec(text); err != nil {
			r.t.Fatalf("node %d: %.200s: %v", k+1, text, err)
		}
	}
}

func (r *copiesRig) both(texts ...string) { r.t.Helper(); r.on(0, texts...); r.on(1, texts...) }

// check gives what is found, a line for each part, and whether the copies are equal.
func (r *copiesRig) check(from string) (lines []string, equal bool) {
	r.t.Helper()
	equal = true
	err := placement.Copies(r.t.Context(), r.table, r.nodes, from, from != "", func(p placement.CopyPart) {
		equal = equal && !p.Differs()
		line := fmt.Sprintf("%s part %d rows %d missing %d extra %d other %d", p.Node, p.Part, p.Rows, p.Missing, p.Extra, p.Other)
		if p.Repaired {
			line += " repaired"
		}
		if p.Err != nil {
			line += " " + p.Err.Error()
		}
		lines = append(lines, line+" "+strings.Join(p.Keys, "; ")+p.Checksum)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return lines, equal
}

// dump gives all rows of a copy, as its server writes them.
func (r *copiesRig) dump(k int) string {
	r.t.Helper()
	rows, err := r.db[k].Query("SELECT * FROM r ORDER BY 1, 2")
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var b strings.Builder
	for rows.Next() {
		cells, to := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			r.t.Fatal(err)
		}
		for _, cell := range cells {
			fmt.Fprintf(&b, "%q %v,", cell, cell == nil)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// everyType are columns of all types that both kinds of servers have, with values at the edges.
const everyType = `CREATE TABLE r (id BIGINT UNSIGNED, t VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, i TINYINT, u BIGINT UNSIGNED, d DECIMAL(40, 10), f FLOAT, g DOUBLE, b BIT(64), y YEAR, da DATE, ti TIME(6),
 dt DATETIME(6), ts TIMESTAMP(6) NULL DEFAULT NULL, c CHAR(10) CHARACTER SET latin1, x LONGTEXT, bi BINARY(5), vb VARBINARY(50), bl LONGBLOB, e ENUM('', 'a', 'b'), s SET('a', 'b', 'c'), j JSON, p GEOMETRY,
 gen INT AS (i + 1) STORED, vir INT AS (i + 2) VIRTUAL, PRIMARY KEY (id, t))`

var everyValue = []string{
	"(1, 'a', -128, 18446744073709551615, '-12345678901234567890.0123456789', 0.1, 0.1, 18446744073709551615, 2024, '2024-02-29', '-838:59:59', '2024-10-27 01:30:00.123456', '2024-10-27 00:30:00.000001', 'ä', 'ü€😀', 'ab', 0x00FF00, REPEAT('\\0', 300), 'a', 'a,c', '{\"a\": [1, null, \"x\"]}', ST_GeomFromText('POINT(1 2)'))",
	"(1, 'A', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
	"(18446744073709551615, 'ß''\\\\', 0, 0, 0, -3.4e38, 1.7976931348623157e308, b'0', 0, '0000-00-00', '00:00:00', '1000-01-01', '2038-01-19 03:14:07', '', '', '', '', '', '', '', '[]', ST_GeomFromText('LINESTRING(0 0, 1.5 2.25)'))",
	"(3, '', 5, 1, 1.5, 16777217, 5e-324, 1, 1999, '1999-12-31', '12:34:56.5', '1999-12-31 23:59:59.999999', '1999-12-31', 'x', REPEAT('long', 9000), 'a', 'NULL', 'NULL', 2, 7, 'null', NULL)",
}

// Copies with the same rows are equal whatever their servers, a change of any value is found, and repaired to the same row.
func TestCopiesOfEveryType(t *testing.T) {
	for _, kinds := range [][2]mysqltest.Kind{{mysqltest.MariaDB, mysqltest.MariaDB}, {mysqltest.MySQL9, mysqltest.MySQL9}, {mysqltest.MariaDB, mysqltest.MySQL9}} {
		t.Run(string(kinds[0])+" "+string(kinds[1]), func(t *testing.T) {
			r := startCopies(t, twoOf(t, kinds[0], kinds[1]))
			create := everyType
			mixed := kinds[0] != kinds[1]
			if mixed { // whose JSON is a text of MariaDB's, and they show it in other ways
				create = strings.Replace(create, "j JSON", "j TEXT", 1)
			}
			const columns = "(id, t, i, u, d, f, g, b, y, da, ti, dt, ts, c, x, bi, vb, bl, e, s, j, p)"
			r.both(create, "INSERT INTO r "+columns+" VALUES "+strings.Join(everyValue, ", "))
			if lines, equal := r.check(""); !equal || len(lines) != 2 || strings.TrimPrefix(lines[0], "n1") != strings.TrimPrefix(lines[1], "n2") || !strings.Contains(lines[0], "rows 4") {
				t.Fatalf("equal copies: %q", lines)
			}
			for _, change := range []string{
				"i = 6", "u = NULL", "d = 1.5000000001", "f = 16777218", "g = g * 2", "b = 2", "y = 2000", "da = '1999-12-30'", "ti = '12:34:56.6'", "dt = NULL", "ts = '1999-12-31 00:00:00.000001'", "c = 'X'", "x = CONCAT(x, ' ')",
				"bi = 'b'", "vb = NULL", "bl = 'null'", "e = ''", "s = 3", "j = '1'", "p = ST_GeomFromText('POINT(0 0)')", "t = ' '", "id = 4",
			} {
				r.on(1, "UPDATE r SET "+change+" WHERE id = 3")
				if lines, equal := r.check(""); equal || len(lines) != 3 || !strings.HasPrefix(lines[0], "n2 part 1 ") {
					t.Errorf("%s: %q", change, lines)
				}
				if lines, equal := r.check("n1"); !equal || !strings.Contains(lines[0], "repaired") {
					t.Errorf("%s: %q", change, lines)
				}
				if lines, equal := r.check(""); !equal {
					t.Errorf("%s, repaired: %q", change, lines)
				}
				if a, b := r.dump(0), r.dump(1); a != b && !mixed {
					t.Fatalf("%s:\n%s\n%s", change, a, b)
				}
			}
			r.on(1, "DELETE FROM r WHERE id = 1")
			r.on(0, "DELETE FROM r WHERE id = 3")
			lines, _ := r.check("")
			if want := "n2 part 1 rows 2 missing 2 extra 1 other 0 "; !strings.HasPrefix(lines[0], want) || !strings.Contains(lines[0], `missing 1, "A"; missing 1, "a"; extra 3, ""`) {
				t.Errorf("%q", lines)
			}
			if _, equal := r.check("n2"); !equal || strings.Count(r.dump(0), "\n") != 2 {
				t.Errorf("repaired from n2: %s", r.dump(0))
			}
		})
	}
}

// Large tables are compared part by part; copies that lack most of their rows, or have many more, too.
func TestCopiesInParts(t *testing.T) {
	onAll(t, func(t *testing.T, kind mysqltest.Kind) {
		r := startCopies(t, twoOf(t, kind, kind))
		r.both("CREATE TABLE r (a VARCHAR(20), b INT, v INT, u INT UNIQUE, PRIMARY KEY (a, b))")
		const rows = 20_000
		for from := 0; from < rows; from += 1000 {
			var list []string
			for n := from; n < from+1000; n++ {
				list = append(list, fmt.Sprintf("('k%d', %d, %d, %d)", n%700, n, n%7, n))
			}
			r.both("INSERT INTO r VALUES " + strings.Join(list, ", "))
		}
		began := time.Now()
		if lines, equal := r.check(""); !equal || !strings.Contains(lines[0], "rows 20000") {
			t.Fatal(lines)
		}
		t.Logf("%d rows in %v", rows, time.Since(began))
		// Two rows of two parts exchange a value that must be there once.
		r.on(1, "UPDATE r SET u = NULL WHERE b = 5", "UPDATE r SET u = 5 WHERE b = 19000", "UPDATE r SET u = 19000 WHERE b = 5", "UPDATE r SET v = v + 1 WHERE b % 1000 = 7", "DELETE FROM r WHERE b % 900 = 1")
		lines, equal := r.check("n1")
		if !equal || r.dump(0) != r.dump(1) {
			t.Error(lines)
		}
		if a, b := lines[len(lines)-2], lines[len(lines)-1]; a[strings.LastIndex(a, " "):] != b[strings.LastIndex(b, " "):] || !strings.Contains(b, "rows 20000") {
			t.Error(a, b)
		}
		r.on(0, "DELETE FROM r WHERE b > 100")
		if lines, equal := r.check("n1"); !equal || r.dump(0) != r.dump(1) {
			t.Error(lines)
		}
	})
}

// Changes that are under way, on one copy after the other, are no differences, and repairs meet them.
func TestCopiesWhileTheyChange(t *testing.T) {
	onAll(t, func(t *testing.T, kind mysqltest.Kind) {
		r := startCopies(t, twoOf(t, kind, kind))
		r.both("CREATE TABLE r (id INT PRIMARY KEY, v INT)")
		var list []string
		for n := range 3000 {
			list = append(list, fmt.Sprintf("(%d, 0)", n))
		}
		r.both("INSERT INTO r VALUES " + strings.Join(list, ", "))
		ctx, cancel := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() {
				var conns [2]*sql.DB
				for k := range conns {
					conns[k], _ = sql.Open("mysql", "root:root@tcp("+r.nodes[fmt.Sprint("n", k+1)].Primary.Addr+")/shop")
					conns[k].SetMaxOpenConns(1)
					defer conns[k].Close()
				}
				dice := rand.New(rand.NewPCG(1, uint64(w)))
				for n := 0; ctx.Err() == nil; n++ {
					change := fmt.Sprintf("UPDATE r SET v = %d WHERE id = %d", n*10+w, dice.IntN(3000))
					switch dice.IntN(3) {
					case 0:
						change = fmt.Sprintf("REPLACE INTO r VALUES (%d, %d)", 3000+dice.IntN(500), n*10+w)
					case 1:
						change = fmt.Sprintf("DELETE FROM r WHERE id >= %d AND id %% 4 = %d", 3000, dice.IntN(4))
					}
					// As a proxy does: one node after the other, then both commit.
					failed := false
					for _, db := range conns {
						for _, sql := range []string{"BEGIN", change} {
							if _, err := db.Exec(sql); err != nil {
								failed = true
							}
						}
					}
					for _, db := range conns {
						end := "COMMIT"
						if failed {
							end = "ROLLBACK"
						}
						if _, err := db.Exec(end); err != nil {
							t.Error(err)
						}
						time.Sleep(time.Millisecond)
					}
				}
			})
		}
		for range 4 {
			if lines, equal := r.check(""); !equal {
				t.Error("differences that are none:", lines)
			}
		}
		for range 3 {
			r.on(1, "UPDATE r SET v = -1 WHERE id IN (5, 1500)", "DELETE FROM r WHERE id IN (700, 2999)")
			if lines, _ := r.check("n1"); !strings.Contains(strings.Join(lines, "\n"), "repaired") {
				t.Error(lines)
			}
		}
		cancel()
		writers.Wait()
		if lines, equal := r.check(""); !equal || r.dump(0) != r.dump(1) {
			t.Error(lines)
		}
	})
}

// What a repair would do beside is refused, and so is what cannot be compared.
func TestCopiesThatAreNotRepaired(t *testing.T) {
	onAll(t, func(t *testing.T, kind mysqltest.Kind) {
		r := startCopies(t, twoOf(t, kind, kind))
		r.both("CREATE TABLE r (id INT PRIMARY KEY, v INT)", "CREATE TABLE child (id INT, r INT, FOREIGN KEY (r) REFERENCES r (id) ON DELETE CASCADE)", "INSERT INTO r VALUES (1, 1), (2, 2)", "INSERT INTO child VALUES (1, 2)")
		r.on(0, "DELETE FROM child", "DELETE FROM r WHERE id = 2")
		if lines, equal := r.check("n1"); equal || !strings.Contains(lines[0], "those of shop.child") {
			t.Error(lines)
		}
		if n := strings.Count(r.dump(1), "\n"); n != 2 {
			t.Errorf("%d rows", n)
		}
		r.both("DROP TABLE child", "CREATE TRIGGER fires BEFORE INSERT ON r FOR EACH ROW SET NEW.v = 7")
		refused := func(want string) {
			t.Helper()
			err := placement.Copies(t.Context(), r.table, r.nodes, "n1", true, func(placement.CopyPart) {})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		refused("trigger fires")
		r.both("DROP TABLE r", "CREATE TABLE r (v INT, w VARCHAR(9))", "INSERT INTO r VALUES (1, 'x'), (1, 'x'), (2, NULL)")
		r.on(1, "INSERT INTO r VALUES (1, 'x'), (3, 'y')", "DELETE FROM r WHERE v = 2")
		if lines, equal := r.check(""); equal || !strings.Contains(lines[0], "missing 1 extra 2") {
			t.Error(lines)
		}
		if lines, equal := r.check("n1"); !equal || r.dump(0) != r.dump(1) {
			t.Error(lines)
		}
		r.both("INSERT INTO r SELECT a.v, 'z' FROM r AS a, r AS b, r AS c, r AS d, r AS e, r AS f, r AS g, r AS h, r AS i")
		refused("no primary key")
		r.on(1, "ALTER TABLE r ADD n INT")
		refused("other columns")
	})
}
