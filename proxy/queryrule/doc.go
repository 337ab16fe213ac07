// Package queryrule holds what is decided of a statement by who sends it and by its text. Start with [New] for the rules of the
// configuration, and [LoadBlacklist] for the predecessor's list of forbidden statements. A [Set] and a [Blacklist] are immutable
// but for what they count, and belong to one snapshot of the configuration.
package queryrule
