// Package hotkeys counts by which keys of sharded tables statements are routed, so that one finds the keys that have too many. It
// looks at one of [Every] statements, and keeps of each table only the keys that it met most, in memory of a fixed size: what it tells
// are lower bounds of what it saw. Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams.
package hotkeys
