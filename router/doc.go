// Package router is the immutable map from a table's name to its rule and from the rule to physical tables on nodes. [New]
// makes it of a schema of the configuration; a reload makes another one. There is no I/O in it but the reading of named
// time zones by New, and no clock.
package router
