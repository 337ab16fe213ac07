// Package rule places rows: a [Rule] tells which shard, by its position from 0, holds the rows of a key value. Rules are
// immutable and pure; they know neither nodes nor the names of tables.
//
// A value goes through [Convert] first, which brings it to the form in which MySQL compares it with the key column, and
// then to Find or Between. A Rule never guesses: a value that it cannot place for certain is an error of kind
// [ErrConvert], one that has no place an error of kind [ErrNoShard].
package rule
