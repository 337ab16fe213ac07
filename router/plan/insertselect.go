package plan

import (
	"slices"
	"strconv"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// InsertSelect is an INSERT ... SELECT along the sharding key that leaves the AUTO_INCREMENT column to a table of several shards. Its queries count the
// rows of each shard; Numbered writes the statement that inserts them with ids.
type InsertSelect struct {
	// Column is the AUTO_INCREMENT column.
	Column string
	// Zero says that the query gives it 0, which is a value under the sql_mode NO_AUTO_VALUE_ON_ZERO.
	Zero bool

	list    int // where the columns are listed, behind the parenthesis
	cell    int // the column's number among them, from 0; -1: it is left out
	query   int // where SELECT begins
	clauses sqlparse.Clauses
}

// insertSelectIDs plans the statement; the error tells why it cannot be.
func (b *builder) insertSelectIDs(in *sqlparse.Insert, auto *autoIncrement) (*InsertSelect, error) {
	s, text, m := b.p.Statement.Query.Select, b.p.Statement.Text, b.p.Mode
	o := &InsertSelect{Column: auto.column, Zero: auto.cell >= 0 && !auto.values[0].value.IsNull(), cell: auto.cell}
	why := ""
	list, listed, query, ok := sqlparse.InsertSelectList(text, m)
	if ok {
		o.list, o.query = list, query
		o.clauses, ok = sqlparse.SelectClauses(text[query:], m)
	}
	switch c := &o.clauses; {
	case in.Ignore || len(in.OnUpdate) > 0 || b.p.Statement.Returning:
		why = "IGNORE, ON DUPLICATE KEY UPDATE or RETURNING"
	case s.Distinct || len(s.Group) > 0 || s.Having != nil || len(c.Group) > 0 || fieldsHave(s, sqlparse.Aggregate):
		why = "DISTINCT, GROUP BY or HAVING"
	case !c.OrderBy.Empty():
		why = "ORDER BY, whose order the ids would have over all shards"
	case !ok || auto.cell < 0 && !listed || c.From == c.End || c.Tail != c.End || auto.cell >= len(c.Fields) || !c.Calc.Empty():
		why = "this form"
	}
	if why != "" {
		return nil, Refuse("INSERT ... SELECT that leaves the AUTO_INCREMENT column %s to the sharded table %s, with %s: give the ids", auto.column, in.Table.Name, why)
	}
	return o, nil
}

// routeCounts gives the queries that count the rows of each shard.
func (e *Execution) routeCounts(o *InsertSelect) (Route, error) {
	r := Route{Operator: o, Positions: e.positionSet()}
	for _, at := range r.Positions {
		node := e.stand(at)
		w := e.writer()
		w.add("SELECT COUNT(*) ")
		w.copy(o.query+o.clauses.From, o.query+firstOf(o.clauses.Tail, o.clauses.Limit))
		w.add(" LIMIT 1 LOCK IN SHARE MODE") // as the rows are locked while they are inserted
		r.Queries = append(r.Queries, Query{Node: node, Text: string(w.buf), Args: w.args, Shards: slices.Clone(e.appendShards(nil))})
	}
	return r, nil
}

// Numbered writes the statement that inserts the rows of the shard at a position with ids, of which it has n: from first on, each increment more than
// the one before. A row beyond them is an error (1690, the value is out of range).
func (e *Execution) Numbered(at int, first, n, increment uint64) Query {
	o := e.plan.Operator.(*InsertSelect)
	node := e.stand(at)
	w := e.writer()
	begin := o.query + o.clauses.Fields[0].Pos
	if o.cell < 0 {
		w.copy(0, o.list)
		quoted, _ := sqltext.QuoteIdent(o.Column, e.plan.Mode)
		w.add(quoted, ", ")
		w.copy(o.list, begin)
		o.number(&w, first, n, increment)
		w.add(", ")
		w.copy(begin, len(e.plan.Statement.Text))
	} else {
		item := o.clauses.Fields[o.cell]
		w.copy(0, o.query+item.Pos)
		o.number(&w, first, n, increment)
		w.copy(o.query+item.End, len(e.plan.Statement.Text))
	}
	return Query{Node: node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{e.plan.Target.Table.Shards[at]}}
}

// number writes the id of a row.
func (o *InsertSelect) number(w *writer, first, n, increment uint64) {
	const row = "ROW_NUMBER() OVER ()"
	w.add(strconv.FormatUint(first, 10), " + (", row, " - 1) * ", strconv.FormatUint(increment, 10),
		" + CAST(IF(", row, " > ", strconv.FormatUint(n, 10), ", POW(2, 1023 + ", row, "), 0) AS UNSIGNED)")
}
