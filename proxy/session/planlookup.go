package session

import (
	"bytes"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/queryrule"
	"kingshard/router/plan"
)

// lookup is what a session needs to find plans and their routes without allocating; it is used again for every statement.
type lookup struct {
	digest    sqltext.Digest
	execution plan.Execution
	names     []mysql.TableName
	bound     boundExecution
	rules     queryrule.Scratch
	// ids are those of the rows of an INSERT; withIDs and idExecution are the text, or the execution, with the ids that were drawn for it.
	ids         rowIDs
	withIDs     []byte
	idExecution execution
}

// shapeKeyMax is the length in bytes of the longest digest whose shape is kept.
const shapeKeyMax = 64 << 10

// digestMax bounds the memory that a lookup keeps for the next statement: the number of literals, and a fourth of the length of
// a key in bytes. A list of numbers has as many in 256 KB.
const digestMax = 32 << 10

// release lets go of the statement, and of memory that is more than most need.
func (l *lookup) release() {
	l.execution.Release()
	l.bound.release()
	l.rules.Release()
	l.ids, l.idExecution.attributes = rowIDs{}, nil
	if cap(l.withIDs) > digestMax*4 || cap(l.idExecution.values) > digestMax*4 {
		l.withIDs, l.idExecution = nil, execution{}
	}
	clear(l.names)
	if cap(l.digest.Key) > digestMax*4 || cap(l.digest.Literals) > digestMax || cap(l.digest.Rows) > digestMax {
		l.digest = sqltext.Digest{}
	}
}

// find gives the plan of a text, and begins its execution with the values of the text's literals. t is the text's template, nil if it
// is not known. The plan is nil where the text touches no sharded table. known is false for texts that are planned by themselves.
func (p *Plans) find(l *lookup, q *query, t *sqltext.Template, db string, m sqltext.Mode) (found *plan.Plan, known bool, err error) {
	s, ok := p.shape(l, q.text, t, db, m)
	if !ok {
		return nil, false, nil
	}
	if s == nil {
		if s, err = p.makeShape(l, q, db, m); err != nil {
			return nil, false, err
		}
	}
	switch {
	case s.whole:
		return nil, false, nil
	case s.plan == nil:
		return nil, true, nil
	}
	return s.plan, l.execution.BindText(s.plan, q.text, &l.digest), nil
}

// known finds the plan of a text where nothing needs to be planned; known is false otherwise. It never waits.
func (p *Plans) known(l *lookup, q *query, t *sqltext.Template, db string, m sqltext.Mode) (found *plan.Plan, known bool) {
	s, ok := p.shape(l, q.text, t, db, m)
	if !ok || s == nil || s.whole {
		return nil, false
	}
	if s.plan == nil {
		return nil, true
	}
	return s.plan, l.execution.BindText(s.plan, q.text, &l.digest)
}

// shape gives the shape of a text, nil if there is none yet, and makes l.digest the text's. ok is false for texts that
// have no shape.
func (p *Plans) shape(l *lookup, text string, t *sqltext.Template, db string, m sqltext.Mode) (s *shape, ok bool) {
	d := &l.digest
	o := p.shapes.outlined(t, db)
	if o != nil && o.outline != nil {
		o.outline.Digest(d, text)
		d.Hash, d.Key = o.shape.hash, append(d.Key, o.shape.key...)
		return o.shape, true
	}
	if !d.Scan(text, m) || len(d.Key) > shapeKeyMax {
		return nil, false
	}
	s, of := p.shapes.find(d, db)
	if s != nil && t != nil && o == nil {
		p.shapes.outline(t, text, d, s, of)
	}
	return s, true
}

// makeShape plans the form of a text.
func (p *Plans) makeShape(l *lookup, q *query, db string, m sqltext.Mode) (*shape, error) {
	s := &shape{hash: l.digest.Hash, db: strings.Clone(db), key: bytes.Clone(l.digest.Key)}
	if p.mayConcern(q, db, m) {
		s.whole = true
		if !sqltext.Mentions(q.text, informationSchema) && !strings.EqualFold(db, informationSchema) {
			s.plan = p.formed(l, q.text, s.db, m)
			s.whole = s.plan == nil
		}
	}
	if s.plan == nil || !s.plan.Guesses() {
		p.shapes.add(s)
	}
	return s, nil
}

// formed plans the form of a text; nil where that is not possible.
func (p *Plans) formed(l *lookup, text, db string, m sqltext.Mode) *plan.Plan {
	form, ok := plan.Form(text, &l.digest)
	if !ok {
		return nil
	}
	made, _ := p.build(form, true, db, m) // the text itself may be readable and plannable, or tells better why not
	return made
}
