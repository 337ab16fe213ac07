package backend

import (
	"errors"
	"time"

	"kingshard/backend/stored"
	"kingshard/mysql/sqltext"
)

// cleanseTimeout bounds the reset of a marked connection.
const cleanseTimeout = 5 * time.Second

// Stored are the server's stored objects with effects on sessions, as they were found last; nil when nothing is known.
func (i *Instance) Stored() *stored.Objects { return i.stored.Load() }

// SetStored stores what the server was found to have. Where something has effects of which nobody knew, the connections of before are
// closed, those on loan when they come back: what they carry by now is not known.
func (i *Instance) SetStored(o *stored.Objects) {
	if old := i.stored.Swap(o); !old.Covers(o) {
		i.pool.CloseIdle()
	}
}

// AmendStored notes that a statement is about to make or change stored objects: until the server has been asked anew, what the text
// names may do anything. To have it asked, call AskStored after the statement.
func (i *Instance) AmendStored(text, db string, m sqltext.Mode) {
	if old := i.stored.Load(); old != nil {
		i.stored.CompareAndSwap(old, old.Amended(text, db, m))
	}
}

// AskStored has the instance's watcher ask for the stored objects soon.
func (i *Instance) AskStored() {
	select {
	case i.storedAsked <- struct{}{}:
	default:
	}
}

// StoredAsked gets a value after AskStored. Only the instance's one watcher receives.
func (i *Instance) StoredAsked() <-chan struct{} { return i.storedAsked }

// errTraces says that a reset did not bring a connection to its fresh state.
var errTraces = errors.New("a reset left traces of the session")

// Cleanse is Reset for a connection that may carry anything: it fails where the reset has left traces. After an error the connection must
// be tainted.
func (p Pooled) Cleanse() error {
	p.Conn.SetDeadline(time.Now().Add(cleanseTimeout))
	if err := p.Reset(); err != nil {
		return err
	}
	fresh, left := "", ""
	if o := p.Instance.Stored(); o != nil {
		fresh = o.Fresh
	}
	question := stored.Traces(sqltext.Mode{MariaDB: p.Conn.Info.MariaDB, ServerVersion: p.Conn.Info.Number})
	if err := p.Conn.Rows(question, 1, func(row []string) { left = row[0] }); err != nil {
		return err
	}
	if left != fresh {
		return errTraces
	}
	p.Conn.SetDeadline(time.Time{})
	return nil
}
