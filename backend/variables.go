package backend

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"kingshard/mysql"
)

// Variables are what is known of the variables that sessions of a server have. The zero value knows nothing.
type Variables struct {
	all     atomic.Pointer[map[string]string]
	lacking sync.Map // by name: what sessions have no variables of, though the server may list them
}

// Set stores the server's variables, with the values that new sessions have. Only the instance's one watcher calls it, and all stays as it is.
func (v *Variables) Set(all map[string]string) {
	if known := v.all.Load(); known == nil || !maps.Equal(*known, all) {
		v.all.Store(&all)
	}
}

// Has reports whether sessions have a variable, as far as is known; known is false before the server was asked for all of them.
func (v *Variables) Has(name string) (has, known bool) {
	if _, lacks := v.lacking.Load(name); lacks {
		return false, true
	}
	all := v.all.Load()
	if all == nil {
		return false, false
	}
	_, has = (*all)[name]
	return has, true
}

// Value returns that of new sessions, "" if it is not known.
func (v *Variables) Value(name string) string {
	if all := v.all.Load(); all != nil {
		return (*all)[name]
	}
	return ""
}

// Lacks notes that sessions have no such variables.
func (v *Variables) Lacks(names []string) {
	for _, name := range names {
		v.lacking.Store(name, true)
	}
}

// ofVersions are variables that servers of some versions have and others have not: no plugin adds them.
var ofVersions = map[string]bool{
	"language": true, "tx_isolation": true, "tx_read_only": true, "transaction_isolation": true, "transaction_read_only": true, "query_cache_size": true,
	"query_cache_type": true, "default_collation_for_utf8mb4": true, "character_set_collations": true,
}

// Same reports whether new sessions have the same value of a variable here and on another server of the same version, as far as is known.
// One that neither has may come with a plugin at any time: nothing is known of it.
func (v *Variables) Same(other *Variables, name string) bool {
	here, there := v.all.Load(), other.all.Load()
	if here == nil || there == nil {
		return false
	}
	a, known := (*here)[name]
	b, knownThere := (*there)[name]
	return known == knownThere && a == b && (known || ofVersions[name])
}

// erNoSessionVariable is the code of a variable that has no value for a session. MySQL manual: "Server Error Message Reference".
const erNoSessionVariable = 1238

// Variables asks for the values that variables have in the session and for those that new sessions begin with, NULL as "NULL". Those
// that sessions of the server have not are lacking. It asks once where there are none.
func (c *Conn) Variables(names []string, tell func(name, value, fresh string)) (lacking []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	var b strings.Builder
	for k, name := range names {
		b.WriteString([...]string{"SELECT @@session.", ",@@session."}[min(k, 1)])
		name = c.Info.VariableName(name)
		b.WriteString(name + ",@@global." + name)
	}
	b.WriteString(" LIMIT 1") // whatever sql_select_limit is
	err = c.Rows(b.String(), 2*len(names), func(row []string) {
		for k, name := range names {
			tell(name, row[2*k], row[2*k+1])
		}
	})
	var refused *mysql.SQLError
	if !errors.As(err, &refused) || refused.Code != erUnknownVariable && refused.Code != erNoSessionVariable {
		return nil, err
	}
	if len(names) == 1 {
		return names, nil
	}
	half := len(names) / 2
	if lacking, err = c.Variables(names[:half], tell); err != nil {
		return lacking, err
	}
	more, err := c.Variables(names[half:], tell)
	return append(slices.Clone(lacking), more...), err
}
