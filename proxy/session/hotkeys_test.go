package session

import (
	"fmt"
	"testing"
	"time"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/hotkeys"
)

// What is counted of a statement is the key that brought it to one shard, and costs no memory.
func TestCountKeys(t *testing.T) {
	for _, c := range []struct {
		form, key string // "": none is counted
	}{
		{"SELECT column_number_001 FROM t WHERE id = %d", "7"},
		{"SELECT column_number_001 FROM t WHERE id = '%d'", "7"},
		{"SELECT column_number_001 FROM t WHERE column_number_001 > 5 AND id IN (%d)", "7"},
		{"UPDATE t SET column_number_001 = 5 WHERE id = %d AND column_number_002 = 9", "7"},
		{"DELETE FROM t WHERE id = %d", "7"},
		{"INSERT INTO t (id, column_number_001) VALUES (%d, 8)", "7"},
		{"SELECT a.id FROM t a JOIN t b ON a.id = b.id WHERE b.id = %d", "7"},
		{"SELECT column_number_001 FROM t WHERE id IN (%d, 15)", ""},
		{"SELECT column_number_001 FROM t WHERE id = %d OR id = 15", ""},
	} {
		p, l, text := benchPlans(t), new(lookup), fmt.Sprintf(c.form, 7)
		if r := found(t, p, l, text); r.One == nil {
			t.Fatalf("%s: goes to several servers", text)
		}
		var tables hotkeys.Tables
		countKeys(&tables, &l.execution)
		counts := tables.Counts("d", "t", time.Now())
		if c.key == "" {
			if len(counts) != 0 {
				t.Errorf("%s: %+v", text, counts)
			}
			continue
		}
		if len(counts) != 1 || counts[0].Text != c.key || counts[0].Shard.Table != "t_0007" || counts[0].Shard.Node != "n2" || counts[0].Pinned {
			t.Errorf("%s: %+v", text, counts)
		}
		if n := testing.AllocsPerRun(100, func() { countKeys(&tables, &l.execution) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// BenchmarkPlace is the whole way of a statement to its shard when its plan is there, with what is counted of its key.
func BenchmarkPlace(b *testing.B) {
	s := benchSession(b)
	s.client.task()
	text := fmt.Sprintf(hitTexts()["point"], 7)
	var q query
	b.ReportAllocs()
	for b.Loop() {
		q = query{text: text, info: sqltext.Classify(text, benchMode)}
		if handled, _, err := s.sharded(&q); handled || err != nil || q.node == nil {
			b.Fatal(handled, err)
		}
	}
}
