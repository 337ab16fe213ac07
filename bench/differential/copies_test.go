package differential

import (
	"fmt"
	"slices"
	"testing"
)

// TestCopies wants copies to have the rows of an open transaction, and those of sharded tables in the order of the shards or
// with those of the last node first.
func TestCopies(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server, pair := oracle(t, kind), twoNodes(t, kind)
			for _, d := range Spread(1, pair) {
				testCopies(t, server, d)
			}
		})
	}
}

func testCopies(t *testing.T, server string, d Database) {
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
	w.touch(tableNames())
	if err := w.reset(); err != nil {
		t.Fatal(err)
	}
	if err := w.oracle.open(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.oracle.conn.Exec("BEGIN; DELETE FROM h1; INSERT INTO h1 (id) VALUES (-1), (0), (1), (2), (3), (4), (5), (6), (7), (1 << 62)"); err != nil {
		t.Fatal(err)
	}
	for name, order := range map[string]func(*table) string{"by shard": d.Layout.byShard, "by last node": d.Layout.byLastNode} {
		s, err := w.copy(copying{order: order})
		if err != nil {
			t.Fatal(err)
		}
		for _, tb := range w.store.schema.tables {
			if !spread(tb) {
				continue
			}
			var shards []int
			for _, row := range rowsOf(t, w, s.db+"."+tb.name) {
				key, _ := row[tb.shardColumn()].(string)
				k, err := d.Layout.index(tb, key)
				if err != nil {
					t.Fatal(err)
				}
				shards = append(shards, k)
			}
			places := d.Layout.places(tb)
			want := slices.Clone(shards)
			slices.SortFunc(want, func(a, b int) int {
				if x, y := places[a].node, places[b].node; name == "by last node" && x != y {
					return y - x
				}
				return a - b
			})
			if !slices.Equal(shards, want) {
				t.Errorf("%s over %d shards, %s: rows of the shards %v", name, d.Layout.shards(), tb.name, shards)
			}
			if tb.name == "h1" && len(shards) != 10 {
				t.Errorf("%d rows of h1, not those of the transaction", len(shards))
			}
		}
	}
}

func rowsOf(t *testing.T, w *worker, name string) [][]any {
	t.Helper()
	rows, err := read(w.store.oracle, name, false)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return rows
}
