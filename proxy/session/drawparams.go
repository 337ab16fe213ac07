package session

import (
	"encoding/binary"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// idStmt is a prepared INSERT whose rows' ids are parameters. It stands for a client's that leaves ids to the table.
type idStmt struct {
	stmt   stmt
	params *plan.IDParams
	of     *plan.Plan // that of the client's statement
	zeroes bool       // 0 was no request for an id when it was made
}

// erPSManyParam is the code of more parameters than a statement may have. MySQL manual: "Server Error Message Reference".
const erPSManyParam = 1390

// newIDStmt makes the statement that stands for st.
func newIDStmt(st *stmt, e *plan.Execution) (*idStmt, error) {
	params, err := e.IDParams()
	if err != nil {
		return nil, planError(err)
	}
	if len(params.Args) > 65535 {
		return nil, mysql.NewSQLError(erPSManyParam, "Prepared statement contains too many placeholders")
	}
	// What the text tells of the statement before is in it by now: st's text is made anew where that has changed, and with its plan this one.
	return &idStmt{params: params, of: st.plan, zeroes: e.ZeroStays, stmt: stmt{
		text: params.Text, source: params.Text, info: sqltext.Classify(params.Text, st.mode), params: len(params.Args), setting: st.setting, sharded: true, db: st.db, mode: st.mode,
	}}, nil
}

// executeWithIDs makes an execution one of a statement that has the ids among its parameters, and returns the plan of that.
func (ro *routing) executeWithIDs(q *query) (_ *plan.Plan, err error) {
	l, st := ro.client.lookup(), q.st
	if st.ids == nil || st.ids.of != st.plan || st.ids.zeroes != l.execution.ZeroStays {
		if st.ids, err = newIDStmt(st, &l.execution); err != nil {
			return nil, err
		}
	}
	q.ex = l.withRowIDs(st.ids)
	q.st = &st.ids.stmt
	q.text = q.st.text
	if !q.st.planned(ro.client.schema.Plans) {
		return nil, errReplan
	}
	b, err := ro.bind(q.st, q.ex)
	if err != nil {
		return nil, err
	}
	l.execution.Bind(q.st.plan, b.args)
	return q.st.plan, nil
}

// withRowIDs makes the bound execution one of a statement that has the rows' ids among its parameters, with those that were drawn. It lives as long
// as what is bound.
func (l *lookup) withRowIDs(ids *idStmt) *execution {
	b, ex, n, next := &l.bound, &l.idExecution, len(ids.params.Args), l.ids.first
	ex.flags = b.ex.flags &^ cursorTypes
	ex.bitmap = slices.Grow(ex.bitmap[:0], (n+7)/8)[:(n+7)/8]
	clear(ex.bitmap)
	ex.types, ex.values = ex.types[:0], ex.values[:0]
	ids.stmt.long = nil
	row := 0
	for k, arg := range ids.params.Args {
		for row < len(ids.params.IDs) && ids.params.IDs[row] < k {
			row++
		}
		if row < len(ids.params.IDs) && ids.params.IDs[row] == k && l.execution.Left(row) {
			ex.types = append(ex.types, byte(mysql.TypeLongLong), unsignedType)
			ex.values = binary.LittleEndian.AppendUint64(ex.values, next)
			next += l.ids.spacing.Increment
			continue
		}
		ex.types = append(ex.types, b.ex.types[2*arg], b.ex.types[2*arg+1])
		if data, long := b.st.long[uint16(arg)]; long {
			if ids.stmt.long == nil {
				ids.stmt.long = map[uint16][]byte{}
			}
			ids.stmt.long[uint16(k)] = data
			continue
		}
		if b.values[arg] == nil {
			ex.bitmap[k/8] |= 1 << (k % 8)
			continue
		}
		ex.values = append(ex.values, b.values[arg]...)
	}
	if ex.attributes = b.ex.attributes.behind(n, b.st.params); ex.attributes != nil {
		for k, nulls := range ex.bitmap {
			ex.attributes.bitmap[k] |= nulls
		}
	}
	return ex
}

// unsignedType is the second byte of a parameter's type where the value is unsigned. MySQL manual: "COM_STMT_EXECUTE".
const unsignedType = 0x80

// mixedParams counts the statements, of this one and what stands for it, that the client has on one connection for the kinds of its values.
func (st *stmt) mixedParams() (n int32) {
	if st.mixed {
		n++
	}
	if st.ids != nil && st.ids.stmt.mixed {
		n++
	}
	return n
}
