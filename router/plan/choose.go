package plan

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Choose is an UPDATE or DELETE with LIMIT over several shards: a query finds the rows, which are then changed by their
// primary key.
type Choose struct {
	// Keys are the columns of the primary key, whose values the query finds; the position of the shard follows them.
	Keys []string
	// Clauses are those of the client's statement.
	Clauses sqlparse.ChangeClauses
	// Merge is what is done with the rows of the query.
	Merge *Merge

	query  *Plan
	params int // parameters of the statement ahead of those of the query
}

// primaryKeyFlag marks the columns of the primary key. MySQL manual: "Column Definition Flags".
const primaryKeyFlag = 2

// choosePlan plans the query; why tells what keeps that from being right.
func (b *builder) choosePlan(ch *sqlparse.Change) (why string) {
	p, t := b.p, b.p.Target
	const what = "UPDATE or DELETE with LIMIT over several shards"
	if ch.Multi || len(p.Refs) > 1 || t.Table.Kind != router.Sharded {
		return what + " and tables"
	}
	c, ok := sqlparse.FindChangeClauses(p.Statement.Text, p.Mode)
	if !ok || c.Limit.Empty() {
		return what + ", in this form"
	}
	shape := &Choose{Clauses: c}
	if slices.ContainsFunc(t.invisible, func(d mysql.ColumnDefinition41) bool { return d.Flags&primaryKeyFlag != 0 }) {
		return what + ", of a table whose primary key has an invisible column"
	}
	var list []string
	for k := range t.Columns {
		d := &t.Columns[k]
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		if !writable(d) {
			return what + ", of a table whose primary key has values that no literal stands for"
		}
		name, ok := sqltext.QuoteIdent(d.Name, p.Mode)
		if !ok {
			return what + ", of a table whose primary key has a name that the client's character set cannot write"
		}
		shape.Keys = append(shape.Keys, d.Name)
		list = append(list, name)
	}
	if len(list) == 0 {
		return what + ", of a table without a known primary key"
	}
	text := "SELECT " + strings.Join(list, ", ") + " FROM "
	for _, span := range []sqlparse.Span{c.Table, c.Where, c.OrderBy, c.Limit} {
		text += p.Statement.Text[span.Pos:span.End] + " "
	}
	st, err := sqlparse.Parse(text+"FOR UPDATE", p.Mode, func(name string) bool { return strings.EqualFold(name, t.Parsed.Name) })
	if err != nil {
		return what + ": " + err.Error()
	}
	if shape.query, err = Build(st, p.Mode, p.router, b.db, b.catalog); err != nil {
		return what + ": " + err.Error()
	}
	if shape.query == nil {
		return what + ", in this form"
	}
	if shape.Merge, ok = shape.query.Operator.(*Merge); !ok {
		return what + ": " + shape.query.Reason
	}
	shape.Merge.shape.tagged = true
	shape.params = len(p.Statement.Params) - len(st.Params)
	p.Operator = shape
	return ""
}

// writable tells whether a value of the column can be written so that it finds the row again.
func writable(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeFloat, mysql.TypeDouble, mysql.TypeTimestamp, mysql.TypeBit, mysql.TypeJSON, mysql.TypeGeometry, mysql.TypeVector:
		return false
	}
	return d.Flags&(enumFlag|setFlag) == 0
}

// ErrOwnText says that a plan of a text's form cannot run the text: it is to be planned by itself.
var ErrOwnText = errors.New("the statement is planned by its own text")

// chooses routes the query of the rows to change.
func (e *Execution) chooses(c *Choose) (Route, error) {
	if e.digest != nil {
		return Route{}, ErrOwnText // the query is another text, in which the literals have other places
	}
	if e.plan.Statement.Returning {
		return Route{}, Refuse("RETURNING of a DELETE with LIMIT over several shards")
	}
	own := &Execution{Apart: e.plan.moves != nil} // rows of one shard may move to another
	own.Bind(c.query, e.bound[min(c.params, len(e.bound)):])
	r, err := own.Route()
	if err != nil {
		return Route{}, err
	}
	if r.One != nil {
		return Route{}, Refuse("UPDATE or DELETE with LIMIT, of which one shard is not known to the change")
	}
	for k := range r.Queries {
		for i := range r.Queries[k].Args {
			r.Queries[k].Args[i] += c.params
		}
	}
	r.Operator = c
	return r, nil
}

// Chosen writes the change of chosen rows of the shard at a position. where is a condition that holds for them alone.
func (e *Execution) Chosen(at int, where string) Query {
	return e.change(at, func(w *writer) { w.add(where) })
}

// NoneChosen writes the client's change of the shard at a position with a condition more that holds for no row. A server that
// finds the client's own to be impossible does so still.
func (e *Execution) NoneChosen(at int) Query {
	return e.change(at, func(w *writer) {
		w.add("RAND() < 0")
		if where := e.plan.Operator.(*Choose).Clauses.Where; !where.Empty() {
			w.add(" AND (")
			w.copy(where.Pos+len("WHERE"), where.End)
			w.add(")")
		}
	})
}

// change writes the client's change of the shard at a position with another condition and without LIMIT.
func (e *Execution) change(at int, condition func(*writer)) Query {
	shard := e.plan.Target.Table.Shards[at]
	e.at = append(e.at[:0], at) // there is one table
	w := e.writer()
	c := &e.plan.Operator.(*Choose).Clauses
	w.copy(0, firstOf(c.Limit.Pos, c.Where, c.OrderBy))
	w.add("WHERE ")
	condition(&w)
	w.add(" ")
	if !c.OrderBy.Empty() {
		w.copy(c.OrderBy.Pos, c.OrderBy.End)
	}
	return Query{Node: shard.Node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{shard}}
}
