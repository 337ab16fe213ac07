package state

import (
	"slices"
	"strings"

	"kingshard/backend"
)

// readingVariables are those by which the proxy reads the client's texts, and knows what a transaction is.
var readingVariables = []string{"sql_mode", "autocommit", "character_set_client", "character_set_results", "collation_connection"}

// Learn asks c, a connection to i, for the AnswerVariables behind statements that may have set them unseen, such as within others, by
// routines and triggers. It keeps those that the session has set, and those that are others than new sessions have. It returns what c alone
// has. An error is of the connection.
func (st *State) Learn(c *backend.Conn, i *backend.Instance) (bound Bound, err error) {
	if err := st.Found.Settle(c, false); err != nil {
		return 0, err
	}
	bound, err = st.learn(c, i, AnswerVariables)
	if refused(err) { // a KILL of the statement, or its time limit, was for the question
		var b Bound
		b, err = st.learn(c, i, AnswerVariables)
		bound |= b
	}
	if refused(err) {
		bound |= BoundVariable
		st.HeldVariable = "what a statement within another, or a routine, may have set"
		var b Bound
		b, err = st.learn(c, i, readingVariables)
		bound |= b
	}
	if err == nil {
		err = st.ReadTimestamp(c)
	}
	st.ReadMode(c.Info)
	return bound, err
}

// learn reads some variables of a connection, once, and keeps those that differ from what the instance's new connections have.
func (st *State) learn(c *backend.Conn, i *backend.Instance, names []string) (bound Bound, err error) {
	lacking, err := c.Variables(knownAt(i, names), func(name, value, fresh string) {
		if value != fresh || st.Value(name) != "" {
			bound |= st.keep(name, value)
		}
	})
	i.Variables.Lacks(lacking)
	return bound, err
}

// knownAt returns those of the names that the server has, or may have.
func knownAt(i *backend.Instance, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if strings.HasPrefix(name, "transaction_") {
			return false // it may have it by another name
		}
		has, known := i.Variables.Has(name)
		return known && !has
	})
}
