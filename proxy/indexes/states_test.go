package indexes

import (
	"testing"
	"time"

	"kingshard/router"
)

// What is read by an index, and what is kept of it, by what a server said some time ago.
func TestBelief(t *testing.T) {
	x := &router.Index{Lookup: &router.Table{Shards: []router.Shard{{Node: "n", DB: "d", Table: "ks_t_x_0000"}}}}
	var s States
	if kept, known := s.Kept(x); kept || known || s.Built(x) {
		t.Error("an index is known that nobody has asked for")
	}
	at := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		state              State
		old                bool
		built, kept, known bool
	}{
		{Missing, true, false, false, false},
		{Missing, false, false, false, true},
		{Building, true, false, true, true},
		{Building, false, false, true, true},
		{Built, true, false, true, true},
		{Built, false, true, true, true},
		{Unknown, false, false, false, false},
	} {
		at = at.Add(time.Second)
		asked := at
		if !c.old {
			asked = time.Now()
		}
		s = States{} // nothing is known
		s.note(map[*router.Index]Record{x: {State: c.state}}, asked)
		kept, known := s.Kept(x)
		if built := s.Built(x); built != c.built || kept != c.kept || known != c.known {
			t.Errorf("%v, old %v: built %v, kept %v, known %v", c.state, c.old, built, kept, known)
		}
	}
	s.note(map[*router.Index]Record{x: {State: Missing}}, at) // asked for before
	if s.Record(x).State != Unknown {
		t.Error("an answer replaced a later one")
	}
}
