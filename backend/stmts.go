package backend

import (
	"container/list"

	"kingshard/mysql"
)

// StmtKey names a prepared statement on a connection: its text and the session state it was prepared under, because
// the current database and sql_mode decide what the text means.
type StmtKey struct {
	Setting *Setting
	Text    string
}

// Stmt is a statement prepared on one connection.
type Stmt struct {
	Key    StmtKey
	ID     uint32 // the server's
	Params int
	// Kinds are of what kind the first value of each of its parameters was, in the user's own codes: 0 for none yet. nil before
	// the first execution. Mixed is whose it became when values of other kinds followed; nil for everybody's.
	Kinds []byte
	Mixed any
	elem  *list.Element
}

// stmtCache keeps the most recently used statements of a connection.
type stmtCache struct {
	max   int
	byKey map[StmtKey]*Stmt
	order list.List // front: used last
}

// Get finds a statement and marks it used; nil if it is not there.
func (s *stmtCache) Get(k StmtKey) *Stmt {
	st := s.byKey[k]
	if st != nil {
		s.order.MoveToFront(st.elem)
	}
	return st
}

// Len is the number of statements kept.
func (s *stmtCache) Len() int { return len(s.byKey) }

func (s *stmtCache) clear() {
	s.byKey = nil
	s.order.Init()
}

// AddStmt remembers a statement just prepared on c. Those it replaces, the least recently used beyond the limit and an
// older one of the same key, are closed by commands queued before the connection's next one: COM_STMT_CLOSE has no reply.
func (c *Conn) AddStmt(st *Stmt) {
	s := &c.Stmts
	if s.byKey == nil {
		s.byKey = make(map[StmtKey]*Stmt)
	}
	if old := s.byKey[st.Key]; old != nil {
		c.closeStmt(old)
	}
	for s.max > 0 && len(s.byKey) >= s.max {
		c.closeStmt(s.order.Back().Value.(*Stmt))
	}
	s.byKey[st.Key] = st
	st.elem = s.order.PushFront(st)
}

// CloseStmts closes the least recently used half of the statements and tells whether there was one.
func (c *Conn) CloseStmts() bool {
	n := (c.Stmts.Len() + 1) / 2
	for range n {
		c.closeStmt(c.Stmts.order.Back().Value.(*Stmt))
	}
	return n > 0
}

// CloseStmt closes a statement, unless that was done before.
func (c *Conn) CloseStmt(st *Stmt) {
	if c.Stmts.byKey[st.Key] == st {
		c.closeStmt(st)
	}
}

func (c *Conn) closeStmt(st *Stmt) {
	delete(c.Stmts.byKey, st.Key)
	c.Stmts.order.Remove(st.elem)
	// The response to another command may be on its way just now: its sequence ids go on afterwards.
	c.QueueSilent(mysql.AppendUint32([]byte{byte(mysql.ComStmtClose)}, st.ID))
}

// ResetStmt closes the cursor of a statement.
func (c *Conn) ResetStmt(st *Stmt) error {
	c.ResetSequence()
	c.EndPacket(mysql.AppendUint32(append(c.StartPacket(), byte(mysql.ComStmtReset)), st.ID))
	return c.ReadOK()
}

// SkipDefinitions reads past the parameter and column definitions that follow a COM_STMT_PREPARE_OK.
func (c *Conn) SkipDefinitions(params, columns int, metadata bool) error {
	if !metadata {
		return nil
	}
	for _, n := range [...]int{params, columns} {
		if n > 0 && !c.Capabilities.Has(mysql.ClientDeprecateEOF) {
			n++
		}
		for range n {
			if _, err := c.ReadPacket(); err != nil {
				return err
			}
		}
	}
	return nil
}
