package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// erTableNotLocked is what a server says under LOCK TABLES of a table that is not among them.
const erTableNotLocked = 1100

// endForDDL does the implicit COMMIT ahead of DDL.
func (ls *leases) endForDDL() error {
	if ls.client.txn.Pins.Has(txn.PinLockTables) {
		return &mysql.SQLError{Code: erTableNotLocked, State: "HY000", Message: "the table was not locked with LOCK TABLES: a sharded table cannot be"}
	}
	if ls.client.txn.Holding() {
		if err := ls.client.txn.Commit(ls.client.run); err != nil {
			var sqlErr *mysql.SQLError
			if errors.As(err, &sqlErr) {
				return sqlErr // an XA transaction takes no COMMIT
			}
			return ls.lost(ls.client.txn.Held(), err) // the COMMIT may have arrived
		}
		ls.release(ls.client.txn.Held())
	}
	ls.client.txn.Forget()
	ls.client.txn.Unpin(txn.PinNextTransaction)
	ls.client.entry.TransactionOver()
	return nil
}

// borrowEach gets a connection to each node's primary, in the order of their names, that carries the setting; no transaction
// is about. With own the session's held connection takes part: state that only it has may matter.
func (sh *shards) borrowEach(nodes []*backend.Node, setting *backend.Setting, own bool) (loans []txn.Lease, err error) {
	if own && sh.client.txn.Holding() {
		if err := sh.client.observed.Apply(sh.client.txn.Held(), sh.client.state.DB(), setting); err != nil {
			var sqlErr *mysql.SQLError
			if errors.As(err, &sqlErr) {
				return nil, sqlErr
			}
			return nil, sh.leases.lostBefore(sh.client.txn.Held(), err)
		}
	}
	loans, err = sh.client.txn.Borrow(nodes, func(n *backend.Node, have []txn.Lease) (txn.Lease, error) {
		if held := sh.client.txn.Held(); own && held.Pooled != nil && held.Instance.Node == n.Name {
			return txn.Lease{Pooled: held, Node: n.Name, Kept: true}, nil
		}
		p, err := sh.leases.getHolding(n.Primary, setting, have)
		if err != nil && !errors.Is(err, txn.ErrDeadlock) {
			err = backendError(err)
		}
		return txn.Lease{Pooled: p, Node: n.Name}, err
	})
	if err != nil {
		return nil, sh.leases.notBorrowed(loans, err)
	}
	if !sh.publish(loans) {
		sh.leases.giveBack(loans)
		return nil, interrupted()
	}
	return loans, nil
}

// beside calls f for each of the steps, given by their nodes, with the node's connection: for one node one after the other until f
// says no, for the nodes one beside the other. It returns when all are through; a panic of f goes on in the caller.
func beside(loans []txn.Lease, nodes []string, f func(l *txn.Lease, step int) bool) {
	var running sync.WaitGroup
	var fault atomic.Pointer[string]
	for k := range loans {
		l := &loans[k]
		running.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					text := fmt.Sprintf("%v\n%s", r, debug.Stack())
					fault.Store(&text)
				}
			}()
			for step, node := range nodes {
				if node == l.Node && !f(l, step) {
					return
				}
			}
		})
	}
	running.Wait()
	if text := fault.Load(); text != nil {
		panic(*text)
	}
}

// endEach gives connections back after a statement on every physical table, and closes those that broke, given by node. stateLost
// says that one of these held the session's own state.
func (sh *shards) endEach(loans []txn.Lease, broken map[string]error) (stateLost bool) {
	killed := sh.client.entry.Unpublish()
	for _, l := range loans {
		cause := broken[l.Node]
		if cause != nil {
			sh.client.shared.Log.Warn("backend connection lost", "conn", sh.client.id, "node", l.Node, "instance", l.Instance.Addr, "error", cause)
		}
		switch {
		case cause != nil && l.Kept:
			sh.client.txn.Remove(l.Pooled)
			stateLost = true
			l.Taint()
		case l.Kept:
			l.Conn.Release()
		case cause != nil || killed || l.Conn.Status.Has(mysql.ServerStatusInTrans):
			l.Taint() // a KILL may still be on its way
		default:
			l.Put()
		}
	}
	sh.client.txn.LastOnHeld = false
	return stateLost
}

// failEach tells the client of a statement on every physical table that failed.
func (sh *shards) failEach(e *mysql.SQLError, stateLost bool) (failed bool, err error) {
	if !stateLost {
		return true, e
	}
	sh.client.txn.Pins = 0
	sh.client.writeError(e, observe.OriginBackend)
	sh.client.lastWords()
	return true, &endError{process.EndBackendLost, e}
}
