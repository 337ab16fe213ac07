package driver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// Resolve is what an operator decides of a transaction whose decision cannot be learned.
type Resolve struct {
	GTRID  string
	Commit bool // or roll back
	// Force goes against what the node that decides it says, or does not say yet.
	Force bool
}

// String returns it as the statement has it.
func (r Resolve) String() string {
	text := r.GTRID + " ROLLBACK"
	if r.Commit {
		text = r.GTRID + " COMMIT"
	}
	if r.Force {
		text += " FORCE"
	}
	return text
}

// Resolution is what came of it on one node.
type Resolution struct{ Node, Outcome string }

// ErrNoGTRID says that a text is not the name of a transaction.
var ErrNoGTRID = errors.New("it is not the name of a transaction: SHOW KS TRANSACTIONS has those in doubt")

// Resolve ends the prepared branches of a transaction on all nodes that answer, as an operator decides. The error says why it does not; then nothing was changed.
// Of nodes that do not answer it is not known whether they have a branch.
func (d *Driver) Resolve(o Resolve) ([]Resolution, error) {
	g, err := twophase.ParseGTRID(o.GTRID)
	if err != nil {
		return nil, ErrNoGTRID
	}
	r := &asOperator{d: d, admins: map[twophase.NodeID]*administrator{}}
	defer r.close()
	if err := r.connect(); err != nil {
		return nil, err
	}
	state := twophase.NewResolution(g, o.Commit, o.Force, d.timing, time.Now().Unix())
	var holders []*backend.Node
	for _, n := range r.reached {
		if state.Listed(twophase.NodeIDOf(n.Name), r.prepared[n.Name]) {
			holders = append(holders, n)
		}
	}
	var key decisions.Key
	if len(holders) > 0 {
		// These have the key; others may be lost.
		if key, err = d.store.Ready(holders, time.Now().Add(adminTimeout)); err != nil {
			return nil, err
		}
	}
	r.run(state, key[:])
	if refusal, code := state.Refused(); refusal != 0 {
		return nil, r.refused(g, refusal, code, o.Force)
	}
	return r.outcomes(state), nil
}

// asOperator is a decision of an operator that is carried out.
type asOperator struct {
	d       *Driver
	reached []*backend.Node
	silent  []string // nodes that do not answer
	// admins are the connections to those that do.
	admins   map[twophase.NodeID]*administrator
	prepared map[string][]twophase.Prepared // by the name of the node
}

func (r *asOperator) close() {
	for _, a := range r.admins {
		a.conn.Close()
	}
}

// connect asks all nodes for what is prepared there, at the same time.
func (r *asOperator) connect() error {
	var (
		mu      sync.Mutex
		working sync.WaitGroup
	)
	r.prepared = map[string][]twophase.Prepared{}
	for _, n := range r.d.sorted() {
		working.Go(func() {
			admin, err := administer(n, time.Now().Add(adminTimeout))
			var list []twophase.Prepared
			if err == nil {
				if list, err = admin.prepared(time.Now().Add(adminTimeout)); err != nil {
					admin.conn.Close()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				r.silent = append(r.silent, n.Name)
				return
			}
			r.reached = append(r.reached, n)
			r.admins[twophase.NodeIDOf(n.Name)] = admin
			r.prepared[n.Name] = list
		})
	}
	working.Wait()
	slices.Sort(r.silent)
	slices.SortFunc(r.reached, byName)
	if len(r.reached) == 0 {
		return errors.New("no node answers")
	}
	return nil
}

// run carries out what the decision asks for.
func (r *asOperator) run(state *twophase.Resolution, key twophase.Secret) {
	for todo := state.Begin(key); len(todo) > 0; {
		a := todo[0]
		todo = todo[1:]
		if a.Do == twophase.DoReport {
			r.d.report(a.Incident)
			continue
		}
		answer := twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: twophase.NoAnswer}
		if admin := r.admins[a.Node]; admin != nil {
			if answer = admin.do(a, time.Now().Add(adminTimeout)); answer.Result == twophase.NoAnswer {
				admin.conn.Close()
				delete(r.admins, a.Node)
			}
		}
		todo = append(todo, state.Answered(answer)...)
	}
}

// refused says why an operator's decision is not carried out.
func (r *asOperator) refused(g twophase.GTRID, refusal twophase.Refusal, code uint16, forced bool) error {
	text := refusal.String()
	if refusal != twophase.RefusedNothing {
		text += " (" + r.d.NodeName(g.Anchor) + ")"
	}
	if code != 0 {
		text += fmt.Sprintf(", error %d", code)
	}
	if len(r.silent) > 0 {
		text += "; no answer of " + strings.Join(r.silent, ", ")
	}
	switch refusal {
	case twophase.RefusedOtherwise, twophase.RefusedUndecided, twophase.RefusedUnread:
		if forced {
			break // it was asked to take a rollback down first
		}
		text += ": FORCE goes against it, which leaves the transaction on a part of its nodes"
	}
	return errors.New(text)
}

// outcomes tells what came of the decision, in the order of the nodes' names, and notes it.
func (r *asOperator) outcomes(state *twophase.Resolution) []Resolution {
	var list []Resolution
	for _, one := range state.Branches() {
		list = append(list, Resolution{Node: r.d.NodeName(one.Node), Outcome: one.String()})
		switch one.State {
		case twophase.Committed:
			r.d.counts.operatorCommits.Add(1)
		case twophase.Aborted:
			r.d.counts.operatorRollbacks.Add(1)
		}
	}
	for _, name := range r.silent {
		list = append(list, Resolution{Node: name, Outcome: "no answer: whether it has a branch is not known"})
	}
	slices.SortFunc(list, func(a, b Resolution) int { return strings.Compare(a.Node, b.Node) })
	r.d.Wake()
	return list
}
