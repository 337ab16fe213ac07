package twophase

import "fmt"

// End is how a transaction ended, for its client.
type End uint8

// The ends.
const (
	// Commit is for ever, on all nodes; Outcome.Background says on how many it is not yet.
	Commit End = iota + 1
	// Rollback is for ever, too: nothing was changed.
	Rollback
	// Unknown is neither, as the answer of the one who decides did not come.
	Unknown
)

// Outcome is what a client hears.
type Outcome struct {
	End   End
	Cause Cause // why it is no Commit; its zero value where the client wanted Rollback
	// GTRID is under which the decision can be read later; Recorded says that there is one. An Unknown that is not recorded is the lost answer
	// to a COMMIT of one node, as with a server.
	GTRID      GTRID
	Recorded   bool
	Background int // branches that the resolvers have still to commit
}

// Reason is why a transaction was rolled back, or why its outcome is unknown.
type Reason uint8

// The reasons.
const (
	Refused  Reason = iota + 1 // a server answered with an error
	Vanished                   // a connection broke
	TimedOut                   // an answer did not come in time
	Fenced                     // a resolver decided Aborted before the coordinator decided Committed
	Late                       // the decision came behind its deadline
	Forged                     // a row that no proxy made has the transaction's key
	TooMany                    // more than BranchesMax nodes
	Moved                      // another server is the node's primary since the transaction began
)

// Cause is a reason, and where it came from.
type Cause struct {
	Reason Reason
	Node   NodeID
	Code   uint16 // the error's number, for Refused
}

// String tells an operator.
func (c Cause) String() string {
	switch c.Reason {
	case Refused:
		return fmt.Sprintf("node %s answered with error %d", c.Node, c.Code)
	case Vanished:
		return fmt.Sprintf("the connection to node %s broke", c.Node)
	case TimedOut:
		return fmt.Sprintf("node %s did not answer in time", c.Node)
	case Fenced:
		return "it was rolled back by a resolver, as it took too long"
	case Late:
		return "it took too long"
	case Forged:
		return "its place in ks_meta.dtx was taken by a row that no proxy made"
	case TooMany:
		return fmt.Sprintf("it changes more than %d nodes", BranchesMax)
	case Moved:
		return "another server is a node's primary since it began"
	}
	return "it was asked for"
}
