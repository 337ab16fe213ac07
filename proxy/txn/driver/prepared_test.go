package driver

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn/twophase"
)

// A look finds what is prepared on a server although the connection of the look before is gone, as it is when the server has started again.
func TestLookOnANewConnection(t *testing.T) {
	n, dial := ownNode(t)
	nodes := map[string]*backend.Node{n.Name: n}
	d := New(slog.New(slog.DiscardHandler), true, func() map[string]*backend.Node { return nodes })
	r := newResolving(d)
	r.resolver = twophase.NewResolver(d.timing, nil)
	defer r.close()
	r.resolve(n)
	root := dial()
	xid := twophase.XID{GTRID: twophase.GTRID{Anchor: 7, Start: uint32(time.Now().Unix()), Sequence: 1}, Node: twophase.NodeIDOf("a")}
	for _, sql := range []string{
		fmt.Sprintf("KILL %d", r.admins[n.Primary.Addr].conn.ThreadID), "CREATE TABLE test.t (id INT PRIMARY KEY)", "XA START " + xid.String(), "INSERT INTO test.t VALUES (1)",
		"XA END " + xid.String(), "XA PREPARE " + xid.String(),
	} {
		if _, err := root.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	r.resolve(n)
	if found, _ := r.resolver.InDoubt(r.now()); found != 1 {
		t.Errorf("%d branches were found", found)
	}
	const left = 100 * time.Millisecond
	r.began = r.began.Add(left - d.timing.ResolveAfter) // as if it had been found so long ago
	if after := r.pause(); after > left {
		t.Errorf("the next look at what was found is in %v", after)
	}
	if _, err := root.Exec("XA ROLLBACK " + xid.String()); err != nil {
		t.Error(err)
	}
}
