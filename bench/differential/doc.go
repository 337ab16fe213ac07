// Package differential finds statements that a sharding proxy answers differently than one server does. A [Round] makes a
// random schema with random rows, both on a server, the oracle, and behind the proxy, the subject, and runs random
// statements on the two. Whatever a client can see is compared: rows, their order where the statement fixes it, the
// definitions of columns, counts, warnings, error codes; and after a write the tables themselves, straight from the
// nodes. A statement that fails is made as short as it can be without getting right.
//
// Everything random comes from the seed, never from an answer: a seed always makes the same schema, rows and statements.
package differential
