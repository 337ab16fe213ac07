package session

import (
	"errors"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
	"kingshard/proxy/txn/twophase"
)

// snapshots begin a transaction on each of several nodes, as near to one moment as can be: what begins it is sent to all of them ahead of the first answer.
// With a reading they are taken until they show no transaction over nodes in part.
type snapshots struct {
	shards  *shards
	nodes   []*backend.Node
	loans   []txn.Lease
	reading *driver.Reading
	// begin lists the statements that begin the transaction on a loan, and undo those that end it. asks reports whether behind them the rows are read
	// that a reading goes by.
	begin, undo func(l *txn.Lease) []string
	asks        func(l *txn.Lease) bool
	// renew, if set, is called when all of it is begun anew.
	renew func()
	// warnings is how many the statement that began it left on the first loan.
	warnings uint16
}

// snapshotMax is the longest that nodes take to answer where there is no reading.
const snapshotMax = 5 * time.Second

// borrow gets a connection to each of the nodes, in the session's state; those that the session holds are among them.
func (s *snapshots) borrow() error {
	sh := s.shards
	loans, err := sh.client.txn.Borrow(s.nodes, func(n *backend.Node, have []txn.Lease) (txn.Lease, error) {
		if l, ok := sh.client.txn.On(n.Name); ok {
			if err := sh.leases.prepareOther(l.Pooled); err != nil {
				return l, err
			}
			return l, sh.settleFound(l.Pooled)
		}
		p, err := sh.leases.freshConn(n, have)
		return txn.Lease{Pooled: p, Node: n.Name}, err
	})
	if err != nil {
		return sh.leases.notBorrowed(loans, err)
	}
	s.loans = loans
	return nil
}

// settleFound learns what FOUND_ROWS() is ahead of what makes a connection forget it.
func (sh *shards) settleFound(p backend.Pooled) error {
	if err := sh.client.state.Found.Settle(p.Conn, false); err != nil {
		return sh.leases.lost(p, err)
	}
	return nil
}

// open begins the transactions. After an error nothing is left of them, and the connections are given back or closed.
func (s *snapshots) open() error {
	sh := s.shards
	for again, mended := false, false; ; again = true {
		deadline := time.Now().Add(snapshotMax)
		if s.reading != nil {
			deadline = s.reading.Begin()
		}
		at, err := s.ask(again, deadline)
		var refused *mysql.SQLError
		switch {
		case errors.As(err, &refused):
			if mended || s.reading == nil || !s.reading.Lacks(sh.client.schema.Nodes[s.loans[at].Node], refused.Code) {
				return s.close(refused)
			}
			mended = true
			if s.reading, err = sh.leases.branches().reading(s.nodes); err != nil {
				return s.close(err)
			}
			continue
		case err != nil:
			return sh.loseAll(s.loans, err)
		case s.reading == nil || s.reading.Whole():
			return nil
		}
		pause, more := s.reading.Again()
		if !more {
			return s.close(errTorn())
		}
		if err := s.wait(pause); err != nil {
			return s.close(err)
		}
	}
}

// errTorn is what a client hears whose reads would show parts of transactions for as long as it can be expected to wait.
func errTorn() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERLockDeadlock, "The nodes show parts of transactions that are still being committed, as often as they were asked; try restarting transaction")
}

// wait waits for a moment, or until the statement is to end.
func (s *snapshots) wait(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.shards.client.entry.Cancelled():
		return interrupted()
	}
}

// ask takes the snapshots once; again says that those before are to be ended. It returns the first error of a server and the loan that it is of, once
// all answers are read, or that of a connection.
func (s *snapshots) ask(again bool, deadline time.Time) (at int, refused error) {
	undo := make([][]string, len(s.loans))
	if again {
		for k := range s.loans {
			undo[k] = s.undo(&s.loans[k])
		}
		if s.renew != nil {
			s.renew()
		}
	}
	for k := range s.loans {
		l := &s.loans[k]
		l.Conn.Net.SetDeadline(deadline)
		s.queue(l, undo[k])
		if s.queue(l, s.begin(l)); s.asks(l) {
			l.Conn.Command(mysql.ComQuery, twophase.Recent)
		}
		if err := l.Conn.Flush(); err != nil {
			return k, err
		}
	}
	for k := range s.loans {
		l := &s.loans[k]
		err := s.answers(l, undo[k])
		if err != nil && !isSQLError(err) {
			return k, err
		}
		if err != nil && refused == nil {
			at, refused = k, err
		}
		l.Conn.Net.SetDeadline(time.Time{})
	}
	return at, refused
}

// queue queues statements.
func (s *snapshots) queue(l *txn.Lease, statements []string) {
	for _, sql := range statements {
		l.Conn.Command(mysql.ComQuery, sql)
	}
}

// answers reads what ask has asked for on a loan.
func (s *snapshots) answers(l *txn.Lease, undo []string) (first error) {
	c := s.shards.client
	span := c.observed.OwnSpan(l.Instance, c.state.DB(), sqlSnapshot)
	defer func() { observe.EndSpan(span, first) }()
	read := 0
	next := func() {
		if read++; read > 1 {
			l.Conn.ExpectResponse()
		}
	}
	for range undo {
		next()
		if _, err := l.Conn.ReadChange(); err != nil && !isSQLError(err) { // one that was rolled back by the server is not to be ended
			return err
		}
	}
	for range s.begin(l) {
		next()
		ok, err := l.Conn.ReadChange()
		if err != nil && !isSQLError(err) {
			return err
		}
		if l == &s.loans[0] {
			s.warnings = ok.Warnings
		}
		if first == nil {
			first = err
		}
	}
	if !s.asks(l) {
		return first
	}
	next()
	var err error
	if s.reading != nil {
		err = s.reading.Take(l.Pooled)
	} else {
		err = driver.Skip(l.Pooled)
	}
	if first == nil || err != nil && !isSQLError(err) {
		first = err
	}
	return first
}

// close ends the transactions again and gives the connections back, after the error that it returns.
func (s *snapshots) close(failure error) error {
	sh := s.shards
	var lost []txn.Lease
	for k := range s.loans {
		l := &s.loans[k]
		l.Conn.Net.SetDeadline(time.Now().Add(txn.CleanupTimeout))
		var err error
		for _, sql := range s.undo(l) {
			if err = sh.client.run(l.Pooled, sql); err != nil && !isSQLError(err) {
				break
			}
		}
		l.Conn.Net.SetDeadline(time.Time{})
		switch {
		case err != nil:
			lost = append(lost, *l)
		case l.Kept:
			l.Conn.Release()
		default:
			l.Put()
		}
	}
	if len(lost) > 0 {
		if end := sh.loseAnswered(lost, failure); end != nil {
			return end
		}
	}
	return failure
}

// sqlSnapshot begins a transaction of the proxy's own that reads at the moment when it begins. It may change rows, as stored functions of a query do on one
// server; a server takes one that does not for one that only reads.
const sqlSnapshot = txn.SQLBegin + " WITH CONSISTENT SNAPSHOT"
