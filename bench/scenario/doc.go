// Package scenario is the table of what the benchmark does, one file for each group, and what runs it: All gives the
// scenarios, Select some of them, Runner.Run runs them. A scenario's contenders take turns, round by round, so that what
// happens to the machine meanwhile happens to all of them.
package scenario
