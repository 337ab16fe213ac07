package plan

import (
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// Lookup is an index over all shards that tells on which of them a query's rows of one table are.
type Lookup struct {
	Index *router.Index

	ref    *Ref
	values [][]operand   // by column of the index, which it must equal; several where it must be one of them
	types  []rule.Column // of the index's columns
	texts  []string      // by shard of the index, what it is asked up to the first column's values
}

// Lookup returns the index that a query can be placed by, nil without one. A query that its conditions place by themselves has no use for it.
func (p *Plan) Lookup() *Lookup { return p.lookup }

// equals is a condition that a column has one of some values.
type equals struct {
	column string
	values []operand
}

// looked notes what a condition says of columns that have indexes.
func (s *scope) looked(e *sqlparse.Expr, missing map[*Ref]bool) {
	if e.Op != sqlparse.Eq && e.Op != sqlparse.In || e.Negated {
		return
	}
	for _, side := range e.Args[:min(2, len(e.Args))] {
		if side.Op != sqlparse.Column {
			continue
		}
		r, derived, at := s.resolve(side)
		if r == nil || derived != nil || at != s || len(r.Table.Indexes) == 0 || missing != nil && !missing[r] {
			continue
		}
		c := condition(e, false, func(x *sqlparse.Expr) bool { return x == side })
		if c.op == condIn && !c.nullSafe && !c.row {
			r.equals = append(r.equals, equals{side.Name, c.values})
		}
	}
}

// findLookup finds an index that places the rows of a query.
func (p *Plan) findLookup() {
	if !p.ReadOnly {
		return
	}
	for _, r := range p.Refs {
		for _, x := range r.Table.Indexes {
			l := &Lookup{Index: x, ref: r}
			for _, c := range x.Columns {
				for _, eq := range r.equals {
					if router.SameColumn(eq.column, c) && (len(x.Columns) == 1 || len(eq.values) == 1) {
						l.values, l.types = append(l.values, eq.values), append(l.types, KeyColumn(r.columns(), c, p.Mode))
						break
					}
				}
			}
			if len(l.values) == len(x.Columns) {
				l.texts = p.lookupTexts(r, x)
				p.lookup = l
				return
			}
		}
	}
}

// lookupTexts are the questions to the shards of an index up to the first column's values.
func (p *Plan) lookupTexts(r *Ref, x *router.Index) []string {
	keys := make([]string, len(r.Table.Keys))
	for k, c := range r.Table.Keys {
		keys[k] = p.quote(c)
	}
	texts := make([]string, len(x.Lookup.Shards))
	for position, shard := range x.Lookup.Shards {
		texts[position] = "SELECT " + strings.Join(keys, ", ") + " FROM " + p.quote(shard.DB) + "." + p.quote(shard.Table) + " WHERE " + p.quote(x.Columns[0])
	}
	return texts
}

// lookupMax is how many values are looked up for one query; one with more asks every shard.
const lookupMax = 500

// Queries are the statements of an execution that tell the sharding keys of the rows which the query is about: each has Key's columns. ok is false where the values
// do not allow that.
func (l *Lookup) Queries(e *Execution) (queries []Query, ok bool) {
	p := e.plan
	t := l.Index.Lookup
	lists := make([][]value.Value, len(l.values))
	for k, list := range l.values {
		for _, o := range list {
			for i := range e.count(o.param) {
				v, known := o.value, true
				if o.param >= 0 {
					v, known = e.element(o.param, i)
				}
				if !known || len(lists[k]) == lookupMax {
					return nil, false
				}
				if !v.IsNull() {
					lists[k] = append(lists[k], v)
				}
			}
		}
		if len(lists[k]) == 0 {
			return nil, true // NULL equals nothing
		}
	}
	if len(lists) > 1 {
		for _, list := range lists {
			if len(list) != 1 {
				return nil, false
			}
		}
	}
	rest := "" // what the other columns equal
	key := make([]value.Value, len(lists))
	for k, list := range lists[1:] {
		text, err := literal(list[0], p.Mode)
		if err != nil {
			return nil, false
		}
		rest += " AND " + p.quote(l.Index.Columns[k+1]) + " = " + text
		key[k+1] = list[0]
	}
	at := make([][]string, len(t.Shards)) // the values to look for, as literals, by shard
	for _, v := range lists[0] {
		text, err := literal(v, p.Mode)
		if err != nil {
			return nil, false
		}
		key[0] = v
		switch position, w := placed(t.Seek(key, l.types)); w {
		case here:
			at[position] = append(at[position], text)
		case everywhere:
			for position := range at {
				at[position] = append(at[position], text)
			}
		}
	}
	for position, values := range at {
		var text string
		switch len(values) {
		case 0:
			continue
		case 1:
			text = l.texts[position] + " = " + values[0] + rest
		default:
			text = l.texts[position] + " IN (" + strings.Join(values, ", ") + ")" + rest
		}
		queries = append(queries, Query{Node: t.Shards[position].Node, Text: text, Shards: t.Shards[position : position+1]})
	}
	return queries, true
}

// Place has the routes of an execution be those of rows with the sharding keys that a lookup gave; with all they may be anywhere. It
// reports whether fewer than all shards may have them.
func (l *Lookup) Place(e *Execution, keys [][]value.Value, all bool) (narrowed bool) {
	r := l.ref
	e.lookedUp = true
	e.found = r.all
	if all {
		return false
	}
	e.marks = append(e.marks[:0], make([]bool, len(r.all))...)
	for _, key := range keys {
		position, w := placed(r.Table.Seek(key, r.key))
		if w == everywhere {
			return false
		}
		if w == here {
			e.marks[position] = true
		}
	}
	e.found = nil
	for position, is := range e.marks {
		if is {
			e.found = append(e.found, position)
		}
	}
	return true
}

// Placed reports whether Place was called for an execution.
func (l *Lookup) Placed(e *Execution) bool { return e.lookedUp }
