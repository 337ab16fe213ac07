package indexes

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// links are the connections of one job, one to the primary of each node that it comes to.
type links struct {
	ctx   context.Context
	nodes map[string]*backend.Node
	conns map[string]*link
}

type link struct {
	*backend.Conn
	stop func() bool
	open bool // in a transaction
}

// answerMax bounds one answer.
const answerMax = time.Minute

// lockWait is for how many seconds a job waits for a row that a client has locked, and has clients wait for those that it has, at most: it gives way.
const lockWait = "2"

// to returns the connection to a node.
func (l *links) to(node string) (*link, error) {
	if c := l.conns[node]; c != nil {
		return c, nil
	}
	n := l.nodes[node]
	if n == nil {
		return nil, errNode
	}
	dialing, cancel := context.WithTimeout(l.ctx, askTimeout)
	defer cancel()
	c, err := n.Primary.DialContext(dialing, 0)
	if err != nil {
		return nil, err
	}
	one := &link{Conn: c}
	one.stop = context.AfterFunc(l.ctx, func() { _ = c.Net.SetDeadline(time.Unix(1, 0)) })
	l.conns[node] = one
	// Under SERIALIZABLE what a transaction reads is locked; outside of one nothing is.
	return one, one.run("SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = "+lockWait, "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET NAMES utf8mb4")
}

// run runs statements without rows.
func (c *link) run(texts ...string) error {
	for _, text := range texts {
		_ = c.Net.SetDeadline(time.Now().Add(answerMax))
		if err := c.Exec(text); err != nil {
			return err
		}
	}
	return nil
}

// begun returns the connection to a node in a transaction.
func (l *links) begun(node string) (*link, error) {
	c, err := l.to(node)
	if err == nil && !c.open {
		err = c.run("START TRANSACTION")
		c.open = err == nil
	}
	return c, err
}

// commit commits what a job has written: that on the node last whose rows it has locked, so that these stay as they are until the rest is kept.
func (l *links) commit(last string) error {
	if c := l.conns[last]; c != nil && c.open {
		if err := c.run("DO 0"); err != nil { // what has been locked on a connection that broke may have changed
			return err
		}
	}
	for node, c := range l.conns {
		if node == last || !c.open {
			continue
		}
		if err := c.run("COMMIT"); err != nil {
			return err
		}
		c.open = false
	}
	if c := l.conns[last]; c != nil && c.open {
		c.open = false
		return c.run("COMMIT")
	}
	return nil
}

// rollback undoes what is not committed.
func (l *links) rollback() {
	for node, c := range l.conns {
		if !c.open {
			continue
		}
		if c.open = false; c.run("ROLLBACK") != nil {
			c.close()
			delete(l.conns, node)
		}
	}
}

func (c *link) close() {
	c.stop()
	_ = c.Close()
}

func (l *links) close() {
	for _, c := range l.conns {
		c.close()
	}
	l.conns = map[string]*link{}
}

// triesMax is how often a transaction is tried that loses a lock.
const triesMax = 60

// atomically runs f in transactions, which are committed with that of a node last, and again where clients' locks are in the way.
func (l *links) atomically(last string, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if err == nil {
			err = l.commit(last)
		}
		if err == nil {
			return nil
		}
		l.rollback()
		var refused *mysql.SQLError
		if !errors.As(err, &refused) {
			l.close()
			return err
		}
		if refused.Code != erLockWait && refused.Code != mysql.ERLockDeadlock || try == triesMax {
			return err
		}
		select {
		case <-l.ctx.Done():
			return l.ctx.Err()
		case <-time.After(time.Duration(10+rand.IntN(200)) * time.Millisecond):
		}
	}
}

// lacking returns which of some conditions, each of the rows of a table on a node, no row meets, by number.
func (c *link) lacking(table string, conditions []string) (lacking []int, err error) {
	var b strings.Builder
	for k, condition := range conditions {
		if k > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT " + itoa(k) + " FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM " + table + " WHERE " + condition + ")")
	}
	_ = c.Net.SetDeadline(time.Now().Add(answerMax))
	err = c.Rows(b.String(), 1, func(row []string) { lacking = append(lacking, atoi(row[0])) })
	return lacking, err
}
