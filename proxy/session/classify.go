package session

import (
	"sync"

	"kingshard/mysql/sqltext"
)

// recognized is the template of the text that was classified last; text is that text, until the end of its command.
type recognized struct {
	template *sqltext.Template
	text     string
}

// normal gives the normal form of a text that was classified in this command; "" if it is not known.
func (r *recognized) normal(text string) string {
	if text == "" || text != r.text {
		return ""
	}
	return r.template.Normal()
}

// templatesPool keeps the templates of what statements came last, as many as there are cores: a session that runs its next
// statement elsewhere finds those of the sessions there, which mostly say the same.
var templatesPool = sync.Pool{New: func() any { return new(sqltext.Templates) }}

// classify says what the first statement of a client's text is.
func (s *Session) classify(text string) (info sqltext.Info) {
	r, m := &s.recognized, s.mode()
	if r.text = ""; r.template != nil && r.template.Matches(text, &m) {
		r.text = text
		return r.template.Info(text)
	}
	var t *sqltext.Template
	if s.spares != nil {
		info, t = s.spares.templates.Classify(text, m)
	} else {
		all := templatesPool.Get().(*sqltext.Templates)
		info, t = all.Classify(text, m)
		templatesPool.Put(all)
	}
	if t != nil {
		r.template, r.text = t, text
	}
	return info
}

// templateOf gives the template of a text that is to come again; nil if it has none.
func templateOf(text string, m sqltext.Mode) *sqltext.Template {
	all := templatesPool.Get().(*sqltext.Templates)
	defer templatesPool.Put(all)
	return all.Learn(text, m)
}

// recognize notes that a prepared statement runs.
func (r *recognized) recognize(st *stmt) {
	if r.text = ""; st.template != nil {
		r.template, r.text = st.template, st.text
	}
}
