package driver

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// Driver ends transactions over several nodes for one process. Its methods may be called from any goroutine.
type Driver struct {
	log      *slog.Logger
	store    *decisions.Store
	timing   twophase.Timing
	proxy    uint32        // the process in gtrids
	sequence atomic.Uint64 // of the last transaction
	wake     chan struct{} // has Run look at once
	running  sync.WaitGroup
	agreed   atomic.Bool // all nodes have had one key
	asking   sync.Mutex  // of who asks first whether they are fit
	fit      atomic.Uint32
	reason   atomic.Pointer[string] // why they are not fit; nil before anybody has asked
	nodes    func() map[string]*backend.Node
	// Incidents are what an operator has to look at.
	Incidents Incidents
	counts    counts
	clocks    clocks
	ongoing   ongoing
	doubtful  atomic.Pointer[doubtful] // what Run saw last
}

// New returns a driver that has ended nothing, and logs to log. nodes returns the nodes of the configuration in force; with unsafe servers are taken that
// may break their word when they crash.
func New(log *slog.Logger, unsafe bool, nodes func() map[string]*backend.Node) *Driver {
	var id [12]byte
	_, _ = rand.Read(id[:]) // which never fails
	d := &Driver{log: log, nodes: nodes, store: decisions.NewStore(log, unsafe), timing: twophase.DefaultTiming(), proxy: binary.BigEndian.Uint32(id[:4]), wake: make(chan struct{}, 1)}
	d.sequence.Store(binary.BigEndian.Uint64(id[4:]))
	return d
}

// Begin returns a transaction over nodes, of which the one whose name is the least is to be the anchor. It does as BeginAt.
func (d *Driver) Begin(nodes []*backend.Node, deadline time.Time) (*Transaction, error) {
	return d.BeginAt(slices.MinFunc(nodes, byName), nodes, deadline)
}

// BeginAt returns a transaction over nodes, one of which is to be the anchor. Where it is not known yet that their servers
// qualify, they are asked by the deadline, and made ready; the first time those of all nodes of the configuration are, which then have one key.
func (d *Driver) BeginAt(anchor *backend.Node, nodes []*backend.Node, deadline time.Time) (*Transaction, error) {
	secret, err := d.ready(nodes, deadline)
	if err != nil {
		return nil, err
	}
	return &Transaction{
		driver: d, secret: secret,
		gtrid: twophase.GTRID{
			Anchor: twophase.NodeIDOf(anchor.Name), Proxy: d.proxy, Start: uint32(time.Now().Unix()), Sequence: d.sequence.Add(1) & twophase.SequenceMax,
		},
	}, nil
}

// ready returns the key of rows, once the servers of nodes are ready.
func (d *Driver) ready(nodes []*backend.Node, deadline time.Time) (twophase.Secret, error) {
	if !d.agreed.Load() {
		nodes = d.sorted()
		if one, other, found := sameID(nodes); found {
			return nil, fmt.Errorf("the nodes %s and %s have one id in the names of transactions: one of them needs another name", one, other)
		}
	}
	key, err := d.store.Ready(nodes, deadline)
	if err != nil {
		return nil, err
	}
	d.agreed.Store(true)
	return key[:], nil
}

// sameID returns the names of two nodes with one id.
func sameID(nodes []*backend.Node) (one, other string, found bool) {
	names := make([]string, len(nodes))
	for k, n := range nodes {
		names[k] = n.Name
	}
	return twophase.SameID(names)
}

// byName compares nodes.
func byName(a, b *backend.Node) int { return strings.Compare(a.Name, b.Name) }

// sorted lists the nodes of the configuration by name.
func (d *Driver) sorted() []*backend.Node {
	return slices.SortedFunc(maps.Values(d.nodes()), byName)
}

// Wake has Run look for what was left behind at once.
func (d *Driver) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Wait returns when nothing goes on any more of what Commit left.
func (d *Driver) Wait() { d.running.Wait() }
