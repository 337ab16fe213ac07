package state

import "kingshard/mysql/sqltext"

// Bound is a set of what a SET gave to the connection that it ran on and what cannot be brought to another one: the session has to keep that
// connection.
type Bound uint8

// The members of a Bound.
const (
	// BoundUserVariable is a user variable with a value that the session does not know.
	BoundUserVariable Bound = 1 << iota
	// BoundVariable is a system variable whose value cannot be carried over.
	BoundVariable
	// BoundNextTransaction is a SET TRANSACTION that a server has seen.
	BoundNextTransaction
	// BoundInsertID is the id that the next INSERT takes.
	BoundInsertID
	// BoundRandSeed are the seeds that the next numbers of RAND() follow from.
	BoundRandSeed
	// BoundUnknown is an assignment that nobody understands.
	BoundUnknown
)

// BoundUnseen returns what a SET that is carried out unseen gives its connection alone. Variables of the system are not in it: the server is
// asked for them.
func BoundUnseen(text string, m sqltext.Mode) (b Bound) {
	list, ok := sqltext.ParseSet(text, m)
	if !ok {
		b |= BoundUserVariable
	}
	for _, a := range list {
		switch {
		case a.Scope == sqltext.User:
			b |= BoundUserVariable
		case a.Scope == sqltext.NextTransaction:
			b |= BoundNextTransaction
		case a.Name == "insert_id":
			b |= BoundInsertID
		case a.Name == "rand_seed1", a.Name == "rand_seed2":
			b |= BoundRandSeed
		}
	}
	return b
}
