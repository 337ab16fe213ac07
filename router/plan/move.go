package plan

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// Move is an UPDATE that gives rows a sharding key by which they may belong to other shards. It runs where the rows are; those that lie wrong
// by then are taken to where they are looked for.
type Move struct {
	clauses sqlparse.ChangeClauses
	keys    []newKey // by key column
	// never says why no row may move, though the statement may run where it is certain that none does; "" if some may.
	never string
}

// newKey is what a key column gets.
type newKey struct {
	operand
	known bool          // when the plan runs: the operand is it
	span  sqlparse.Span // of the value in the text; empty for the column's own
}

// movePlan finds what the sharding key gets in an UPDATE of one table. The plan has no Move where rows keep theirs.
func (b *builder) movePlan(ch *sqlparse.Change) error {
	p, r := b.p, b.p.Target
	if ch.From.Table == nil || keyKept(r, ch.Set, false) == nil {
		return nil
	}
	m := &Move{keys: make([]newKey, len(r.Table.Keys))}
	var ok bool
	m.clauses, ok = sqlparse.FindChangeClauses(p.Statement.Text, p.Mode)
	for k, a := range ch.Set {
		at := r.keyOf(a.Column)
		if at < 0 {
			continue
		}
		if !ok || len(m.clauses.Values) != len(ch.Set) {
			return keyChange(r, a.Column, "the statement has a form of which that is not known")
		}
		m.keys[at] = newKey{span: m.clauses.Values[k]}
		if m.keys[at].operand, m.keys[at].known = operandOf(a.Expr); m.keys[at].known {
			continue
		}
		if why := unasked(a.Expr, ch.Set[:k]); why != "" {
			return keyChange(r, a.Column, why)
		}
	}
	switch {
	case m.clauses.Ignore:
		m.never = "UPDATE IGNORE, which leaves rows out where they would have a key that another row has"
	case ch.Where != nil && (!stable(ch.Where) || ch.Where.Has(sqlparse.Variable, sqlparse.Aggregate)):
		m.never = "a condition that need not find the same rows twice"
	}
	p.moves = m
	return nil
}

// clocks are functions that give another value a moment later.
var clocks = map[string]bool{
	"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "curdate": true, "current_date": true, "curtime": true,
	"current_time": true, "utc_date": true, "utc_time": true, "utc_timestamp": true, "unix_timestamp": true,
}

// unasked returns why a shard cannot be asked ahead of an UPDATE what an expression for the sharding key gives; before are the assignments
// that the server carries out first. It is "" if it can be.
func unasked(e *sqlparse.Expr, before []sqlparse.Assignment) (why string) {
	switch {
	case e.Has(sqlparse.Variable):
		return "a variable in its new value may be another one when the row is changed"
	case e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify):
		return "its new value is a subquery"
	case e.Has(sqlparse.Default, sqlparse.Values):
		return "its new value is no literal, and no expression of the row's columns"
	case e.Has(sqlparse.Aggregate, sqlparse.Window) || !stable(e):
		return "its new value is by a function that need not give the same twice"
	}
	e.Walk(func(x *sqlparse.Expr) bool {
		switch {
		case x.Op == sqlparse.Call && clocks[x.Name]:
			why = "its new value is by a clock, which goes on until the row is changed"
		case x.Op == sqlparse.Column && slices.ContainsFunc(before, func(a sqlparse.Assignment) bool { return router.SameColumn(a.Column, x.Name) }):
			why = "its new value is by the column " + x.Name + ", which is assigned ahead of it"
		}
		return why == ""
	})
	return why
}

// route routes an UPDATE by which rows may move; moves is false if it is certain that all of them stay on one shard.
func (m *Move) route(e *Execution) (r Route, moves bool, err error) {
	p, t := e.plan, e.plan.Target
	set, targets := t.shards(e), t.all
	if to, known := m.place(e); known {
		if len(set) == 0 || len(set) == 1 && set[0] == to {
			return Route{}, false, nil
		}
		targets = t.all[to : to+1]
	}
	why := m.never
	if _, refused := p.Operator.(Refused); refused && why == "" {
		why = p.Reason
	}
	if why != "" {
		return Route{}, true, keyChange(t, t.Table.Keys[0], why)
	}
	if o, chosen := p.Operator.(*Choose); chosen {
		r, err = e.chooses(o)
	} else {
		r, err = e.writes(e.positionSet())
	}
	r.Operator, r.Targets = m, targets
	return r, true, err
}

