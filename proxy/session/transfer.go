package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// transferBytes bounds one INSERT of rows that were read, but for its last row.
const transferBytes = 4 << 20

// transferring is an INSERT ... SELECT whose rows are read from where they are and inserted where they belong: as the rows of VALUES, by statements that are planned as any INSERT is.
type transferring struct {
	*restating
	plan  *plan.Plan
	query string // what reads the rows
	// head and tail are what is ahead of the rows in a statement that inserts them, and behind them.
	head, tail string
	warned     []state.Warning // of the query
	main       result
	leaves     left
	inOrder    bool // has the rows of a table that indexes follow inserted one by one
}

// transfer runs an INSERT ... SELECT whose rows go through the proxy, and gives the client a warning, if there is one. One statement that inserts them all is all or nothing by itself, several are so in a transaction.
func (s composer) transfer(text string, p *plan.Plan, o *plan.Transfer, warned *state.Warning) (failed bool, err error) {
	t := &transferring{restating: restate(&composed{Session: s.Session}, p.Reason, text[o.Query.Pos:o.Query.End]), plan: p, query: text[o.Query.Pos:o.Query.End], head: text[:o.Query.Pos], tail: text[o.Query.End:]}
	had := t.left()
	read, err := t.read(o)
	s.client.state.InsertID, s.client.state.Found = had.id, had.found
	if err != nil {
		return true, err
	}
	if warned != nil {
		t.warned = append(t.warned, *warned)
	}
	first, n, err := t.values(o, &read, 0)
	switch {
	case err != nil:
	case n == len(read.rows) && len(p.Watches()) == 0 && len(p.Keeps()) == 0:
		err = t.insert(o, &read, first, n)
	default:
		defer s.ofOneStatement()()
		err = s.compose(func(c *composed) error {
			t.composed = c
			if err := t.insert(o, &read, first, n); err != nil {
				return err
			}
			return s.leases.stillHeard(p.Watches())
		})
	}
	if err != nil {
		return true, err
	}
	t.leaves.found.Found(uint64(len(read.rows)))
	t.answer(&t.main, t.leaves)
	return false, nil
}

// insert inserts the rows, the first n by a text that is there already.
func (t *transferring) insert(o *plan.Transfer, read *result, text string, n int) error {
	t.main, t.leaves = result{warnings: slices.Clone(t.warned)}, t.left()
	t.main.ok.Info = fmt.Appendf(nil, infoForms[1], 0, 0, 0)
	for done := 0; done < len(read.rows); {
		r, err := t.carryOut(text)
		if err != nil && n == 1 {
			err = t.alone(err)
		}
		if err != nil {
			return behind(err, done)
		}
		if err := t.made(&r); err != nil {
			return err
		}
		t.add(&r, n, done)
		if done += n; done < len(read.rows) {
			if text, n, err = t.values(o, read, done); err != nil {
				return err
			}
		}
	}
	t.main.ok.Info = infoWarnings(t.main.ok.Info, uint16(min(len(t.main.warnings), 65535)))
	return nil
}

// carryOut inserts rows by a text.
func (t *transferring) carryOut(text string) (r result, err error) {
	if len(t.plan.Keeps()) == 0 {
		return t.run(text)
	}
	r, t.inOrder, err = t.runInOrder(text, t.inOrder)
	return r, err
}

// read reads the rows. A query that a server warns of fails in a change under a strict sql_mode.
func (t *transferring) read(o *plan.Transfer) (result, error) {
	text := t.query
	if q := t.plan.Statement.Query; (t.client.txn.InTransaction() || !t.client.state.Autocommit) && q.Select != nil && !q.Select.Locking && !strings.HasPrefix(text, "(") {
		text += " LOCK IN SHARE MODE" // so that it reads what is there now, as a change does
	}
	r, err := t.run(text)
	if err != nil {
		return r, err
	}
	if o.Columns != nil && len(r.columns) != len(o.Columns) {
		return r, &mysql.SQLError{Code: erWrongValueCount, State: "21S01", Message: "Column count doesn't match value count at row 1"}
	}
	if t.client.state.Diagnostics.WarningCount == 0 {
		return r, t.oneInstant(&r)
	}
	shown, err := t.run("SHOW WARNINGS")
	for _, row := range shown.rows {
		w := warningOf(row)
		if w.Code == 1292 && t.client.mode().MariaDB {
			continue // a text that is taken for a number, of which MariaDB says nothing in a change
		}
		if refused := strictError(w); refused != nil && t.client.state.Strict && !t.plan.Statement.Insert.Ignore {
			return r, refused
		}
		t.warned = append(t.warned, w)
	}
	if err == nil {
		err = t.oneInstant(&r)
	}
	return r, err
}

