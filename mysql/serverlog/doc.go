// Package serverlog reads the slow query log and the general query log that MySQL and MariaDB write to files. Start with [NewReader].
//
// A file is read as a stream, and nothing of it is kept but the statement at hand and the current databases of connections.
package serverlog
