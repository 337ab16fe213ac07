package session

import (
	"sync"

	"kingshard/mysql/sqltext"
)

// templatesPool keeps the templates of what statements came last, as many as there are cores: a session that runs its next
// statement elsewhere finds those of the sessions there, which mostly say the same.
var templatesPool = sync.Pool{New: func() any { return new(sqltext.Templates) }}

// classify says what the first statement of a client's text is.
func (s *Session) classify(text string) sqltext.Info {
	t := templatesPool.Get().(*sqltext.Templates)
	info := t.Classify(text, s.mode())
	templatesPool.Put(t)
	return info
}