// erWrongValueCount is the code of a row that has not as many values as there are columns. MySQL manual: "Server Error Message Reference".
const erWrongValueCount = 1136

// values writes a statement that inserts the rows from one on, as many as it may have.
func (t *transferring) values(o *plan.Transfer, r *result, from int) (text string, n int, err error) {
	b := append([]byte(nil), t.head...)
	b = append(b, " VALUES "...)
	most := min(transferBytes, int(t.client.snap.Config.MaxAllowedPacket)/2)
	for _, row := range r.rows[from:] {
		if len(b) > most {
			break
		}
		if n > 0 {
			b = append(b, ", "...)
		}
		b = append(b, '(')
		for k, cell := range row {
			var target *mysql.ColumnDefinition41
			if o.Columns != nil {
				target = t.plan.TargetColumn(o.Columns[k])
			}
			if k > 0 {
				b = append(b, ", "...)
			}
			if b, err = t.append(b, &r.columns[k], cell, target); err != nil {
				return "", 0, err
			}
		}
		b = append(b, ')')
		n++
	}
	b = append(append(b, ' '), t.tail...)
	return string(b), n, nil
}

// alone refuses a NULL that a server takes with a warning in a row of a query, and not in the one row of VALUES.
func (t *transferring) alone(cause error) error {
	var refused *mysql.SQLError
	if t.client.state.Strict || !errors.As(cause, &refused) || refused.Code != erBadNull {
		return cause
	}
	return t.refused("a NULL for a column that may not be NULL, while sql_mode is not strict")
}

// made takes an id out of the answer to one of the statements that was given and not made: with ON DUPLICATE KEY UPDATE servers tell of such rows of VALUES, and not of a query's.
func (t *transferring) made(r *result) error {
	if r.ok.LastInsertID == 0 || len(t.plan.Statement.Insert.OnUpdate) == 0 {
		return nil
	}
	asked, err := t.run("SELECT LAST_INSERT_ID()")
	if err == nil && (len(asked.rows) != 1 || string(asked.rows[0][0]) != strconv.FormatUint(r.ok.LastInsertID, 10)) {
		r.ok.LastInsertID = 0
	}
	return err
}

// add takes the answer to one of the statements, which inserted n rows behind others.
func (t *transferring) add(r *result, n, others int) {
	main := &t.main.ok
	main.AffectedRows += r.ok.AffectedRows
	if main.LastInsertID == 0 {
		main.LastInsertID, t.leaves = r.ok.LastInsertID, t.left()
	}
	info := string(r.ok.Info)
	if n == 1 {
		info = fmt.Sprintf(infoForms[1], 1, duplicatesOf(t.plan.Statement.Insert, &r.ok), 0)
	}
	main.Info = []byte(addInfo(string(main.Info), info))
	for _, w := range r.warnings {
		w.Message = rowBehind(w.Message, others)
		t.main.warnings = append(t.main.warnings, w)
	}
}

// behind gives an error about a row the row's number behind others.
func behind(err error, others int) error {
	var refused *mysql.SQLError
	if !errors.As(err, &refused) || others == 0 {
		return err
	}
	e := *refused
	e.Message = rowBehind(e.Message, others)
	return &e
}

// rowBehind gives a message about a row the row's number behind others.
func rowBehind(message string, others int) string {
	text, n := rowIn(message)
	if n == 0 {
		return message
	}
	return text + strconv.Itoa(n+others)
}
