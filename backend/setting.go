package backend

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"kingshard/mysql"
)

// Var is one variable of a session as SQL text: Name in lower case, user variables with their "@"; Value a literal that
// means the same under every sql_mode and character set.
type Var struct{ Name, Value string }

// Setting is the session state that a backend connection carries: its current database and the variables that differ
// from the server's defaults. Settings are interned, so equal states are equal pointers and "does this connection carry
// my session's state" is one comparison. Immutable. A nil Setting is the state of a fresh connection.
type Setting struct {
	DB   string
	Vars []Var // sorted by name
	// Flags are those capabilities that change what statements mean and that only a new login changes.
	Flags mysql.Capability
	key   string
}

// SettingFlags are the capabilities that a Setting keeps.
const SettingFlags = mysql.ClientFoundRows | mysql.ClientIgnoreSpace

var interned struct {
	sync.Mutex
	byKey map[string]weak.Pointer[Setting]
}

// Intern gives the one Setting with these fields. vars need not be sorted; neither the slice nor db is kept, its texts are.
func Intern(db string, flags mysql.Capability, vars []Var) *Setting {
	byName := func(a, b Var) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(vars, byName) {
		vars = slices.SortedStableFunc(slices.Values(vars), byName)
	}
	flags &= SettingFlags
	var room [512]byte
	key := appendKey(room[:0], db, flags, vars)
	interned.Lock()
	defer interned.Unlock()
	if known := interned.byKey[string(key)].Value(); known != nil {
		return known
	}
	if interned.byKey == nil {
		interned.byKey = make(map[string]weak.Pointer[Setting])
	}
	s := &Setting{DB: strings.Clone(db), Vars: slices.Clone(vars), Flags: flags, key: string(key)}
	interned.byKey[s.key] = weak.Make(s)
	runtime.AddCleanup(s, forget, s.key)
	return s
}

// forget drops the entry of a Setting that nobody holds any more, unless an equal one was interned since.
func forget(key string) {
	interned.Lock()
	defer interned.Unlock()
	if interned.byKey[key].Value() == nil {
		delete(interned.byKey, key)
	}
}

// appendKey appends what tells a Setting from every other.
func appendKey(b []byte, db string, flags mysql.Capability, vars []Var) []byte {
	b = append(append(b, db...), 0)
	for bit := range 32 {
		if flags&(1<<bit) != 0 {
			b = append(b, byte('A'+bit))
		}
	}
	for _, v := range vars {
		b = append(append(b, 0), v.Name...)
		b = append(append(b, '='), v.Value...)
	}
	return b
}

// Database is the current database, "" if there is none.
func (s *Setting) Database() string {
	if s == nil {
		return ""
	}
	return s.DB
}

// Value gives the text of a variable and whether it is set.
func (s *Setting) Value(name string) (string, bool) {
	if s == nil {
		return "", false
	}
	i, ok := slices.BinarySearchFunc(s.Vars, name, func(v Var, n string) int { return strings.Compare(v.Name, n) })
	if !ok {
		return "", false
	}
	return s.Vars[i].Value, true
}

// With gives the Setting that is s but for one variable.
func (s *Setting) With(name, value string) *Setting {
	vars := []Var{{name, value}}
	if s == nil {
		return Intern("", 0, vars)
	}
	for _, v := range s.Vars {
		if v.Name != name {
			vars = append(vars, v)
		}
	}
	return Intern(s.DB, s.Flags, vars)
}

// Beside gives s as a connection that carries current can take it on and lay it off in the middle of a transaction: with current's autocommit,
// which would commit it, with current's value of what servers refuse to change there, and with current's database if s has none, which only
// a new login takes away.
func (s *Setting) Beside(current *Setting) *Setting {
	if s == current || s == nil || current == nil {
		return s
	}
	vars := make([]Var, 0, len(s.Vars))
	for _, v := range s.Vars {
		if !ofTransactions(v.Name) {
			vars = append(vars, v)
		}
	}
	for _, v := range current.Vars {
		if ofTransactions(v.Name) {
			vars = append(vars, v)
		}
	}
	db := s.DB
	if db == "" {
		db = current.DB
	}
	return Intern(db, current.Flags, vars)
}

