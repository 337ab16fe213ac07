package state

import (
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
)

// OfVersion reports whether the code of an error is about a text and the server's version: syntax, unknown columns, character sets,
// collations and variables, and their values. MySQL manual: "Server Error Message Reference".
func OfVersion(code uint16) bool {
	switch code {
	case 1054, 1064, 1115, 1193, 1231, 1232, 1238, 1253, 1273:
		return true
	}
	return false
}

// JudgedAnywhere reports whether what an assignment does follows from its text and from what a setting has, on servers of one version.
func JudgedAnywhere(a *sqltext.Assignment) bool {
	switch a.Scope {
	case sqltext.Names:
		return a.Name != "default"
	case sqltext.Session:
	default:
		return false
	}
	switch a.Name {
	case "last_insert_id", "identity", "timestamp", "insert_id", "rand_seed1", "rand_seed2", "character_set_database", "collation_database":
		return false
	}
	if PerStatement[a.Name] || strings.HasPrefix(a.Name, "session_track") || strings.HasSuffix(a.Name, "storage_engine") {
		return false
	}
	if a.Name == "time_zone" && !strings.HasPrefix(a.Value, "'+") && !strings.HasPrefix(a.Value, "'-") {
		return false // servers know time zones by name, or do not
	}
	if a.Literal {
		return plainLiteral(a.Value) && !strings.EqualFold(a.Value, "DEFAULT")
	}
	variables, constant := sqltext.Constant(a.Value, sqltext.Mode{})
	return constant && !slices.ContainsFunc(variables, func(name string) bool { return name != a.Name || name != "sql_mode" })
}

// LeansOn returns the variables that two servers must have alike for an assignment to do the same on both: the variable itself, of which it
// may change a part, and those that say which collation belongs to a character set.
func LeansOn(a *sqltext.Assignment) []string {
	switch {
	case a.Scope == sqltext.Names && a.Collate != "":
		return nil
	case a.Scope == sqltext.Names, strings.HasPrefix(a.Name, "character_set_"):
		return []string{"default_collation_for_utf8mb4", "character_set_collations"}
	case a.Name == "transaction_isolation", a.Name == "tx_isolation":
		return []string{"transaction_isolation", "tx_isolation"}
	case a.Name == "transaction_read_only", a.Name == "tx_read_only":
		return []string{"transaction_read_only", "tx_read_only"}
	}
	return []string{a.Name}
}

// StartsAlike reports whether new sessions have the same value of a variable on two servers. One that was never reached is taken to be like
// the others: so clients can log in while a node is away that was already when the proxy started.
func StartsAlike(a, b *backend.Instance, name string) bool {
	return a.Info() == nil || a.Variables.Same(&b.Variables, name)
}

// SameOn reports whether a variable has one value on connections of two servers that carry the session's setting.
func (st *State) SameOn(a, b *backend.Instance, name string) bool {
	switch name {
	case "character_set_database", "collation_database":
		return st.db == "" && StartsAlike(a, b, name)
	case "timestamp", "insert_id", "last_insert_id", "identity", "rand_seed1", "rand_seed2", "in_transaction", "error_count", "warning_count", "last_gtid",
		"pseudo_thread_id", "statement_id", "read_only", "super_read_only", "innodb_read_only", "offline_mode":
		return false // what differs from connection to connection, or is changed as servers change their places
	}
	if strings.HasPrefix(name, "gtid_") {
		return false
	}
	return st.Value(canonicalName(name)) != "" || StartsAlike(a, b, name)
}
