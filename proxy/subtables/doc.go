// Package subtables makes the missing sub-tables of date rules with auto_create, each like the newest that is there. Start with
// [Maker.Run]; it never stands in the way of clients.
package subtables
