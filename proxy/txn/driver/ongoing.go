package driver

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"kingshard/proxy/txn/twophase"
)

// ongoing are the transactions that are being committed. Any goroutine may use it.
type ongoing struct {
	mu   sync.Mutex
	list map[*ending]bool
}

func (o *ongoing) add(e *ending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil {
		o.list = map[*ending]bool{}
	}
	o.list[e] = true
}

func (o *ongoing) remove(e *ending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.list, e)
}

func (o *ongoing) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.list)
}

// enter notes which phase a transaction is in.
func (e *ending) enter(p twophase.Phase) {
	before := twophase.Phase(e.phase.Load())
	now := time.Now()
	if p != before && now.After(e.since) {
		e.t.driver.counts.phases[before].Add(int64(now.Sub(e.since)))
	}
	if p != before {
		e.since = now
		e.phase.Store(uint32(p))
	}
}

// Ongoing is a transaction that this process is committing.
type Ongoing struct {
	GTRID string
	Phase string
	Began time.Time // when the client asked for the commit
	Nodes []string  // the one that decides first
	// Connections are those to the nodes, as the address of the server and the connection's id there.
	Connections []string
}

// Ongoing lists the transactions that are being committed now, the oldest first. One whose branches are committed behind the client's answer is among them.
func (d *Driver) Ongoing() []Ongoing {
	d.ongoing.mu.Lock()
	list := make([]Ongoing, 0, len(d.ongoing.list))
	for e := range d.ongoing.list {
		one := Ongoing{GTRID: e.t.GTRID(), Phase: twophase.Phase(e.phase.Load()).String(), Began: e.began}
		for _, p := range e.t.parts {
			one.Nodes = append(one.Nodes, p.conn.Instance.Node)
			one.Connections = append(one.Connections, fmt.Sprintf("%s #%d", p.conn.Instance.Addr, p.conn.Conn.ThreadID))
		}
		list = append(list, one)
	}
	d.ongoing.mu.Unlock()
	slices.SortFunc(list, func(a, b Ongoing) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.GTRID, b.GTRID)) })
	return list
}
