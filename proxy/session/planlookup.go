package session

import (
	"bytes"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// shape is the plan of all texts that differ in their literals only.
type shape struct {
	key []byte
	// plan is nil where no sharded table is touched. Its text has ? for each literal.
	plan *plan.Plan
	// whole says that literals decide more than values: every text has a plan of its own.
	whole bool
}

// shapeKey names a shape: a hash that nobody outside can forge, and the database. The key itself is compared.
type shapeKey struct {
	hash uint64
	db   string
}

// lookup is what a session needs to find plans without allocating; it is used again for every statement.
type lookup struct {
	digest   sqltext.Digest
	args     []value.Value
	literals []string
}

// find gives the plan of a text and the values of its literals. known is false for texts that are planned by themselves.
func (p *Plans) find(l *lookup, q *query, db string, m sqltext.Mode) (found *plan.Plan, args []value.Value, known bool, err error) {
	if !l.digest.Scan(q.text, m) || !foldable(&l.digest) {
		return nil, nil, false, nil
	}
	k := shapeKey{l.digest.Hash, db}
	p.mu.RLock()
	s := p.shapes[k]
	p.mu.RUnlock()
	if s == nil || !bytes.Equal(s.key, l.digest.Key) {
		if s, err = p.makeShape(l, q, k, m); err != nil {
			return nil, nil, false, err
		}
	}
	if s.whole {
		return nil, nil, false, nil
	}
	if s.plan == nil {
		return nil, nil, true, nil
	}
	if !sameGaps(s.plan.Statement, q.text, l.digest.Literals) {
		return nil, nil, false, nil
	}
	l.args, l.literals = l.args[:0], l.literals[:0]
	for _, literal := range l.digest.Literals {
		v, ok := literal.Value(q.text, m)
		if !ok {
			return nil, nil, false, nil
		}
		l.args = append(l.args, v)
		l.literals = append(l.literals, q.text[literal.Pos:literal.End])
	}
	return s.plan.WithLiterals(l.literals), l.args, true, nil
}

// foldable tells whether every literal stands for itself: lists of several rows or values are planned by their text.
func foldable(d *sqltext.Digest) bool {
	for _, list := range d.Lists {
		if list.Kind != sqltext.ListValues || list.Rows != 1 {
			return false
		}
	}
	for _, literal := range d.Literals {
		if literal.Kind == sqltext.LiteralParam {
			return false
		}
	}
	return true
}

// sameGaps tells whether a text is the plan's but for its literals: then places in the one are places in the other.
func sameGaps(st *sqlparse.Statement, text string, literals []sqltext.Literal) bool {
	if len(st.Params) != len(literals) {
		return false
	}
	at, from := 0, 0
	for k, literal := range literals {
		if st.Text[at:st.Params[k]] != text[from:literal.Pos] {
			return false
		}
		at, from = st.Params[k]+1, literal.End
	}
	return st.Text[at:] == text[from:]
}

// makeShape plans the text with its literals taken out.
func (p *Plans) makeShape(l *lookup, q *query, k shapeKey, m sqltext.Mode) (*shape, error) {
	s := &shape{key: bytes.Clone(l.digest.Key)}
	if p.mayConcern(q, m) {
		s.whole = true
		if q.info.Class != sqltext.Show && !mentions(q.text, informationSchema) {
			made, err := p.parametrised(l, q.text, k.db, m)
			if err != nil {
				return nil, err
			}
			s.plan, s.whole = made, made == nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.shapes) >= plansMax {
		clear(p.shapes)
	}
	p.shapes[k] = s
	return s, nil
}

// parametrised plans a text with ? in the place of its literals; nil where that is not possible.
func (p *Plans) parametrised(l *lookup, text, db string, m sqltext.Mode) (*plan.Plan, error) {
	var b bytes.Buffer
	at := 0
	for _, literal := range l.digest.Literals {
		b.WriteString(text[at:literal.Pos])
		b.WriteByte('?')
		at = literal.End
	}
	b.WriteString(text[at:])
	st, err := sqlparse.Parse(b.String(), m, p.watched)
	if err != nil || len(st.Params) != len(l.digest.Literals) {
		return nil, nil // the text itself may be readable
	}
	made, err := plan.Build(st, m, p.router(), db, p.Columns)
	if err != nil {
		return nil, nil // and may be plannable, or tells better why not
	}
	return made, nil
}
