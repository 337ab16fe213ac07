package session

import (
	"sync"
	"unique"

	"kingshard/mysql/sqltext"
)

// recognized is a text of the command under way of which more is known.
type recognized struct {
	text, normal string
	numbers      sqltext.Numbers
	template     *sqltext.Template // nil if the normal form was kept with a prepared statement
}

// of gives what is known of a text: its normal form, "" if it is not known, and a long list of numbers.
func (r *recognized) of(text string) (normal string, numbers sqltext.Numbers) {
	if text != r.text {
		return "", numbers
	}
	return r.normal, r.numbers
}

// templateOf gives the template of a text that is read in a mode; nil if it is not known. The mode may have changed since the text was
// recognized: the first statement of a session waits for the collation to be known.
func (r *recognized) templateOf(text string, m sqltext.Mode) *sqltext.Template {
	if r.template == nil || text != r.text || r.template.Mode() != m {
		return nil
	}
	return r.template
}

// templatesPool keeps the templates of what statements came last, as many as there are cores: a session that runs its next
// statement elsewhere finds those of the sessions there, which mostly say the same.
var templatesPool = sync.Pool{New: func() any { return new(sqltext.Templates) }}

// classify says what the first statement of a client's text is.
func (c *client) classify(text string) (info sqltext.Info) {
	r, m, t := &c.task().recognized, c.mode(), c.template
	if t != nil && t.Matches(text, &m) {
		*r = recognized{text: text, normal: t.Normal(), template: t}
		return t.Info(text)
	}
	if c.scratch != nil {
		info, t = c.scratch.templates.Classify(text, m)
	} else {
		all := templatesPool.Get().(*sqltext.Templates)
		info, t = all.Classify(text, m)
		templatesPool.Put(all)
	}
	if *r = (recognized{}); t != nil {
		*r, c.template = recognized{text: text, normal: t.Normal(), template: t}, t
	} else if info.Numbers != (sqltext.Numbers{}) {
		*r = recognized{text: text, numbers: info.Numbers}
	}
	return info
}

// recognize notes that a prepared statement runs.
func (c *client) recognize(st *stmt) {
	r := &c.task().recognized
	if *r = (recognized{}); st.normal != (unique.Handle[string]{}) {
		*r = recognized{text: st.text, normal: st.normal.Value()}
	}
}

// normalMax is how long the normal form of a prepared statement may be that is kept with it, in bytes.
const normalMax = 1 << 10

// normalOf gives the normal form of a text that is to come again, of which all sessions keep one copy; an empty one if it is long.
func normalOf(text string, m sqltext.Mode) unique.Handle[string] {
	b := sqltext.AppendNormal(make([]byte, 0, 256), text, m, normalMax)
	if len(b) >= normalMax {
		b = nil
	}
	return unique.Make(string(b))
}
