package driver

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
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
	nodes    func() map[string]*backend.Node
	// Incidents are what an operator has to look at.
	Incidents Incidents
	counts    counts
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

// Begin returns a transaction whose anchor is on the node given. Where it is not known yet that the servers of all nodes qualify, they are asked by
// the deadline, and made ready.
func (d *Driver) Begin(anchor *backend.Node, deadline time.Time) (*Transaction, error) {
	secret, err := d.ready(deadline)
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

// ready returns the key of rows, once the servers are ready.
func (d *Driver) ready(deadline time.Time) (twophase.Secret, error) {
	nodes := d.sorted()
	names := make([]string, len(nodes))
	for k, n := range nodes {
		names[k] = n.Name
	}
	if one, other, found := twophase.SameID(names); found {
		return nil, fmt.Errorf("the nodes %s and %s have one id in the names of transactions: one of them needs another name", one, other)
	}
	key, err := d.store.Ready(nodes, deadline)
	if err != nil {
		return nil, err
	}
	return key[:], nil
}

// sorted lists the nodes by name.
func (d *Driver) sorted() []*backend.Node {
	var list []*backend.Node
	for _, n := range d.nodes() {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *backend.Node) int { return strings.Compare(a.Name, b.Name) })
	return list
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