// WithUserVariables gives the Setting that is s but has the user variables of another one, and no others.
func (s *Setting) WithUserVariables(of *Setting) *Setting {
	var vars []Var
	take := func(from *Setting, user bool) {
		if from == nil {
			return
		}
		for _, v := range from.Vars {
			if strings.HasPrefix(v.Name, "@") == user {
				vars = append(vars, v)
			}
		}
	}
	take(of, true)
	take(s, false)
	if s == nil {
		return Intern("", 0, vars)
	}
	return Intern(s.DB, s.Flags, vars)
}

// ofTransactions reports whether a variable is about transactions and the log of them, and not about how texts are read. MySQL manual:
// "Binary Logging Options and Variables", "Server System Variables", autocommit.
func ofTransactions(name string) bool {
	return name == "autocommit" || name == "completion_type" || name == "sql_log_bin" || strings.HasPrefix(name, "transaction_") ||
		strings.HasPrefix(name, "binlog_") || strings.HasPrefix(name, "gtid_")
}

// diff gives the SET statements that turn a connection that carries s into one that carries want; none when only the
// database differs. System variables come before user variables, in a statement of their own: the text of a user
// variable is to be read under the new character set.
func (s *Setting) diff(want *Setting, info *Info) []string {
	var system, user []string
	add := func(name, value string) {
		if strings.HasPrefix(name, "@") {
			user = append(user, name+"="+value)
		} else {
			system = append(system, info.VariableName(name)+"="+value)
		}
	}
	names := want.names()
	for _, v := range want.Vars {
		if have, ok := s.Value(v.Name); ok && have == v.Value {
			continue
		}
		if names != "" && namesVars[v.Name] {
			if len(system) == 0 || system[0] != names {
				system = slices.Insert(system, 0, names)
			}
			continue
		}
		if v.Name == "sql_mode" {
			v.Value = info.sqlMode(v.Value)
		}
		add(v.Name, v.Value)
	}
	if s != nil {
		for _, v := range s.Vars {
			if _, ok := want.Value(v.Name); ok {
				continue
			}
			if strings.HasPrefix(v.Name, "@") {
				add(v.Name, "NULL")
			} else {
				add(v.Name, defaultOf(v.Name))
			}
		}
	}
	var statements []string
	if len(system) > 0 && (s == nil || len(s.Vars) == 0) && info.TracksState() {
		if _, own := want.Value(stateTracker); !own {
			system = append(system, stateTracker+"=1")
		}
	}
	if len(system) > 0 {
		statements = append(statements, "SET "+strings.Join(system, ","))
	}
	if len(user) > 0 {
		statements = append(statements, "SET "+strings.Join(user, ","))
	}
	return statements
}

// stateTracker has the server say with a statement's answer that it changed the state of the session: a further suspicion where nothing
// was known to do so, and no proof that nothing did. Answers to other statements do not grow.
const stateTracker = "session_track_state_change"

// leaves tells whether a connection that carries s has a user variable that want has not. No SET takes it back: with NULL it keeps the type
// and the character set of the value it had, which clients see in the columns of results.
func (s *Setting) leaves(want *Setting) bool {
	return s != nil && slices.ContainsFunc(s.Vars, func(v Var) bool {
		_, stays := want.Value(v.Name)
		return !stays && strings.HasPrefix(v.Name, "@")
	})
}

// KeptByDefault are the variables that MySQL leaves as they are when they are set to DEFAULT (found in 9.7; MariaDB does not).
var KeptByDefault = map[string]bool{"foreign_key_checks": true, "unique_checks": true}

// defaultOf is what a variable is set to so that it has the value of a fresh session.
func defaultOf(name string) string {
	if KeptByDefault[name] {
		return "@@global." + name
	}
	return "DEFAULT"
}

// namesVars are the variables that SET NAMES sets.
var namesVars = map[string]bool{"character_set_client": true, "character_set_results": true, "collation_connection": true}

// names gives the assignment of SET NAMES that stands for all three of its variables, "" if there is none. The
// variables one by one would not do the same: the character set of results has a collation too, which clients see in
// column definitions and which only NAMES and a login can set.
func (s *Setting) names() string {
	client, _ := s.Value("character_set_client")
	results, _ := s.Value("character_set_results")
	collation, _ := s.Value("collation_connection")
	charset := strings.Trim(client, "'")
	if charset == "" || client != results || !strings.HasPrefix(strings.Trim(collation, "'"), charset) {
		return ""
	}
	return "NAMES " + client + " COLLATE " + collation
}