// place gives the position of the shard that all rows of the statement belong to in the end, where it is known.
func (m *Move) place(e *Execution) (position int, known bool) {
	t := e.plan.Target
	e.tuple = e.tuple[:0]
	for k := range m.keys {
		if !m.keys[k].known {
			return 0, false
		}
		v, ok := m.keys[k].of(&e.values, 0)
		if !ok {
			return 0, false
		}
		e.tuple = append(e.tuple, v)
	}
	position, err := t.Table.Place(e.tuple, t.key)
	return position, err == nil
}

// NewKeys writes the question for the sharding keys that rows of the shard at a position are to get, one row of the answer for each, which
// locks them. where is the condition of some of them, or "" for the client's.
func (e *Execution) NewKeys(at int, where string) Query {
	p := e.plan
	q := Query{Node: e.stand(at), Shards: []router.Shard{p.Target.Table.Shards[at]}}
	w := e.writer()
	w.add("SELECT ")
	for k := range p.moves.keys {
		if k > 0 {
			w.add(", ")
		}
		if span := p.moves.keys[k].span; !span.Empty() {
			w.copy(span.Pos, span.End)
		} else {
			w.quote(p.Target.Table.Keys[k])
		}
	}
	w.add(" FROM ")
	c := &p.moves.clauses
	w.copy(c.Table.Pos, c.Table.End)
	w.add(" ")
	if where != "" {
		w.add("WHERE ", where)
	} else {
		w.copy(c.Where.Pos, c.Where.End)
	}
	w.add(noLimit, " FOR UPDATE")
	q.Text, q.Args = string(w.buf), w.args
	return q
}

// Placed gives the position of the shard for rows that get a sharding key: one value for each column, texts in UTF-8.
func (p *Plan) Placed(key []value.Value) (position int, err error) {
	position, err = p.Target.Table.Place(key, p.Target.served())
	if errors.Is(err, rule.ErrNoShard) || errors.Is(err, rule.ErrConvert) {
		return 0, Refuse("UPDATE of %s: %v", p.Target.Parsed.Name, err)
	}
	return position, err
}

// served are the key columns for values that a server gave, in UTF-8 whatever the client's character set is.
func (r *Ref) served() []rule.Column {
	columns := slices.Clone(r.key)
	for k := range columns {
		columns[k].Foreign = false
	}
	return columns
}

// WithKey writes the condition of rows that have a sharding key, which is one that [Plan.Placed] takes. It is refused of a key that is not
// found by its value for certain.
func (p *Plan) WithKey(key []value.Value) (condition string, err error) {
	t := p.Target
	columns := t.served()
	for k, name := range t.Table.Keys {
		literal := ""
		if d := t.column(name); d != nil && rule.Together(t.Table.Rule, columns[k]) {
			stored, err := rule.Store(t.Table.Rule, key[k], columns[k])
			if err != nil {
				return "", err
			}
			literal = storedLiteral(key[k], stored, columns[k].Class, d.Type == mysql.TypeString)
		}
		if literal == "" {
			return "", keyChange(t, name, "rows are not found by its value for certain where they are to be moved")
		}
		if k > 0 {
			condition += " AND "
		}
		condition += p.quote(name) + " = " + literal
	}
	return "(" + condition + ")", nil
}

// storedLiteral writes what a column keeps of a value, in ASCII; "" for one of a class that has no certain literal. A column of characters
// that is padded drops spaces at the end.
func storedLiteral(given, stored value.Value, class rule.Class, padded bool) string {
	switch class {
	case rule.Integer, rule.Unsigned, rule.Decimal:
		return stored.String()
	case rule.Year:
		return stored.Text()
	case rule.CharBinary, rule.CharCI:
		text := given.String()
		if k := given.Kind(); k == value.String || k == value.Bytes {
			text = given.Text()
		}
		if padded {
			text = strings.TrimRight(text, " ")
		}
		if text == "" {
			return "_utf8mb4''"
		}
		return "_utf8mb4 X'" + hex.EncodeToString([]byte(text)) + "'"
	case rule.Bytes:
		if stored.Text() == "" {
			return "_binary''"
		}
		return "X'" + hex.EncodeToString([]byte(stored.Text())) + "'"
	case rule.Date, rule.DateTime:
		return "'" + stored.Text() + "'"
	}
	return ""
}
