package session

import "kingshard/mysql/sqltext"

// outlinesMax is the number of templates whose shape is known without a digest; a later one takes the place of an earlier one.
const outlinesMax = 512

// outlined is the shape of a template's texts: found by the template, it needs none of them to be read again.
type outlined struct {
	template *sqltext.Template
	outline  *sqltext.Outline // nil where the texts have several shapes
	shape    *shape
	of       *buckets // that the shape is in; those who have been forgotten are not asked
}

// outlined gives what is known of a template's texts in a database; nil for nothing, and for no template.
func (t *shapes) outlined(p *sqltext.Template, db string) *outlined {
	if p == nil {
		return nil
	}
	o := t.outlines[p.Number()%outlinesMax].Load()
	if o == nil || o.template != p || o.shape.db != db || o.of != t.buckets.Load() {
		return nil
	}
	return o
}

// outline keeps for a template what is known of one of its texts.
func (t *shapes) outline(p *sqltext.Template, text string, d *sqltext.Digest, s *shape, of *buckets) {
	t.outlines[p.Number()%outlinesMax].Store(&outlined{p, p.Outline(text, d), s, of})
}
