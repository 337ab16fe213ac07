package driver

import (
	"sync/atomic"
	"time"

	"kingshard/proxy/txn/twophase"
)

// counts are what metrics tell.
type counts struct {
	ends       [4]atomic.Uint64 // by twophase.End
	background atomic.Uint64
	nanos      atomic.Uint64
	fenced     atomic.Uint64
	committed  atomic.Uint64 // branches, by the resolver
	rolledBack atomic.Uint64
	doubt      atomic.Int64
	oldest     atomic.Int64
	phases     [twophase.Phases]atomic.Int64 // nanoseconds, by twophase.Phase
	// Branches ended as an operator decided.
	operatorCommits, operatorRollbacks atomic.Uint64
	// Readings, see Reading.
	reads, readRetries, readsGivenUp atomic.Uint64
}

// ended counts a transaction that ended within d.
func (c *counts) ended(o twophase.Outcome, d time.Duration) {
	c.ends[o.End].Add(1)
	c.nanos.Add(uint64(d))
	c.background.Add(uint64(o.Background))
}

// resolved counts what the resolver has done.
func (c *counts) resolved(do twophase.Do) {
	switch do {
	case twophase.DoFence:
		c.fenced.Add(1)
	case twophase.DoCommitBranch:
		c.committed.Add(1)
	case twophase.DoRollbackBranch:
		c.rolledBack.Add(1)
	}
}

func (c *counts) inDoubt(n int, oldest time.Duration) {
	c.doubt.Store(int64(n))
	c.oldest.Store(int64(oldest))
}

// Stats is what a process has ended since it began.
type Stats struct {
	Committed, RolledBack, Unknown uint64
	// Background are branches that were committed behind the client's answer.
	Background uint64
	// Time is how long all of the Commits took together.
	Time time.Duration
	// Fenced are the transactions whose rollback the resolver decided, ResolvedCommits and ResolvedRollbacks the branches that it ended.
	Fenced, ResolvedCommits, ResolvedRollbacks uint64
	// InDoubt is how many branches were prepared when the resolver looked last, of which the oldest had been seen for Oldest.
	InDoubt int
	Oldest  time.Duration
	// Waiting is how many of them wait for an operator.
	Waiting int
	// Ongoing are the transactions that are being committed now.
	Ongoing int
	// Phases is how long transactions have been in each phase of their commits, together.
	Phases map[string]time.Duration
	// OperatorCommits and OperatorRollbacks are the branches that were ended as an operator decided.
	OperatorCommits, OperatorRollbacks uint64
	// Reads are those of several nodes at one moment, ReadRetries how often snapshots were taken anew for them, ReadsGivenUp those for which that was in vain.
	Reads, ReadRetries, ReadsGivenUp uint64
}

// Stats returns what was counted.
func (d *Driver) Stats() Stats {
	c := &d.counts
	phases := map[string]time.Duration{}
	for p := range c.phases {
		phases[twophase.Phase(p).String()] += time.Duration(c.phases[p].Load())
	}
	waiting := 0
	for _, one := range d.doubts().list {
		if one.Waits == twophase.WaitOperator {
			waiting++
		}
	}
	return Stats{
		Committed: c.ends[twophase.Commit].Load(), RolledBack: c.ends[twophase.Rollback].Load(), Unknown: c.ends[twophase.Unknown].Load(),
		Background: c.background.Load(), Time: time.Duration(c.nanos.Load()),
		Fenced: c.fenced.Load(), ResolvedCommits: c.committed.Load(), ResolvedRollbacks: c.rolledBack.Load(),
		InDoubt: int(c.doubt.Load()), Oldest: time.Duration(c.oldest.Load()), Waiting: waiting,
		Ongoing: d.ongoing.len(), Phases: phases, OperatorCommits: c.operatorCommits.Load(), OperatorRollbacks: c.operatorRollbacks.Load(),
		Reads: c.reads.Load(), ReadRetries: c.readRetries.Load(), ReadsGivenUp: c.readsGivenUp.Load(),
	}
}
