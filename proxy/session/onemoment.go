package session

import (
	"slices"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
	"kingshard/router/plan"
)

// readsAtomic reports whether reads of several nodes are to show all of each transaction over nodes or nothing.
func (b branches) readsAtomic() bool { return ownReadConsistency.value(b.client) == config.ReadAtomic }

// reading returns what tells whether snapshots of nodes are whole.
func (b branches) reading(nodes []*backend.Node) (*driver.Reading, error) {
	r, err := b.client.shared.Atomic.Read(nodes, b.deadline())
	if err != nil {
		return nil, newError(KSNotCarriedOut, "read_consistency is atomic: "+err.Error())
	}
	return r, nil
}

// read runs a query on several shards, by run, whose nodes are given: at one moment where the client wants that.
func (sh *shards) read(q *query, p *plan.Plan, nodes []*backend.Node, run func() (bool, error)) (failed bool, err error) {
	if _, merges := q.route.Operator.(*plan.Merge); !sh.atOneMoment(p) || merges && len(nodes) == 1 { // which is one statement
		return sh.onShards(q, p.ReadOnly, func() (bool, error) { return sh.underNext(run) })
	}
	return sh.onShards(q, p.ReadOnly, func() (bool, error) { return sh.inSnapshots(nodes, run) })
}

// atOneMoment reports whether a query that is about to run has snapshots of its own. In a transaction it has that one's; what locks rows reads what is there
// now; SET TRANSACTION may have asked for that, or for what is not committed; and START TRANSACTION would end LOCK TABLES.
func (sh *shards) atOneMoment(p *plan.Plan) bool {
	c := &sh.client.txn
	if level := c.Next.Level(); level == "SERIALIZABLE" || level == "READ UNCOMMITTED" {
		return false
	}
	return p.ReadOnly && sh.leases.branches().readsAtomic() && sh.client.state.Autocommit && !c.InTransaction() &&
		!c.Pins.Has(txn.PinLockTables) && !c.Pins.Has(txn.PinNextTransaction)
}

// inSnapshots runs a query in a transaction of the proxy's own on each of the nodes, all of which are at one moment.
func (sh *shards) inSnapshots(nodes []*backend.Node, run func() (bool, error)) (failed bool, err error) {
	if p := sh.client.txn.Held(); p.Pooled != nil { // the transaction is one with what the session has there
		if n := sh.client.schema.Nodes[p.Instance.Node]; n != nil && !slices.Contains(nodes, n) {
			nodes = append(slices.Clone(nodes), n)
		}
	}
	s := &snapshots{shards: sh, nodes: nodes}
	if len(nodes) > 1 { // else what it shows of transactions over nodes is whole
		if s.reading, err = sh.leases.branches().reading(nodes); err != nil {
			return true, err
		}
	}
	had := sh.client.txn.Next
	next := had.RepeatableRead()
	sh.client.txn.Next = txn.Characteristics{}
	begin, undo := []string{next.Text(), sqlSnapshot}, []string{txn.SQLRollback}
	s.begin = func(*txn.Lease) []string { return begin }
	s.undo = func(*txn.Lease) []string { return undo }
	s.asks = func(*txn.Lease) bool { return s.reading != nil }
	if err = s.borrow(); err == nil {
		err = s.open()
	}
	if err != nil {
		sh.client.txn.Next = had
		return true, err
	}
	sh.client.txn.Opened(s.loans, next, false)
	sh.client.task().own = true
	failed, err = run()
	sh.client.task().own = false
	if err == errRepeat {
		sh.client.txn.Next = had
	}
	return failed, sh.endSnapshots(err)
}

// endSnapshots ends the transactions of inSnapshots, on all nodes at once. The client may have its answer, so there is no packet to tell it of a failure by.
func (sh *shards) endSnapshots(failure error) error {
	all := sh.client.txn.All()
	broken := make([]error, len(all))
	for k, p := range all {
		p.Conn.Net.SetDeadline(time.Now().Add(txn.CleanupTimeout))
		p.Conn.Command(mysql.ComQuery, txn.SQLCommit)
		broken[k] = p.Conn.Flush()
	}
	sh.client.txn.Current = txn.Characteristics{}
	for k, p := range slices.Backward(all) { // the held one last: it takes the others along
		if broken[k] == nil {
			_, broken[k] = p.Conn.ReadChange()
		}
		p.Conn.Net.SetDeadline(time.Time{})
		held := sh.client.txn.Holds(p)
		switch {
		case broken[k] != nil && held && sh.client.txn.Pins != 0:
			sh.leases.drop(p)
			sh.client.txn.Pins = 0
			failure = &endError{process.EndBackendLost, broken[k]}
		case broken[k] != nil:
			sh.leases.drop(p)
		case held:
			sh.leases.release(p)
		default:
			sh.client.txn.Remove(p)
			p.Put()
		}
	}
	sh.client.txn.LastOnHeld = false
	return failure
}
