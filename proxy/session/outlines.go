package session

import (
	"math/rand/v2"

	"kingshard/mysql/sqltext"
)

// outlinesMax is the number of templates whose shape is known without a digest. Those of one place take turns, each about
// outlinePatience statements long: to make an outline costs more than it saves once.
const (
	outlinesMax     = 2048
	outlinePatience = 16
)

// outlined is the shape of a template's texts in a database: found by the template, they need not be read again.
type outlined struct {
	template *sqltext.Template
	outline  *sqltext.Outline // nil where the texts have several shapes
	shape    *shape
	of       *buckets // that the shape is in; what has been forgotten is not asked
}

func (t *shapes) outlineOf(p *sqltext.Template) *outlined {
	o := t.outlines[p.Number()%outlinesMax].Load()
	if o == nil || o.of != t.buckets.Load() {
		return nil
	}
	return o
}

// outlined gives what is known of a template's texts in a database; nil for nothing, and for no template.
func (t *shapes) outlined(p *sqltext.Template, db string) *outlined {
	if p == nil {
		return nil
	}
	o := t.outlineOf(p)
	if o == nil || o.template != p || o.shape.db != db {
		return nil
	}
	return o
}

// outline keeps for a template what is known of one of its texts, if there is a place.
func (t *shapes) outline(p *sqltext.Template, text string, d *sqltext.Digest, s *shape, of *buckets) {
	if t.outlineOf(p) == nil || rand.IntN(outlinePatience) == 0 {
		t.outlines[p.Number()%outlinesMax].Store(&outlined{p, p.Outline(text, d), s, of})
	}
}
