package differential

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestLayouts fills sub-tables on two nodes for every number of shards, and wants rows that are moved, missing or added
// there to be found.
func TestLayouts(t *testing.T) {
	server, pair := oracle(t, mysqltest.MariaDB), twoNodes(t, mysqltest.MariaDB)
	for _, d := range Spread(1, pair) {
		t.Run(fmt.Sprint(d.Layout.shards()), func(t *testing.T) {
			w, err := Round{Seed: 3, Oracle: server}.open(d)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.close(); err != nil {
					t.Error(err)
				}
			}()
			if err := w.store.create(); err != nil {
				t.Fatal(err)
			}
			for _, fault := range []struct {
				node      int
				sql, kind string
			}{
				{0, "DO 1", ""},
				{0, "INSERT INTO %s.h1_0000 (id) VALUES (1200)", "tables"},
				{0, "INSERT INTO %s.h1_0000 (id) VALUES (25)", "placement"},
				{0, "INSERT INTO %s.h2_0000 (user_id, n) VALUES (25, 777)", "placement"},
				{0, "INSERT INTO %s.r1_0000 (id) VALUES (-1)", "placement"},
				{0, "INSERT INTO %s.m1_202401 (day, id) VALUES ('2024-02-01', 777)", "placement"},
				{1, "INSERT INTO %s.ref (id) VALUES (777)", "tables"},
				{1, "DELETE FROM %s.one", "tables"},
			} {
				w.touch(tableNames())
				if err := w.reset(); err != nil {
					t.Fatal(err)
				}
				if fault.kind != "" {
					fault.sql = fmt.Sprintf(fault.sql, d.Name)
				}
				if _, err := w.store.nodes[fault.node].Exec(fault.sql); err != nil {
					t.Fatal(err)
				}
				found, err := w.store.compare(false)
				if err != nil {
					t.Fatal(err)
				}
				if found == nil {
					found = new(Difference)
				}
				if found.Kind != fault.kind {
					t.Errorf("%s: %q %s", fault.sql, found.Kind, found.Detail)
				}
			}
		})
	}
}

// TestIndex compares places with those of the predecessor's documentation.
func TestIndex(t *testing.T) {
	l := Layout{Nodes: []string{"a", "b"}, Locations: []int{2, 2}}
	for _, test := range []struct {
		table, key string
		want       int // -1: none, or every table
	}{
		{"h1", "5", 1},
		{"h1", "-1", 3},
		{"h1", "-9223372036854775808", 0},
		{"h1", "9223372036854775807", 3},
		{"r1", "0", 0},
		{"r1", "59", 0},
		{"r1", "60", 1},
		{"r1", "239", 3},
		{"r1", "240", -1},
		{"r1", "-1", -1},
		{"m1", "2024-01-31", 0},
		{"m1", "2024-04-01 10:00:00", 3},
		{"m1", "2024-05-01", -1},
		{"ref", "7", -1},
		{"one", "7", 0},
	} {
		for _, at := range tables {
			if at.name != test.table {
				continue
			}
			got, err := l.index(&at, test.key)
			if err != nil {
				got = -1
			}
			if got != test.want {
				t.Errorf("%s %s: %d, not %d", test.table, test.key, got, test.want)
			}
		}
	}
}
