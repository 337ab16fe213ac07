package querylog

import (
	"net/netip"
	"time"

	"kingshard/mysql/sqltext"
)

// Plan is how a statement ran.
type Plan uint8

// The kinds of plans.
const (
	PlanLocal   Plan = iota // the proxy answered
	PlanForward             // one server
	PlanMerge               // several shards, their rows merged
	PlanFinish              // several shards, finished by one server
	PlanWrite               // a change on several shards
	PlanEach                // DDL and the like on every shard
	PlanRefuse              // refused, as rows are on several shards
	plansEnd
)

// Plans is how many kinds of plans there are.
const Plans = int(plansEnd)

var planNames = [Plans]string{"local", "forward", "merge", "finish", "write", "each", "refuse"}

// String gives the word used in logs and statistics.
func (p Plan) String() string { return planNames[p] }

// Statement is one that ended: all that the statistics and the log say of it. The texts are used during the call only.
type Statement struct {
	Conn     uint32
	User, DB string
	Client   netip.AddrPort  // invalid over a unix socket
	Backend  string          // address of the instance, the first of several; empty: the proxy answered
	Text     string          // as the client sent it
	Normal   string          // what sqltext.AppendNormal makes of a Text whose template is known; "" if it is not
	Numbers  sqltext.Numbers // that sqltext.Classify found in Text
	Mode     sqltext.Mode
	Class    sqltext.Class

	Start time.Time
	// Total is from the command's arrival to the end of its answer. Wait is the part of it spent waiting for a connection, Exec the part
	// from then on; what is left is the proxy's own.
	Total, Wait, Exec time.Duration
	Rows, Bytes       uint64 // sent to the client
	// MovedRows and MovedBytes are rows that went from one server to another, or into the proxy, for the statement to be finished there.
	MovedRows, MovedBytes uint64
	Shards                int // asked
	Plan                  Plan
	ErrorCode             uint16 // that the client heard; 0 for none
}
