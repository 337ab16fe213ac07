package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
)

// SET TRANSACTION without a scope speaks of the next transaction only. The session keeps what it says, and brings it to every server that
// the transaction is on. Servers use it up with the first statement that opens a table of an engine with transactions, or that commits:
// SELECT 1 leaves it, as do most errors, a change among them that it forbids. MySQL manual: "SET TRANSACTION Statement".

// characteristics are those of one transaction, as SET TRANSACTION words them; the zero value for what the session has set.
type characteristics struct {
	level, access uint8 // places in levels and accesses
	// unknown says that nobody knows whether the transaction that the held connection is in has them.
	unknown bool
}

var (
	levels   = [...]string{"", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}
	accesses = [...]string{"", "READ WRITE", "READ ONLY"}
)

// set tells whether there are any.
func (c characteristics) set() bool { return c != characteristics{} }

// text is the statement that sets them; "" for none.
func (c characteristics) text() string {
	level, access := levels[c.level], accesses[c.access]
	if level != "" {
		level = "ISOLATION LEVEL " + level
	}
	if level != "" && access != "" {
		level += ", "
	}
	if level+access == "" {
		return ""
	}
	return "SET TRANSACTION " + level + access
}

// texts lists the statements that set them again in another process: one, or none.
func (c characteristics) texts() []string {
	if text := c.text(); text != "" {
		return []string{text}
	}
	return nil
}

// nextOf reads what a session that has moved here brings.
func nextOf(d *state.Description) (next characteristics) {
	for _, text := range d.NextTransaction {
		if assignments, ok := sqltext.ParseSet(text, d.Mode); ok {
			next.take(assignments)
		}
	}
	return next
}

// take adds what assignments say; false if they are not, or not all, what a SET TRANSACTION without a scope is read as.
func (c *characteristics) take(assignments []sqltext.Assignment) bool {
	for _, a := range assignments {
		switch {
		case a.Scope != sqltext.NextTransaction || !a.Literal:
			return false
		case a.Name == "transaction_read_only" && (a.Value == "0" || a.Value == "1"):
			c.access = 1 + a.Value[0] - '0'
		default:
			k := slices.Index(levels[:], strings.ReplaceAll(strings.Trim(a.Value, "'"), "-", " "))
			if a.Name != "transaction_isolation" || k <= 0 {
				return false
			}
			c.level = uint8(k)
		}
	}
	return true
}

// setNext keeps a SET TRANSACTION for the statement that begins the next transaction; handled is false where a server must see it, for its
// error, or because it is a variable's, which servers know by several names.
func (s *Session) setNext(q *query, assignments []sqltext.Assignment) (handled bool, err error) {
	next := s.tx.next
	if s.held.Pooled != nil && s.held.Conn.Status.Has(mysql.ServerStatusInTrans) || strings.Contains(q.text, "@@") || !next.take(assignments) {
		return false, nil
	}
	if s.inTransaction() || s.readsInTransaction() {
		return true, mysql.NewSQLError(mysql.ERCantChangeTxIsolation, "Transaction characteristics can't be changed while a transaction is in progress")
	}
	s.tx.next = next
	s.writeOK()
	return true, nil
}

// underNext runs a query on several shards, by run, as the transaction that SET TRANSACTION spoke of, if it did: on every shard.
func (s *Session) underNext(run func() (bool, error)) (failed bool, err error) {
	switch {
	case s.inTransaction():
		return run()
	case s.pins.has(pinNextTransaction):
		return true, s.errNextIsElsewhere("this query")
	case !s.tx.next.set():
		return run()
	}
	next := s.tx.next
	s.tx.pendingBegin = begin
	s.task().own = s.state.Autocommit
	failed, err = run()
	s.tx.pendingBegin = ""
	if s.task().own {
		s.task().own = false
		err = s.endOwn(err)
	}
	var refused *mysql.SQLError
	if errors.As(err, &refused) && refused.Code == erReadOnlyTransaction || failed && s.observed.ErrorCode == erReadOnlyTransaction {
		s.tx.next = next // a server finds that out before it begins
	}
	return failed, err
}

// nextUsedUp forgets what SET TRANSACTION said behind a statement that a server would have run, in a transaction of its own.
func (s *Session) nextUsedUp() {
	if !s.inTransaction() && s.state.Autocommit {
		s.tx.next = characteristics{}
	}
}

// usesUpNext tells whether what SET TRANSACTION said was for the statement just run on p, of a table that has a rule. The connection is to be
// told COMMIT, so that nothing is left there for an engine without transactions.
func (s *Session) usesUpNext(p backend.Pooled, q *query) bool {
	if !s.pins.has(pinNextTransaction) || q.node == nil || !s.state.Autocommit || p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return false
	}
	switch q.info.Class {
	case sqltext.Show, sqltext.Describe, sqltext.Explain:
		return false // it reads the table's definition
	}
	s.unpin(pinNextTransaction)
	s.tx.began = characteristics{}
	return true
}

// leavesBegan tells whether the transaction on p, which SET TRANSACTION was for, has ended otherwise than by COMMIT, ROLLBACK or a statement that
// commits by itself. SET autocommit = 1 ends one, and servers have what was said go for the next one, too; that is the session's, and p
// is to be told COMMIT, so that it is not another client's.
func (s *Session) leavesBegan(p backend.Pooled, failed bool) bool {
	if !s.tx.began.set() || s.isOther(p) || s.held.Pooled != nil && s.held.Pooled != p.Pooled || p.Conn.Status.Has(mysql.ServerStatusInTrans) || s.pins.has(pinNextTransaction) {
		return false
	}
	if !failed && !s.tx.next.set() && !s.tx.began.unknown {
		s.tx.next = s.tx.began
	}
	s.tx.began = characteristics{}
	return true
}

// endOwn ends the transactions of underNext. The client may have its answer, so there is no packet to tell it of a failure by.
func (s *Session) endOwn(failure error) error {
	if len(s.others) > 0 {
		s.tx.next = characteristics{}
	}
	s.endOthers()
	p := s.held
	if p.Pooled == nil || !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return failure
	}
	if err := s.observed.Run(p, s.state.DB(), commit); err != nil {
		pins := s.pins
		if s.drop(p); pins != 0 {
			s.pins = 0
			return &endError{process.EndBackendLost, err}
		}
		return failure
	}
	s.release(p)
	s.heldLast = false
	return failure
}

// errNextIsElsewhere refuses a statement on several nodes where the held connection alone may still have what SET TRANSACTION said.
func (s *Session) errNextIsElsewhere(what string) *mysql.SQLError {
	return newError(KSTransactionNodes, "SET TRANSACTION was sent to node "+s.held.Instance.Node+" for the next transaction, and "+what+
		" is of several nodes: send it again after COMMIT, or BEGIN first")
}
