package driver

import (
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// Reading tells whether snapshots of several nodes show all of each transaction over nodes, or nothing of it. One goroutine uses it at a time.
type Reading struct {
	driver    *Driver
	secret    twophase.Secret
	began     time.Time // the first question of the snapshots
	tries     int
	snapshots []twophase.Snapshot
}

// Read returns a reading of nodes, whose servers are made ready as by [Driver.BeginAt].
func (d *Driver) Read(nodes []*backend.Node, deadline time.Time) (*Reading, error) {
	secret, err := d.ready(nodes, deadline)
	if err != nil {
		return nil, err
	}
	return &Reading{driver: d, secret: secret}, nil
}

// Begin forgets the snapshots that there are, and returns until when new ones are of use. Nothing may have been asked for them yet.
func (r *Reading) Begin() (deadline time.Time) {
	if r.tries++; r.tries == 1 {
		r.driver.counts.reads.Add(1)
	} else {
		r.driver.counts.readRetries.Add(1)
	}
	r.began, r.snapshots = time.Now(), r.snapshots[:0]
	return r.began.Add(r.driver.timing.Spread)
}

// Take reads the answer to [twophase.Recent], which was sent on p in the snapshot of p's node.
func (r *Reading) Take(p backend.Pooled) error {
	s := twophase.Snapshot{Node: twophase.NodeIDOf(p.Instance.Node)}
	err := p.Conn.ReadCall(recentColumns, func(row []string) { s.Rows = append(s.Rows, *rowOf(row)) })
	r.snapshots = append(r.snapshots, s)
	return err
}

// recentColumns are those of ks_recent.
const recentColumns = 5

// Skip reads what Take does where nobody wants to know.
func Skip(p backend.Pooled) error {
	return p.Conn.ReadCall(recentColumns, nil)
}

// Lacks notes that a node refused [twophase.Recent], and reports whether that is as something is missing there which is made when it is read next.
func (r *Reading) Lacks(n *backend.Node, code uint16) bool {
	lacks := decisions.Lacking(code)
	if lacks {
		r.driver.store.Forget(n)
	}
	return lacks
}

// anchorsMax is how many anchors that are not among the nodes are asked for one reading.
const anchorsMax = 16

// Whole reports whether the snapshots are of use: they show no part of a transaction, and no more time has gone by than the rows that tell are kept for.
func (r *Reading) Whole() bool {
	told, ask := twophase.Consistent(r.secret, r.snapshots, nil)
	if told == twophase.Ask && len(ask) <= anchorsMax {
		asked := map[twophase.GTRID]*twophase.Row{}
		for _, g := range ask {
			a := twophase.Action{Do: twophase.DoRead, Node: g.Anchor, XID: twophase.XID{GTRID: g}, Row: twophase.Row{Key: g.String()}}
			answer := r.driver.asAdmin(a)
			if answer.Result != twophase.OK {
				return false
			}
			asked[g] = answer.Row
		}
		told, _ = twophase.Consistent(r.secret, r.snapshots, asked)
	}
	return told == twophase.Whole && time.Since(r.began) <= r.driver.timing.Spread
}

// readTries is how often snapshots are taken for one reading.
const readTries = 20

// Again returns how long to wait before snapshots are taken anew in place of ones that are of no use; more is false where that was done often enough. At
// first a commit is under way, which takes a moment; later its proxy may be gone, and another one comes to end it.
func (r *Reading) Again() (pause time.Duration, more bool) {
	if r.tries >= readTries {
		r.driver.counts.readsGivenUp.Add(1)
		return 0, false
	}
	if r.tries == 1 {
		return 0, true
	}
	return min(time.Millisecond<<(r.tries-2), readPauseMax), true
}

// readPauseMax is the longest pause; all of them together are about five seconds, within which what a proxy has left is ended as a rule.
const readPauseMax = 500 * time.Millisecond
