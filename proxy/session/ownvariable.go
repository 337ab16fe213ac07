package session

import (
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
)

// ownVariable is a variable of the proxy's own, which no server knows: one of a few words, as the session says, its user, or the configuration for all; or,
// with text, what that tells and take sets.
type ownVariable struct {
	name  string
	words []string
	of    func(c *client) *choice
	user  func(a *account.Account) string
	all   func(c *config.Config) string

	text func(c *client) string
	take func(c *client, text string) bool
}

// choice is what a session has set: one more than the word's place among those that there are. Zero is nothing.
type choice uint8

// ownTransactionMode is the transaction_mode that is in force for a session, ownReadConsistency its read_consistency,
// ownReplicaConsistency its replica_consistency.
var (
	ownTransactionMode = ownVariable{
		name: "ks_transaction_mode", words: config.TransactionModes, of: func(c *client) *choice { return &c.transactionMode },
		user: func(a *account.Account) string { return a.TransactionMode }, all: func(c *config.Config) string { return c.TransactionMode },
	}
	ownReadConsistency = ownVariable{
		name: "ks_read_consistency", words: config.ReadConsistencies, of: func(c *client) *choice { return &c.readConsistency },
		user: func(a *account.Account) string { return a.ReadConsistency }, all: func(c *config.Config) string { return c.ReadConsistency },
	}
	ownReplicaConsistency = ownVariable{
		name: "ks_replica_consistency", words: config.ReplicaConsistencies, of: func(c *client) *choice { return &c.replicaConsistency },
		user: func(a *account.Account) string { return a.ReplicaConsistency }, all: func(c *config.Config) string { return c.ReplicaConsistency },
	}
	ownVariables = []*ownVariable{&ownTransactionMode, &ownReadConsistency, &ownReplicaConsistency, {
		name: "ks_gtid", text: func(c *client) string { return freshness{c}.text() }, take: func(c *client, text string) bool { return freshness{c}.take(text) },
	}}
)

// value returns the word, or the text, that is in force for a session.
func (v *ownVariable) value(c *client) string {
	if v.text != nil {
		return v.text(c)
	}
	if set := *v.of(c); set != 0 {
		return v.words[set-1]
	}
	if word := v.user(c.account); word != "" {
		return word
	}
	return v.all(c.snap.Config)
}

// ownVariableNamed returns the variable of a name in lower case, nil if there is none.
func ownVariableNamed(name string) *ownVariable {
	if k := slices.IndexFunc(ownVariables, func(v *ownVariable) bool { return v.name == name }); k >= 0 {
		return ownVariables[k]
	}
	return nil
}

// ownVariableRead returns the variable that a text such as @@session.ks_x reads, nil if there is none.
func ownVariableRead(text string) *ownVariable {
	return ownVariableNamed(strings.ToLower(strings.Trim(text[strings.LastIndexAny(text, "@.")+1:], "` \t\r\n")))
}

// isOwn reports whether a SET is about a variable of the proxy's own.
func isOwn(a sqltext.Assignment) bool {
	return a.Scope == sqltext.Session && strings.HasPrefix(a.Name, "ks_")
}

// setOwn sets a variable of the proxy's own.
func (se settings) setOwn(assignments []sqltext.Assignment) error {
	for _, a := range assignments {
		if isOwn(a) && ownVariableNamed(a.Name) == nil {
			return mysql.NewSQLError(erUnknownSystemVariable, "Unknown system variable '%s'", a.Name)
		}
	}
	a := assignments[slices.IndexFunc(assignments, isOwn)]
	v := ownVariableNamed(a.Name)
	text := strings.Trim(a.Value, "'\"")
	word := strings.ToLower(text)
	at := slices.Index(v.words, word)
	switch {
	case len(assignments) > 1:
		return newError(KSRefusedVariable, "SET "+v.name+" is a statement by itself")
	case se.client.txn.InTransaction() || se.client.txn.ReadsInTransaction(se.client.state.Autocommit):
		return mysql.NewSQLError(mysql.ERCantChangeTxIsolation, "Transaction characteristics can't be changed while a transaction is in progress")
	case v.take != nil:
		if !a.Literal || !v.take(se.client, text) {
			return mysql.NewSQLError(mysql.ERWrongValueForVar, "Variable '%s' can't be set to the value of '%s': it is what SELECT @@%s gives, '' or DEFAULT", v.name, text, v.name)
		}
	case word == "default":
		*v.of(se.client) = 0
	case !a.Literal || at < 0:
		return mysql.NewSQLError(mysql.ERWrongValueForVar, "Variable '%s' can't be set to the value of '%s': it is %s or DEFAULT", v.name, word, strings.Join(v.words, ", "))
	default:
		*v.of(se.client) = choice(at + 1)
	}
	se.client.writeOK()
	return nil
}

// erUnknownSystemVariable is the code of a variable that there is not. MySQL manual: "Server Error Message Reference".
const erUnknownSystemVariable = 1193
