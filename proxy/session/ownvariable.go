package session

import (
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// transactionModeVariable is the session's own transaction_mode, which no server knows.
const transactionModeVariable = "ks_transaction_mode"

// transactionMode is what a session has set: one more than the mode's place in config.TransactionModes.
type transactionMode uint8

const modeUnset transactionMode = 0

// ownVariable reports whether a SET is about a variable of the proxy's own.
func ownVariable(a sqltext.Assignment) bool {
	return a.Scope == sqltext.Session && strings.HasPrefix(a.Name, "ks_")
}

// setOwn sets a variable of the proxy's own.
func (se settings) setOwn(assignments []sqltext.Assignment) error {
	for _, a := range assignments {
		if a.Scope == sqltext.Session && strings.HasPrefix(a.Name, "ks_") && a.Name != transactionModeVariable {
			return mysql.NewSQLError(erUnknownSystemVariable, "Unknown system variable '%s'", a.Name)
		}
	}
	a := assignments[0]
	word := strings.ToLower(strings.Trim(a.Value, "'\""))
	at := slices.Index(config.TransactionModes, word)
	switch {
	case len(assignments) > 1:
		return newError(KSRefusedVariable, "SET "+transactionModeVariable+" is a statement by itself")
	case se.client.txn.InTransaction() || se.client.txn.ReadsInTransaction(se.client.state.Autocommit):
		return mysql.NewSQLError(mysql.ERCantChangeTxIsolation, "Transaction characteristics can't be changed while a transaction is in progress")
	case word == "default":
		se.client.transactionMode = modeUnset
	case !a.Literal || at < 0:
		return mysql.NewSQLError(mysql.ERWrongValueForVar, "Variable '%s' can't be set to the value of '%s': it is %s or DEFAULT", transactionModeVariable, word,
			strings.Join(config.TransactionModes, ", "))
	default:
		se.client.transactionMode = transactionMode(at + 1)
	}
	se.client.writeOK()
	return nil
}

// erUnknownSystemVariable is the code of a variable that there is not. MySQL manual: "Server Error Message Reference".
const erUnknownSystemVariable = 1193
