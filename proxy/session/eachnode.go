package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// erTableNotLocked is what a server says under LOCK TABLES of a table that is not among them.
const erTableNotLocked = 1100

// endForDDL does the implicit COMMIT ahead of DDL.
func (s *Session) endForDDL() error {
	if s.pins.has(pinLockTables) {
		return &mysql.SQLError{Code: erTableNotLocked, State: "HY000", Message: "the table was not locked with LOCK TABLES: a sharded table cannot be"}
	}
	if s.held.Pooled != nil {
		if err := s.observed.Run(s.held, s.state.DB(), commit); err != nil {
			var sqlErr *mysql.SQLError
			if errors.As(err, &sqlErr) {
				return sqlErr // an XA transaction takes no COMMIT
			}
			return s.lost(s.held, err) // the COMMIT may have arrived
		}
		s.release(s.held)
	}
	s.tx.pendingBegin, s.tx.next, s.tx.began = "", characteristics{}, characteristics{}
	s.unpin(pinNextTransaction)
	s.entry.TransactionOver()
	return nil
}

// borrowEach gets a connection to each node's primary, in the order of their names, that carries the setting; no transaction
// is about. With own the session's held connection takes part: state that only it has may matter.
func (s *Session) borrowEach(nodes []*backend.Node, setting *backend.Setting, own bool) (loans []loan, err error) {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *backend.Node) int { return strings.Compare(a.Name, b.Name) })
	if own && s.held.Pooled != nil {
		if err := s.observed.Apply(s.held, s.state.DB(), setting); err != nil {
			var sqlErr *mysql.SQLError
			if errors.As(err, &sqlErr) {
				return nil, sqlErr
			}
			return nil, s.lostBefore(s.held, err)
		}
	}
	for {
		loans, err = s.borrowPrimaries(nodes, setting, own)
		if err == nil {
			break
		}
		s.giveBack(loans)
		switch {
		case !errors.Is(err, errDeadlock):
			return nil, backendError(err)
		case s.held.Pooled != nil:
			return nil, s.giveWay()
		}
		// Nothing has been sent: the others go first, then it is tried again.
	}
	if !s.publish(loans) {
		s.giveBack(loans)
		return nil, interrupted()
	}
	return loans, nil
}

// borrowPrimaries gives the loans that it got with its error, too.
func (s *Session) borrowPrimaries(nodes []*backend.Node, setting *backend.Setting, own bool) (loans []loan, err error) {
	for _, n := range nodes {
		if own && s.held.Pooled != nil && s.held.Instance.Node == n.Name {
			loans = append(loans, loan{Pooled: s.held, node: n.Name, kept: true})
			continue
		}
		p, err := s.getHolding(n.Primary, setting, s.holding(loans))
		if err != nil {
			return loans, err
		}
		loans = append(loans, loan{Pooled: p, node: n.Name})
	}
	return loans, nil
}

// beside calls f for each of the steps, given by their nodes, with the node's connection: for one node one after the other until f
// says no, for the nodes one beside the other. It returns when all are through; a panic of f goes on in the caller.
func beside(loans []loan, nodes []string, f func(l *loan, step int) bool) {
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
				if node == l.node && !f(l, step) {
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
func (s *Session) endEach(loans []loan, broken map[string]error) (stateLost bool) {
	killed := s.entry.Unpublish()
	for _, l := range loans {
		cause := broken[l.node]
		if cause != nil {
			s.shared.Log.Warn("backend connection lost", "conn", s.id, "node", l.node, "instance", l.Instance.Addr, "error", cause)
		}
		switch {
		case cause != nil && l.kept:
			s.held = backend.Pooled{}
			stateLost = true
			l.Taint()
		case l.kept:
			l.Conn.Release()
		case cause != nil || killed || l.Conn.Status.Has(mysql.ServerStatusInTrans):
			l.Taint() // a KILL may still be on its way
		default:
			l.Put()
		}
	}
	s.heldLast = false
	return stateLost
}

// failEach tells the client of a statement on every physical table that failed.
func (s *Session) failEach(e *mysql.SQLError, stateLost bool) (failed bool, err error) {
	if !stateLost {
		return true, e
	}
	s.pins = 0
	s.writeError(e, observe.OriginBackend)
	s.lastWords()
	return true, &endError{process.EndBackendLost, e}
}
