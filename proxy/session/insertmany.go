package session

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// runsMax bounds the statements that look for the first of several faulty rows of an INSERT.
const runsMax = 1000

// notOfRow are the codes of errors that would come for other rows as well, or only now: a lock that was not had, a KILL, a
// statement that took too long, a transaction that only reads. MySQL and MariaDB manuals: "Server Error Message Reference", "MariaDB Error Codes".
var notOfRow = map[uint16]bool{1205: true, 1213: true, 1317: true, erReadOnlyTransaction: true, 1969: true, 3024: true}

// firstFault finds which error one server would give for an INSERT that failed with cause: that of the first of the faulty
// rows, while each shard tells of its own first one. So the rows are tried again in their order; the caller undoes that.
func (cs *changes) firstFault(c *change, runs []plan.Query, ex *boundExecution, cause error) error {
	var sqlErr *mysql.SQLError
	if c.returned != nil && c.returned.failed {
		return cause // of the proxy's own
	}
	if !errors.As(cause, &sqlErr) || notOfRow[sqlErr.Code] || len(runs) == 0 {
		return cause
	}
	if err := cs.beginAgain(c); err != nil {
		return err
	}
	if err := cs.shards.hurryBack(c); err != nil { // the rows come in the client's order
		return err
	}
	for k := range runs {
		l := txn.Find(c.loans, runs[k].Node)
		if err := cs.shards.sendTo(l, runs[k].Text, runs[k].Args, ex); err != nil {
			return err
		}
		var err error
		if c.returned != nil {
			_, _, err = l.Conn.ReadReturned(func([]byte) {})
		} else {
			_, err = l.Conn.ReadChange()
		}
		l.Ended(err)
		if errors.As(err, &sqlErr) {
			e := *sqlErr
			e.Message, _ = ofRow(e.Message, &runs[k])
			return &e
		}
		if err != nil {
			return err
		}
	}
	return cause
}

// erBadNull is the code of NULL for a column that may not be NULL. MySQL manual: "Server Error Message Reference".
const erBadNull = 1048

// refuseNull refuses an INSERT of several rows whose cause is a NULL that one server only warns of without a strict
// sql_mode: not so in a row that is alone in its statement, as this one is on its shard.
func (cs *changes) refuseNull(p *plan.Plan, cause error) error {
	var sqlErr *mysql.SQLError
	if cs.client.state.Strict || p.Statement.Insert.Ignore || !errors.As(cause, &sqlErr) || sqlErr.Code != erBadNull {
		return cause
	}
	return newError(KSRefusedSharding, sqlErr.Message+" in a row that is alone on its shard: sql_mode is not strict, and a server takes it among other rows only")
}

// atRow is how messages end that name the row of a statement.
const atRow = " at row "

// ofRow gives a message about a row of a part of an INSERT the row's number in the client's, and that number, from 1; 0
// where the message names none.
func ofRow(message string, part *plan.Query) (string, int) {
	text, n := rowIn(message)
	if n = part.Row(n); n == 0 {
		return message, 0
	}
	return text + strconv.Itoa(n), n
}

// rowIn returns the number of the row that a message ends with, and what is ahead of it; 0 where it names none.
func rowIn(message string) (text string, n int) {
	k := strings.LastIndex(message, atRow)
	if k < 0 {
		return message, 0
	}
	k += len(atRow)
	n, err := strconv.Atoi(message[k:])
	if err != nil {
		return message, 0
	}
	return message[:k], n
}

// duplicates tells what a server counts as such for a single row of an INSERT: rows that REPLACE or ON DUPLICATE KEY UPDATE
// changed or, with CLIENT_FOUND_ROWS, found, or that IGNORE left out.
func (cs *changes) duplicates(p *plan.Plan, ok *mysql.OKPacket) uint64 {
	insert := p.Statement.Insert
	// One row is counted for a new row and for one that stays as it is, of which only the first has its id told.
	stays := len(insert.OnUpdate) > 0 && cs.client.conn.Capabilities.Has(mysql.ClientFoundRows) && ok.LastInsertID == 0 && cs.client.task().query.idsBrought()
	if ok.AffectedRows == 1 && stays {
		return 1
	}
	return duplicatesOf(insert, ok)
}

// duplicatesOf counts them by the number of affected rows alone.
func duplicatesOf(insert *sqlparse.Insert, ok *mysql.OKPacket) uint64 {
	switch {
	case ok.AffectedRows == 0 && insert.Ignore:
		return 1
	case ok.AffectedRows == 0 || insert.Ignore:
		return 0
	}
	return ok.AffectedRows - 1
}

// tellsID reports whether the answer to a part of an INSERT tells the id of the part's last row, which may be 0, and not that all of its rows are
// left out or stay as they are.
func (cs *changes) tellsID(p *plan.Plan, ok *mysql.OKPacket) bool {
	if ok.LastInsertID != 0 || p.InsertsAll() {
		return true
	}
	if ok.AffectedRows == 0 || !cs.client.task().query.idsBrought() {
		return false
	}
	// With CLIENT_FOUND_ROWS rows that stay as they are are among the affected ones, but among the duplicates, too.
	var records, duplicates, warnings uint64
	_, _ = fmt.Sscanf(string(ok.Info), infoForms[1], &records, &duplicates, &warnings)
	if p.Statement.Insert.Ignore { // whose duplicates are all rows that are neither new nor changed
		return records > duplicates
	}
	return ok.AffectedRows > duplicates
}
