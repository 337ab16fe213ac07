package driver

import (
	"slices"
	"sync"
	"time"

	"kingshard/proxy/txn/twophase"
)

// incidentsMax is how many are kept; the oldest go first.
const incidentsMax = 1000

// Incident is what an operator has to look at, and when it was found.
type Incident struct {
	ID uint64
	At time.Time
	twophase.Incident
}

// GTRID returns the name of the transaction, "" where it is about a server.
func (i *Incident) GTRID() string {
	if i.XID.GTRID == (twophase.GTRID{}) {
		return ""
	}
	return i.XID.GTRID.String()
}

// Incidents are those that this process has found since it began, but for those that an operator has closed. Any goroutine may use them.
type Incidents struct {
	mu    sync.Mutex
	list  []Incident
	known map[twophase.Incident]bool
	total uint64
}

// List returns them, the oldest first.
func (i *Incidents) List() []Incident {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]Incident(nil), i.list...)
}

// Open returns how many List has.
func (i *Incidents) Open() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.list)
}

// Total returns how many there were.
func (i *Incidents) Total() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.total
}

// Forget closes one that an operator has mended, and reports whether it was there. This process does not list it again; one that is not mended is found
// again by others, and after a restart.
func (i *Incidents) Forget(id uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := len(i.list)
	i.list = slices.DeleteFunc(i.list, func(one Incident) bool { return one.ID == id })
	return len(i.list) < before
}

// ForgetAll closes all.
func (i *Incidents) ForgetAll() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = nil
}

// add notes one, and reports whether it is new.
func (i *Incidents) add(one twophase.Incident) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known[one] {
		return false
	}
	if i.known == nil || len(i.known) > 10*incidentsMax {
		i.known = map[twophase.Incident]bool{}
	}
	i.known[one] = true
	i.total++
	i.list = append(i.list, Incident{i.total, time.Now(), one})
	i.list = i.list[max(0, len(i.list)-incidentsMax):]
	return true
}

// report tells the operator of an incident, once.
func (d *Driver) report(i twophase.Incident) {
	if d.Incidents.add(i) {
		d.log.Error("a transaction over several nodes needs an operator", "incident", i.Kind.String(), "gtrid", i.XID.GTRID.String(), "node_id", i.XID.Node.String(), "detail", i.Text)
	}
}
