package history

import (
	"fmt"
	"time"
)

// History is a run that is over.
type History struct {
	Transactions []*Transaction
	// Final are the lists at the end, by key, when nothing is under way any more.
	Final map[int][]int
}

// Transaction is what one client did and heard.
type Transaction struct {
	Client       int
	Began, Ended time.Duration // since the run began: ahead of its first statement, and behind the last answer
	Outcome      Outcome
	Ops          []Op
}

// Op is a read of a list, or an append to it.
type Op struct {
	Key    int
	Append int   // the value that was appended, which is of no other append; 0 of a read
	Read   []int // what was read, the oldest value first
}

// Outcome is what a client heard of the end of its transaction.
type Outcome int

// The outcomes of transactions.
const (
	Committed  Outcome = iota
	RolledBack         // an error that says that nothing of it is kept
	Unknown            // nothing, or that nobody knows yet
)

// Kind names an anomaly.
type Kind string

// The kinds of anomalies.
const (
	Half     Kind = "half"      // some of a transaction's values are in the lists and some are not
	Lost     Kind = "lost"      // nothing of a committed transaction is in the lists
	Foreign  Kind = "foreign"   // a list has a value that nobody appended, or one twice
	Order    Kind = "order"     // a read is not how its list began
	Internal Kind = "internal"  // a transaction does not see what it has appended itself
	Stale    Kind = "stale"     // a transaction does not see of a list what was committed, or seen, before it began
	G0       Kind = "G0"        // a circle of ww edges
	G1a      Kind = "G1a"       // a value of a transaction that was rolled back was read, or is in a list
	G1b      Kind = "G1b"       // a value was read behind which its transaction appended another one
	G1c      Kind = "G1c"       // a circle of ww and wr edges
	GSingle  Kind = "G-single"  // a circle with one rw edge
	G2       Kind = "G2"        // a circle with several rw edges
	RealTime Kind = "real time" // a circle, among whose edges are such as that one transaction was over when another one began
)

// Anomaly is something that should not have been.
type Anomaly struct {
	Kind Kind
	Text string
}

// String returns the kind and what was found.
func (a Anomaly) String() string { return string(a.Kind) + ": " + a.Text }

// Check returns the anomalies of a history. Circles in real time are looked for where there are no others.
func (h *History) Check() []Anomaly {
	c := &checking{history: h, writers: map[int]write{}, kept: make([]bool, len(h.Transactions))}
	c.index()
	c.ends()
	c.reads()
	c.stale()
	c.circles()
	return c.found
}

// checking is what is known of a history while it is checked.
type checking struct {
	history *History
	writers map[int]write // by value
	kept    []bool        // by transaction: it is in the lists, or has only read and was committed
	seen    []sight
	found   []Anomaly
}

// write is the append of a value.
type write struct {
	by   int  // the transaction
	last bool // it appended nothing more to the list
}

// sight is what a transaction saw of a list: its first so many values, without those of its own behind them.
type sight struct{ by, key, length int }

func (c *checking) report(kind Kind, format string, args ...any) {
	c.found = append(c.found, Anomaly{kind, fmt.Sprintf(format, args...)})
}

// index finds who appended what. A value that is appended twice is a mistake of the caller's.
func (c *checking) index() {
	for k, t := range c.history.Transactions {
		last := map[int]int{}
		for _, op := range t.Ops {
			if op.Append == 0 {
				continue
			}
			if _, twice := c.writers[op.Append]; twice {
				panic(fmt.Sprintf("history: the value %d is appended twice", op.Append))
			}
			c.writers[op.Append] = write{by: k}
			last[op.Key] = op.Append
		}
		for _, value := range last {
			c.writers[value] = write{by: k, last: true}
		}
	}
}

// name tells which transaction is meant.
func (c *checking) name(k int) string {
	t := c.history.Transactions[k]
	return fmt.Sprintf("T%d (client %d, %v to %v)", k, t.Client, t.Began.Round(time.Microsecond), t.Ended.Round(time.Microsecond))
}
