package session

import (
	"bytes"
	"sync"
	"sync/atomic"

	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// shape is the plan of all texts that have one digest in one database.
type shape struct {
	hash uint64
	db   string
	key  []byte
	// plan is nil where no sharded table is touched. Its text is the texts' form.
	plan *plan.Plan
	// whole says that a form says too little: every text has a plan of its own.
	whole bool
	next  *shape // of the same bucket
}

// shapesBuckets is the number of buckets, a power of 2.
const shapesBuckets = 4096

// shapesBytesMax bounds the keys of the shapes kept, in bytes; their plans take a small multiple of that.
const shapesBytesMax = 16 << 20

// shapeBytes is what a shape counts beside its key.
const shapeBytes = 512

// buckets have the shapes by their hashes. A bucket is a chain that is only ever put in front of.
type buckets [shapesBuckets]atomic.Pointer[shape]

// shapes are found without a lock, which all sessions would share.
type shapes struct {
	buckets  atomic.Pointer[buckets]
	outlines [outlinesMax]atomic.Pointer[outlined]

	mu    sync.Mutex // of those that add and clear
	count int
	bytes int
}

// find gives the shape of a digest, nil if it is not known, and the buckets that it is in.
func (t *shapes) find(d *sqltext.Digest, db string) (*shape, *buckets) {
	of := t.buckets.Load()
	if of == nil {
		return nil, nil
	}
	for s := of[d.Hash%shapesBuckets].Load(); s != nil; s = s.next {
		if s.hash == d.Hash && s.db == db && bytes.Equal(s.key, d.Key) {
			return s, of
		}
	}
	return nil, of
}

// add keeps a shape. Beyond the bounds all others are forgotten, and made again as they are asked for.
func (t *shapes) add(s *shape) {
	t.mu.Lock()
	defer t.mu.Unlock()
	bytes := shapeBytes + len(s.key)
	if t.buckets.Load() == nil || t.count >= plansMax || t.bytes+bytes > shapesBytesMax {
		t.clearLocked()
	}
	bucket := &t.buckets.Load()[s.hash%shapesBuckets]
	s.next = bucket.Load()
	bucket.Store(s)
	t.count++
	t.bytes += bytes
}

func (t *shapes) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearLocked()
}

func (t *shapes) clearLocked() {
	t.buckets.Store(new(buckets))
	for k := range t.outlines {
		t.outlines[k].Store(nil)
	}
	t.count, t.bytes = 0, 0
}
