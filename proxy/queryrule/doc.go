// Package queryrule holds what is decided of a statement by its text alone. Start with [LoadBlacklist]; a [Blacklist] is
// immutable and belongs to one snapshot of the configuration.
package queryrule
