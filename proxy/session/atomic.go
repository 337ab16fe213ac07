package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
	"kingshard/proxy/txn/twophase"
)

// beginAtomic returns a transaction for a change of several nodes, the first of which decides; see docs/design/atomic-commit.md. Connections are
// borrowed in the order of the nodes' names.
func (cs *changes) beginAtomic(nodes []*backend.Node) (*driver.Transaction, error) {
	b := cs.leases.branches()
	t, err := cs.client.shared.Atomic.Begin(nodes, b.deadline())
	if err != nil {
		return nil, newError(KSNotCarriedOut, "transaction_mode is "+b.mode()+": "+err.Error())
	}
	return t, nil
}

// beginOn returns the statement that begins a change on one of its connections.
func (c *change) beginOn(l *txn.Lease) string {
	if c.atomic == nil {
		return c.begin
	}
	begin := c.atomic.Join(l.Pooled)
	c.atomic.Changed(l.Pooled)
	return begin
}

// undoOn rolls a change back on one of its connections. An error that is no *mysql.SQLError says that the connection broke.
func (cs *changes) undoOn(c *change, l *txn.Lease) error {
	if c.atomic != nil {
		return c.atomic.Undo(l.Pooled, cs.client.run)
	}
	return cs.client.run(l.Pooled, c.undo)
}

// beginAgain takes back what a change has done, and begins it anew.
func (cs *changes) beginAgain(c *change) error {
	again := *c
	if c.atomic != nil {
		again.atomic = c.atomic.Again()
	}
	for k := range c.loans {
		l := &c.loans[k]
		if err := cs.undoOn(c, l); err != nil {
			return err
		}
		if err := cs.client.run(l.Pooled, again.beginOn(l)); err != nil {
			return err
		}
	}
	c.atomic = again.atomic
	return nil
}

// commitAtomic has all nodes keep a change, or none.
func (cs *changes) commitAtomic(c *change) error {
	var conns []backend.Pooled
	for _, l := range c.loans {
		conns = append(conns, l.Pooled)
	}
	clocks, err := cs.shards.startClocks(conns)
	if err != nil {
		return cs.writeFailed(c, err, nil)
	}
	o := c.atomic.Commit()
	stateful := false
	var loans []txn.Lease
	for k, l := range c.loans {
		if c.atomic.Usable(l.Pooled) {
			if clocks == nil || clocks[k]() {
				loans = append(loans, l)
				continue
			}
			l.Taint()
		} else {
			freshness{cs.client}.unfinished(l.Pooled)
		}
		stateful = stateful || l.Kept
		cs.client.txn.Remove(l.Pooled)
		l.Ended(errGivenUp)
	}
	c.loans = loans
	if o.End == twophase.Commit && !stateful {
		return nil
	}
	cs.client.entry.Unpublish()
	for k := range c.loans {
		if cs.shards.unhurried(&c.loans[k]) {
			cs.giveBackHeld(c.loans[k : k+1])
		} else {
			c.loans[k].Taint()
		}
	}
	e := outcomeError(&o, c.atomic.GTRID(), "change")
	return cs.leases.lostWith(e, stateful, e)
}

// startClocks has the clocks of the connections go that SET timestamp has stopped, as the decision has a deadline. The functions, one for each, stop
// them again and report whether that could be done; without any there are none.
func (sh *shards) startClocks(conns []backend.Pooled) (stop []func() bool, err error) {
	if sh.client.state.Value("timestamp") == "" {
		return nil, nil
	}
	for _, p := range conns {
		one, err := sh.setAside(p, "timestamp", "DEFAULT")
		if err != nil {
			return nil, notSQL(err) // the connections are closed, as some of them have another clock now
		}
		stop = append(stop, func() bool {
			var killed *mysql.SQLError // which changes nothing about an outcome that stands
			err := one(nil)
			return err == nil || errors.As(err, &killed)
		})
	}
	return stop, nil
}

// outcomeError is what a client hears of what, a change or a transaction, that not all nodes are known to have kept, or with which the session's state
// went.
func outcomeError(o *twophase.Outcome, gtrid, what string) *mysql.SQLError {
	switch {
	case o.End == twophase.Commit:
		return newError(KSBackendLost, "All nodes keep the "+what+", and a connection with the session's state was lost behind it.")
	case o.End == twophase.Unknown:
		return newError(KSBackendLost, "Whether the "+what+" is kept is not known yet: "+o.Cause.String()+". All nodes keep it or none, under the name "+gtrid+".")
	case o.Cause.Reason == twophase.Refused && (o.Cause.Code == mysql.ERLockDeadlock || o.Cause.Code == erLockWaitTimeout):
		return errGaveWay()
	}
	return newError(KSNotCarriedOut, "No node has kept the "+what+": "+o.Cause.String()+".")
}
