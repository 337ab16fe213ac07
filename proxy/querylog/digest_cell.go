package querylog

import (
	"sync"
	"time"
)

// cell holds what one core counted of a digest.
type cell struct {
	mu sync.Mutex
	// closed: the digest was evicted, its counts have gone elsewhere.
	closed bool
	counts counts
	total  histogram
	exec   histogram
	_      [64]byte // cells of other cores are on other cache lines
}

// counts are what is not a histogram.
type counts struct {
	n, errors, rows, bytes, shards uint64
	movedRows, movedBytes          uint64
	totalSum, totalMin, totalMax   time.Duration
	execSum, execMin, execMax      time.Duration
	waitSum                        time.Duration
	first, last                    int64 // when statements began, in ns since 1970
	plan                           Plan  // of the last one
}

// add counts one statement; false when the cell is closed.
func (c *cell) add(st *Statement, began int64) bool {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	t := &c.counts
	if t.n == 0 {
		t.first, t.totalMin, t.execMin = began, st.Total, st.Exec
	}
	t.n++
	if st.ErrorCode != 0 {
		t.errors++
	}
	t.rows += st.Rows
	t.bytes += st.Bytes
	t.movedRows += st.MovedRows
	t.movedBytes += st.MovedBytes
	t.shards += uint64(st.Shards)
	t.waitSum += st.Wait
	t.totalSum += st.Total
	t.totalMin, t.totalMax = min(t.totalMin, st.Total), max(t.totalMax, st.Total)
	t.execSum += st.Exec
	t.execMin, t.execMax = min(t.execMin, st.Exec), max(t.execMax, st.Exec)
	t.last, t.plan = began, st.Plan
	c.total.add(st.Total)
	c.exec.add(st.Exec)
	c.mu.Unlock()
	return true
}

// merge adds what another one counted.
func (t *counts) merge(o *counts) {
	switch {
	case o.n == 0:
		return
	case t.n == 0:
		*t = *o
		return
	}
	t.n += o.n
	t.errors += o.errors
	t.rows += o.rows
	t.bytes += o.bytes
	t.movedRows += o.movedRows
	t.movedBytes += o.movedBytes
	t.shards += o.shards
	t.waitSum += o.waitSum
	t.totalSum += o.totalSum
	t.totalMin, t.totalMax = min(t.totalMin, o.totalMin), max(t.totalMax, o.totalMax)
	t.execSum += o.execSum
	t.execMin, t.execMax = min(t.execMin, o.execMin), max(t.execMax, o.execMax)
	t.first = min(t.first, o.first)
	if o.last > t.last {
		t.last, t.plan = o.last, o.plan
	}
}
