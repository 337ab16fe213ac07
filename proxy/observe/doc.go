// Package observe counts, labels and traces what the sessions' commands do. Nothing in it decides anything: a session tells it what
// happens, and the metrics, the administration and the server read the sums.
//
// A session has one Command, whose Begin starts it anew for each command. It adds to its share of a Stats and of its user's counts, gives
// a goroutine the labels of its statement while Labels are wanted, and holds the trace of a command that is traced. A command that is
// neither labelled nor traced costs no memory.
package observe
