package twophase

import (
	"strings"
	"testing"
)

func TestBatches(t *testing.T) {
	var todo []Action
	for k := range uint64(2*BatchMax + 1) {
		g := GTRID{Anchor: 1, Sequence: k}
		todo = append(todo,
			Action{Do: DoReadLocked, Node: 2, XID: XID{g, 2}, Row: Row{Key: g.BranchKey(2)}}, Action{Do: DoDelete, Node: 2, XID: XID{g, 2}, Row: Row{Key: g.BranchKey(2), State: BranchRow}})
	}
	todo = append(todo, Action{Do: DoReadLocked, Node: 3}, Action{Do: DoFind, Node: 1}, Action{Do: DoFind, Node: 1}, Action{Do: DoDelete, Node: 2, Row: Row{State: Aborted}})
	var got []string
	n := 0
	for _, batch := range Batches(todo) {
		n += len(batch)
		for _, a := range batch {
			if a.Do != batch[0].Do || a.Node != batch[0].Node || a.Row.State != batch[0].Row.State {
				t.Errorf("%+v is with %+v", a, batch[0])
			}
		}
		if len(batch) > BatchMax {
			t.Errorf("%d are together", len(batch))
		}
		got = append(got, brief(batch[:1]))
	}
	if n != len(todo) {
		t.Errorf("%d of %d", n, len(todo))
	}
	want := "read locked 2, delete 2, read locked 2, delete 2, read locked 2, delete 2, read locked 3, find 1, find 1, delete 2"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	two := []Action{{Do: DoReadLocked, Row: Row{Key: "a"}}, {Do: DoReadLocked, Row: Row{Key: "b"}}}
	if got := Statement(two); got != "SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx WHERE gtrid IN ('a', 'b')" {
		t.Error(got)
	}
	two[0].Do, two[0].Row.State = DoDelete, BranchRow
	if got := Statement(two); got != "DELETE ks_meta.dtx FROM ks_meta.dtx FORCE INDEX (PRIMARY) WHERE gtrid IN ('a', 'b') AND state = 'B'" {
		t.Error(got)
	}
}
