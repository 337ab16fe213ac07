package exec

import (
	"strings"
	"testing"

	"kingshard/router/plan"
)

// TestFlowControl reads shards only as fast as the client takes rows: what is held between is bounded.
func TestFlowControl(t *testing.T) {
	for name, p := range map[string]*plan.Merge{"in turn": &inTurn, "in order": &byFirst} {
		t.Run(name, func(t *testing.T) {
			c := newClient(withoutEOF)
			var sources []*Source
			held, heldMax := 0, 0
			for range 3 {
				source, mem := longRows().source()
				mem.onRead = func(n int) { held += n; heldMax = max(heldMax, held) }
				sources = append(sources, source)
			}
			c.mem.onWrite = func(n int) { held -= n }
			if _, err := mergeAndFlush(c.conn, sources, p, Options{Limit: noLimit}); err != nil {
				t.Fatal(err)
			}
			if limit := (len(sources) + 1) * (20 << 10); heldMax > limit {
				t.Errorf("%d bytes were held, more than %d", heldMax, limit)
			}
			if n := len(c.result(t, 0).Rows); n != 300 {
				t.Errorf("%d rows", n)
			}
		})
	}
}

// TestRowsAreNotHeldBack sends on what is merged before it waits for a shard.
func TestRowsAreNotHeldBack(t *testing.T) {
	s := &shard{defs: columns("id int"), rows: rows([]string{"1"}, []string{"2"}, []string{"3"})}
	source, mem := s.source()
	for rest := mem.in; len(rest) > 0; {
		n := headerLen + int(rest[0])
		mem.chunks = append(mem.chunks, n)
		rest = rest[n:]
	}
	c := newClient(withoutEOF)
	mem.onRead = func(int) {
		if n := c.conn.Pending(); n > 0 {
			t.Errorf("a read of the shard with %d bytes queued for the client", n)
		}
	}
	if _, err := mergeAndFlush(c.conn, []*Source{source}, &inTurn, Options{Limit: noLimit}); err != nil {
		t.Fatal(err)
	}
}

// TestOneWrite sends a short result of several shards in one piece.
func TestOneWrite(t *testing.T) {
	for name, p := range map[string]*plan.Merge{"in turn": &inTurn, "in order": &byFirst} {
		c := newClient(withoutEOF)
		writes := 0
		c.mem.onWrite = func(int) { writes++ }
		var sources []*Source
		for range 3 {
			s, _ := wholeReads([]*shard{{defs: columns("id int"), rows: rows([]string{"1"}, []string{"20000000"})}})[0].source()
			sources = append(sources, s)
		}
		if _, err := mergeAndFlush(c.conn, sources, p, Options{Limit: noLimit}); err != nil || writes != 1 {
			t.Errorf("%s: %d writes, %v", name, writes, err)
		}
	}
}

// TestLongRows has rows of more than one packet, and the first bytes of an end packet.
func TestLongRows(t *testing.T) {
	long := strings.Repeat("x", 1<<24)
	shards := []*shard{{defs: columns("s bytes", "id int")}, {defs: columns("s bytes", "id int")}}
	shards[0].rows = rows([]string{long, "1"}, []string{"b", "3"})
	shards[1].rows = rows([]string{"a", "0"}, []string{long, "2"})
	r, _, err := run(t, &plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 1}}}, Options{Limit: noLimit}, shards...)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 4 || r.Rows[0][0] != "a" || r.Rows[1][0] != long || r.Rows[2][0] != long || r.Rows[3][0] != "b" {
		t.Errorf("%d rows", len(r.Rows))
	}
}
