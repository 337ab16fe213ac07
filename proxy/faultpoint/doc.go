// Package faultpoint names places in the proxy's work where a test has it fail: die, stand still or meet an error. Only builds with the tag
// faultpoints have them. In all others [Reach] and [Fail] do nothing, and nothing of their calls is left.
package faultpoint

// Point is a place.
type Point uint8

// The points.
const (
	// BeforeSend is ahead of a statement of a client's on its way to a server.
	BeforeSend Point = iota
	// AfterSend is behind it: the statement is sent, and nothing of its answer has gone to the client.
	AfterSend
	// InResult is where the client has a part of an answer: rows of a merge, or the first of several results.
	InResult
	// BeforeReturn is where a connection is about to go back to its pool.
	BeforeReturn
	// BeforeSwap is where a configuration is built and sessions read the one before, AfterSwap where they read it and nothing else was told.
	BeforeSwap
	AfterSwap
	// BeforePrepare is ahead of the first step of a commit over several nodes: a branch is to be prepared. AfterPrepare is behind it: its server said so.
	BeforePrepare
	AfterPrepare
	// BeforeDecide is where all branches are prepared, and the decision is to be recorded. AfterDecide is where it is.
	BeforeDecide
	AfterDecide
	// BeforeComplete is where a branch is to be told of the decision, AfterComplete where it has committed and the client has not heard.
	BeforeComplete
	AfterComplete
)
