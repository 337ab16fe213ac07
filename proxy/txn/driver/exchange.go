package driver

import (
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn/twophase"
)

// exchange is an action on a connection of a transaction: statements that return no rows and are sent at once, and their answers.
type exchange struct {
	part       *part
	action     twophase.Action
	statements []string
	got        int   // how many were answered
	err        error // of the answers so far; see twophase.Action.Statements
}

func newExchange(p *part, a twophase.Action) *exchange {
	return &exchange{part: p, action: a, statements: a.Statements()}
}

// send sends the statements.
func (x *exchange) send() {
	c := x.part.conn.Conn
	if err := before(x.action.Do); err != nil {
		x.err, x.got = err, len(x.statements)
		return
	}
	for _, sql := range x.statements {
		c.Command(mysql.ComQuery, sql)
	}
	if x.err = c.Flush(); x.err != nil {
		x.got = len(x.statements)
	}
}

// read reads what has not been read of the answers.
func (x *exchange) read() twophase.Answer {
	for x.got < len(x.statements) {
		x.readOne()
	}
	return x.answer()
}

// readAwaiting is read, but a connection's deadline may come between two answers: then the error says so, and it can be called again.
func (x *exchange) readAwaiting() error {
	for x.got < len(x.statements) {
		if err := x.part.conn.Conn.Await(); err != nil {
			return err
		}
		x.readOne()
	}
	return nil
}

// readOne reads an answer. Behind an error of the connection there are no more.
func (x *exchange) readOne() {
	if x.got++; x.got > 1 {
		x.part.conn.Conn.ExpectResponse()
	}
	_, err := x.part.conn.Conn.ReadChange()
	if err != nil && !refused(err) {
		x.err, x.got = err, len(x.statements)
		return
	}
	if x.err == nil || x.action.Do == twophase.DoRollbackBranch {
		x.err = err
	}
}

// answer is what came of it: no answer, where the connection was given up.
func (x *exchange) answer() twophase.Answer {
	answer := twophase.Answer{Do: x.action.Do, Node: x.action.Node, Key: x.action.Row.Key, Result: twophase.NoAnswer}
	if x.got == len(x.statements) {
		answer.Result, answer.Code = resultOf(after(x.action.Do, x.err))
	}
	return answer
}

// refused reports whether a server answered with an error.
func refused(err error) bool {
	var e *mysql.SQLError
	return errors.As(err, &e)
}

// asked carries an action out that needs an answer ahead of its next statement, or returns a row.
func (d *Driver) asked(p *part, a twophase.Action) twophase.Answer {
	answer := twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key}
	var err error
	if statements := a.Statements(); a.Do == twophase.DoClock {
		if err = p.conn.Conn.Rows(statements[0], 1, func(row []string) { answer.Text = row[0] }); err == nil {
			d.clocks.note(p.server, answer.Text, a.Within)
		}
	} else if err = before(a.Do); err == nil {
		err = after(a.Do, stepwise(p.conn.Conn, statements))
	}
	answer.Result, answer.Code = resultOf(err)
	return answer
}

// stepwise sends each statement when the one before has succeeded.
func stepwise(c *backend.Conn, statements []string) error {
	for _, sql := range statements {
		if err := c.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// resultOf returns what an error says of a statement.
func resultOf(err error) (twophase.Result, uint16) {
	var refused *mysql.SQLError
	switch {
	case err == nil:
		return twophase.OK, 0
	case errors.As(err, &refused):
		return twophase.Rejected, refused.Code
	}
	return twophase.NoAnswer, 0
}
