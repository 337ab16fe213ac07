package backend

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// memory is what the watcher of an instance keeps of it for the moments in which it does not answer.
type memory struct {
	roundTrip atomic.Int64 // see SetRoundTrip; in nanoseconds
	late      atomic.Bool  // see Late
	databases atomic.Pointer[map[string]bool]
	variables atomic.Pointer[map[string]string]
	lacking   sync.Map // by name: what sessions have no variables of, though the server may list them
}

// succeed takes over what was known before a reload.
func (m *memory) succeed(before *memory) {
	m.roundTrip.Store(before.roundTrip.Load())
	m.databases.Store(before.databases.Load())
	m.variables.Store(before.variables.Load())
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

// SetVariables stores the server's variables, with the values that new sessions have. Only the instance's one watcher calls it, and all stays
// as it is.
func (i *Instance) SetVariables(all map[string]string) {
	if known := i.memory.variables.Load(); known == nil || !maps.Equal(*known, all) {
		i.memory.variables.Store(&all)
	}
}

// ofVersions are variables that servers of some versions have and others have not: no plugin adds them.
var ofVersions = map[string]bool{
	"language": true, "tx_isolation": true, "tx_read_only": true, "transaction_isolation": true, "transaction_read_only": true, "query_cache_size": true,
	"query_cache_type": true, "default_collation_for_utf8mb4": true, "character_set_collations": true,
}

// SameVariable tells whether new sessions have the same value of a variable here and on another instance of the same version, as far as is
// known. One that neither has may come with a plugin at any time: nothing is known of it.
func (i *Instance) SameVariable(other *Instance, name string) bool {
	here, there := i.memory.variables.Load(), other.memory.variables.Load()
	if here == nil || there == nil {
		return false
	}
	a, known := (*here)[name]
	b, knownThere := (*there)[name]
	return known == knownThere && a == b && (known || ofVersions[name])
}
