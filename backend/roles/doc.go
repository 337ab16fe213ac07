// Package roles decides which of a node's servers is its primary, by what they say of themselves. It knows neither connections nor clocks: a
// [Standing] is what is known, [Standing.Judge] a function of it and of [Observation]s.
//
// The proxy promotes nobody. It follows who does: an operator, a tool, a group of servers. docs/design/roles.md has the rules, and why they
// are so.
package roles
