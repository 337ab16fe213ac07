// Package backend is the side of the proxy that faces the databases: a [Node] is one primary and its replicas, an
// [Instance] one mysqld with a pool of connections, a [Conn] one authenticated connection that knows which session
// variables and database it carries ([Setting]) and which statements are prepared on it.
//
// [Open] builds the nodes of a configuration; nothing is dialled before the first statement or probe asks for it, so a
// proxy starts while its databases are away.
package backend
