// Package sqltext reads the text of MySQL and MariaDB statements in one pass, without a syntax tree: it says what class a
// statement is of, which traits bear on where it may run and what it leaves behind in its session, and where it ends.
//
// A reader starts with [Classify], which allocates nothing. The Parse functions take the few statements apart that a
// session follows itself (SET, transaction control, USE, KILL, PREPARE, SHOW WARNINGS); each tells by ok=false that it did
// not understand every token. [Functions] finds calls whose value belongs to the session. [Digest] takes the values out of a
// statement, so that statements that differ in them alone share a plan. [Lexer] gives the tokens themselves, with their places.
//
// The lexer follows the server's own, byte for byte, where the two could part: comments and version comments, quotes under
// each sql_mode, characters whose second byte looks like a backslash. What is malformed, or reads differently from one
// server to another, is reported as [Doubt], never guessed to be harmless.
package sqltext
