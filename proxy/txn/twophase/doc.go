// Package twophase decides what ends a transaction that has changed rows of several nodes, so that all of them have it or none. It is a set of
// state machines: they are told what was answered and which time it is, and say what to do next. They have no clock, connection, goroutine or
// random source of their own. docs/design/atomic-commit.md tells how the protocol goes and why it is right.
//
//   - [Transaction] is a transaction while it is open: which nodes it has touched, and whether it may still be committed.
//   - [Coordinator] ends one, in the session that began it.
//   - [Resolver] ends the branches that a coordinator left prepared. Each proxy has one, and there is no leader.
//   - [Auditor] checks that what was decided is on all nodes, and deletes rows that nobody needs any more.
//   - [Consistent] tells whether rows read on several nodes are of the same transactions.
//
// What they ask for is an [Action], whose SQL is that of [Action.Statements]; what came of it is an [Answer].
package twophase
