// Package txn is the room for the connections to servers that a client's session has: those that a statement borrows, and those that stay
// with the session between its statements, for a transaction or for state that cannot be brought to another connection. It knows neither
// clients nor plans.
//
// What a session has is in one of these states, which [Connections] keeps:
//
//   - nothing: the next statement borrows a connection, and gives it back.
//   - asked: the client has sent BEGIN or SET TRANSACTION. Nothing is on a server yet; the next statement says on which one it begins.
//   - held: a connection stays, as its server says that a transaction is open, or for reasons, its pins.
//   - held, with others: the transaction reads from further nodes. It changes rows of one node only.
//   - others alone: with autocommit off, the transaction has read from nodes of which none is yet the one that it changes.
//
// A statement borrows with [Connections.Borrow] or from the pool, and ends the use of each connection with [Connections.Release], or with
// [Connections.Remove] where it broke. A transaction ends with [Connections.Commit] or [Connections.Rollback] on the held connection and
// [Connections.EndOthers] on the others; [Connections.End] ends whatever there is, with the session.
package txn
