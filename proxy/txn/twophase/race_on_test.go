//go:build race

package twophase

// underRace makes worlds ten times as slow, and there is nothing in them for the race detector: one goroutine goes through each.
const underRace = true
