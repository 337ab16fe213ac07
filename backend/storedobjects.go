package backend

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend/stored"
	"kingshard/mysql/sqltext"
)

// cleanseTimeout bounds the reset of a marked connection.
const cleanseTimeout = 5 * time.Second

// storedObjects are what is known of a server's stored objects.
type storedObjects struct {
	now atomic.Pointer[stored.Objects]
	// asked has room for one.
	asked chan struct{}

	mu      sync.Mutex
	changes []*StoredChange // that the server has not been asked about since
}

// changesMax is how many statements that are over are kept for a server that does not answer. Behind more of them nothing is known of its
// stored objects.
const changesMax = 256

// StoredChange is a statement that may make or change stored objects.
type StoredChange struct {
	text, db string
	mode     sqltext.Mode
	since    time.Time
	done     bool
	any      bool // it stands for more than changesMax statements, which may have made whatever there is
}

// amend returns what may have effects after the change.
func (c *StoredChange) amend(o *stored.Objects) *stored.Objects {
	if c.any {
		return nil
	}
	return o.Amended(c.text, c.db, c.mode)
}

// changeMax is how long such a statement may run; one that was not seen to end has by then.
const changeMax = 10 * time.Minute

// Stored are the server's stored objects with effects on sessions, as they were found last; nil when nothing is known yet.
func (i *Instance) Stored() *stored.Objects { return i.stored.now.Load() }

// SetStored stores what the server was found to have when it was asked after the changes in seen. Where something has effects of which
// nobody knew, the connections of before are closed, those on loan when they come back: what they carry by now is not known.
func (i *Instance) SetStored(o *stored.Objects, seen []*StoredChange) {
	i.stored.mu.Lock()
	defer i.stored.mu.Unlock()
	i.stored.changes = slices.DeleteFunc(i.stored.changes, func(c *StoredChange) bool { return slices.Contains(seen, c) })
	for _, c := range i.stored.changes {
		o = c.amend(o)
	}
	if old := i.stored.now.Swap(o); !old.Covers(o) {
		i.pool.CloseIdle()
	}
}

// AmendStored notes that a statement is about to make or change stored objects: until the server has been asked after it, what the text
// names may do anything.
func (i *Instance) AmendStored(text, db string, m sqltext.Mode) {
	i.stored.mu.Lock()
	defer i.stored.mu.Unlock()
	i.stored.changes = append(i.stored.changes, &StoredChange{text: text, db: db, mode: m, since: time.Now()})
	i.stored.now.Store(i.stored.now.Load().Amended(text, db, m))
}

// StoredChanged notes that the statement is over, and has the server asked.
func (i *Instance) StoredChanged(text string) {
	i.stored.mu.Lock()
	over := 0
	for _, c := range i.stored.changes {
		c.done = c.done || c.text == text
		if c.done {
			over++
		}
	}
	if over > changesMax {
		i.stored.changes = slices.DeleteFunc(i.stored.changes, func(c *StoredChange) bool { return c.done })
		i.stored.changes = append(i.stored.changes, &StoredChange{done: true, any: true})
		i.stored.now.Store(nil)
	}
	i.stored.mu.Unlock()
	i.AskStored()
}

// ChangesSeen are the statements that are over: who asks the server from now on sees what they did.
func (i *Instance) ChangesSeen() (seen []*StoredChange) {
	i.stored.mu.Lock()
	defer i.stored.mu.Unlock()
	for _, c := range i.stored.changes {
		if c.done || time.Since(c.since) > changeMax {
			seen = append(seen, c)
		}
	}
	return seen
}

// AskStored has the instance's watcher ask for the stored objects soon.
func (i *Instance) AskStored() {
	select {
	case i.stored.asked <- struct{}{}:
	default:
	}
}

// StoredAsked gets a value after AskStored. Only the instance's one watcher receives.
func (i *Instance) StoredAsked() <-chan struct{} { return i.stored.asked }

// errTraces says that a reset did not bring a connection to its fresh state.
var errTraces = errors.New("a reset left traces of the session")

// leaveDatabase is Reset for a connection on which a statement may have made a database the current one, which nobody heard of.
func (p *Pooled) leaveDatabase() error {
	p.Key = nil
	return p.Conn.relogin()
}

// Cleanse is Reset for a connection that may carry anything: it fails where the reset has left traces. After an error the connection must
// be tainted.
func (p Pooled) Cleanse() error {
	p.Conn.Net.SetDeadline(time.Now().Add(cleanseTimeout))
	reset := p.Reset
	if p.Key.Database() == "" {
		reset = p.leaveDatabase
	}
	if err := reset(); err != nil {
		return err
	}
	fresh, left := "", ""
	if o := p.Instance.Stored(); o != nil {
		fresh = o.Fresh
	}
	question := stored.Traces(sqltext.Mode{MariaDB: p.Conn.Info.MariaDB, ServerVersion: int32(p.Conn.Info.Number)})
	if err := p.Conn.Rows(question, 1, func(row []string) { left = row[0] }); err != nil {
		return err
	}
	if left != fresh {
		return errTraces
	}
	p.Conn.Net.SetDeadline(time.Time{})
	return nil
}
