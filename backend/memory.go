package backend

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// memory is what the watcher of an instance keeps of it for the moments in which it does not answer.
type memory struct {
	roundTrip atomic.Int64 // see SetRoundTrip; in nanoseconds
	late      atomic.Bool  // see Late
	databases atomic.Pointer[map[string]bool]
}

// succeed takes over what was known before a reload.
func (m *memory) succeed(before *memory) {
	m.roundTrip.Store(before.roundTrip.Load())
	m.databases.Store(before.databases.Load())
}

// Late tells whether the instance is down, or may be, or was late with an answer since it answered a probe: what another one can do as well
// is better done there.
func (i *Instance) Late() bool { return i.memory.late.Load() || i.Doubted() }

// HasDatabase tells whether the server had a database when it was asked for all that the account may use; known is false before it was asked
// once. Names beyond ASCII are not among them: clients spell them in character sets of their own.
func (i *Instance) HasDatabase(name string) (has, known bool) {
	all := i.memory.databases.Load()
	if all == nil {
		return false, false
	}
	return (*all)[name] || i.Info() != nil && i.Info().LowerCaseTables && (*all)[strings.ToLower(name)], true
}

// SetDatabases stores the names of the server's databases. Only the instance's one watcher calls it.
func (i *Instance) SetDatabases(names []string) {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
			all[name] = true
			if i.Info() != nil && i.Info().LowerCaseTables {
				all[strings.ToLower(name)] = true
			}
		}
	}
	i.memory.databases.Store(&all)
}
