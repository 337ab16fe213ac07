package session

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// watchRowLocks begins to watch a statement that has been published, which may hold row locks on one node while it waits for some of
// another one.
func (sh *shards) watchRowLocks() {
	loans := sh.client.task().loans
	sh.leases.branches().watchRowLocks(func(p backend.Pooled) bool {
		return slices.ContainsFunc(loans, func(l txn.Lease) bool { return l.Pooled.Pooled == p.Pooled })
	})
}

// errGaveWay is what the client of a statement hears that gave way. MySQL manual: "InnoDB Error Handling".
func errGaveWay() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERLockDeadlock, "Deadlock found when trying to get lock; try restarting transaction")
}

// byNode gives the places of queries in the order of their nodes' names.
func byNode(queries []plan.Query) (order []int) {
	for k := range queries {
		order = append(order, k)
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(queries[a].Node, queries[b].Node) })
	return order
}

const (
	// hurriedWait is how long a hurried change waits for a row lock, in seconds: the least that MySQL can be told.
	hurriedWait = 1
	// hurriedFor is how long a hurried change is tried; then it gives way, as to a deadlock.
	hurriedFor = 2 * time.Second
	// lockRetryMax is the longest rest before a hurried change begins anew.
	lockRetryMax = 200 * time.Millisecond
)

// hurry has a change wait for row locks for a moment only, but on its first from nodes, where nobody can tell who waits for whom. It is
// for changes that may come back to a node after they had locks on a later one. All others go from node to node in one order, and two of
// them never wait for each other: each of a circle would have to wait on a later node than the one before.
func (sh *shards) hurry(c *change, from int) error { return sh.hurryTo(c, from, hurriedWait) }

// hurryBack has a change that has come to its last node, and goes back to the first one, wait for row locks for a moment only, or not at all
// where a server can be told so.
func (sh *shards) hurryBack(c *change) error {
	if len(c.loans) > 0 && c.loans[0].Conn.Info.MariaDB {
		return sh.hurryTo(c, 0, 0)
	}
	return sh.hurryTo(c, 0, hurriedWait)
}

func (sh *shards) hurryTo(c *change, from, seconds int) error {
	if len(c.loans) < 2 {
		return nil
	}
	if !c.hurried {
		instances := make([]*backend.Instance, len(c.loans))
		for k := range c.loans {
			instances[k] = c.loans[k].Instance
		}
		c.hurried = sh.client.shared.LockWaits.Blind(instances)
	}
	if !c.hurried {
		return nil
	}
	for k := range c.loans {
		l := &c.loans[k]
		if k < from || l.Hurried && l.LockWait == seconds {
			continue
		}
		l.Hurried, l.LockWait = true, seconds
		if err := sh.client.observed.Run(l.Pooled, sh.client.state.DB(), "SET "+state.LockWaitTimeout+" = "+strconv.Itoa(seconds)); err != nil {
			return err
		}
	}
	return nil
}

// unhurried takes back what hurry did on a connection; on false that cannot be used any more.
func (sh *shards) unhurried(l *txn.Lease) bool {
	if !l.Hurried {
		return true
	}
	value, set := sh.client.state.Setting().Value(state.LockWaitTimeout)
	if !set {
		value = "DEFAULT"
	}
	err := sh.client.observed.Run(l.Pooled, sh.client.state.DB(), "SET "+state.LockWaitTimeout+" = "+value)
	if isSQLError(err) { // a KILL of the statement came late
		err = sh.client.observed.Run(l.Pooled, sh.client.state.DB(), "SET "+state.LockWaitTimeout+" = "+value)
	}
	if err != nil {
		sh.client.shared.Log.Warn("a setting could not be taken back", "conn", sh.client.id, "node", l.Node, "error", err)
	}
	return err == nil
}

// untilLocked tries a change, and again where it was hurried and came too late for a lock. One that does not get its locks in some
// seconds gives way, so that nobody waits for it any longer.
func (sh *shards) untilLocked(try func() (*change, bool, error)) (failed bool, err error) {
	for began := time.Now(); ; {
		c, failed, err := try()
		var sqlErr *mysql.SQLError
		if c == nil || !c.hurried || !errors.As(err, &sqlErr) || sqlErr.Code != erLockWaitTimeout {
			return failed, err
		}
		if time.Since(began) >= hurriedFor {
			sh.client.observed.Counters.RowDeadlocks.Add(1)
			return failed, errGaveWay()
		}
		sh.client.observed.Counters.LockRetries.Add(1)
		if c.next.IsSet() {
			sh.client.txn.Next = c.next
		}
		select {
		case <-sh.client.entry.Cancelled():
			return true, interrupted()
		case <-time.After(rand.N(lockRetryMax)):
		}
	}
}

// erLockWaitTimeout is the code of a lock that was not had in time. MySQL manual: "Server Error Message Reference".
const erLockWaitTimeout = 1205
