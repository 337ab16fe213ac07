package session

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"kingshard/backend"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// borrow gets the connections of a statement, beside the transaction's where it ends: else temporary tables would be a part of that, of which a ROLLBACK warns. Where the scratch node gives none, the
// statement ends elsewhere.
func (f *finishing) borrow(beside bool) (err error) {
	for {
		f.node = f.route.Final(nil).Node
		if f.loans, err = f.s.shards.borrowReaders(f.q, f.plan, f.s.routing.finishNodes(f.route)); err != nil {
			return err
		}
		end := f.s.client.schema.Nodes[f.node]
		if f.route.ScratchNode {
			end = f.s.client.schema.Scratch
		} else if !beside {
			return nil
		}
		p, err := f.s.leases.freshConn(end, f.loans)
		if err == nil {
			f.loans = append(f.loans, txn.Lease{Pooled: p, Node: scratchLoan})
			return nil
		}
		if !f.route.ScratchNode || errors.Is(err, txn.ErrDeadlock) || f.s.client.entry.IsCancelled() {
			return f.s.leases.notBorrowed(f.loans, err)
		}
		f.s.leases.giveBack(f.loans)
		*f.route = *f.route.On(f.route.Nodes[1])
	}
}

// chooseEnd has a statement end on the schema's scratch node, where that suits it and serves. Else it is the least busy of the nodes that suit it alike, the first one of several; a session that has a connection
// of its own leaves it where it is.
func (ro *routing) chooseEnd(f *plan.Finishing) {
	nodes, on := f.Nodes, f.On
	if f.ScratchNode {
		if ro.servesScratch(f) {
			return
		}
		nodes = nodes[1:]
		*f = *on(nodes[0])
	}
	if len(nodes) < 2 || ro.client.txn.Holding() {
		return
	}
	least, busy := 0, ro.client.schema.Nodes[nodes[0]].Busy()
	for k, name := range nodes[1:] {
		if other := ro.client.schema.Nodes[name].Busy(); other < busy {
			least, busy = k+1, other
		}
	}
	if least > 0 {
		*f = *on(nodes[least])
	}
}

// servesScratch reports whether the schema's scratch node is up, and is not known to lack a database that the statement needs there.
func (ro *routing) servesScratch(f *plan.Finishing) bool {
	i := ro.client.schema.Scratch.Primary
	if i.State() == backend.Down {
		return false
	}
	lacks := func(db string) bool {
		has, known := i.HasDatabase(db)
		return db != "" && known && !has && !strings.ContainsFunc(db, func(r rune) bool { return r > unicode.MaxASCII }) // other names are not known
	}
	return !lacks(ro.client.state.DB()) && !slices.ContainsFunc(f.Scratch, func(s plan.Scratch) bool { return lacks(s.Ref.Table.DB) })
}

// finishNodes lists the nodes that a query asks which is finished on one of them, the first, or on the scratch node.
func (ro *routing) finishNodes(f *plan.Finishing) (nodes []*backend.Node) {
	if !f.ScratchNode {
		nodes = append(nodes, ro.client.schema.Nodes[f.Final(nil).Node])
	}
	for _, scratch := range f.Scratch {
		asked := ro.nodesOf(scratch.Queries)
		if scratch.Plain != nil {
			asked = append(asked, ro.client.schema.Nodes[scratch.Plain.Node]) // for the definition, where no rows matter
		}
		for _, n := range asked {
			if !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// scratchLoan names the connection beside those to the nodes that are read from; no node has an empty name.
const scratchLoan = ""
