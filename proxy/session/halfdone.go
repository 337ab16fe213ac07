package session

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/halfdone"
	"kingshard/proxy/querylog"
)

// outcome is what became of a change on each of its nodes, by their places.
type outcome struct {
	done    []int // the server has kept it
	unknown []int // the connection broke before the server said so
	undone  []int // it was rolled back, or is when the server finds the connection closed
	cause   error
}

// loseChange closes the connections of a change of which nothing has been kept: its servers roll it back.
func (cs *changes) loseChange(c *change, cause error) error {
	var gone []string
	kept := false
	for _, l := range c.loans {
		kept = kept || l.Kept
		if l.Conn.Net.PeerGone() {
			gone = append(gone, l.Node)
		}
	}
	cs.shards.loseAll(c.loans, nil)
	cs.client.shared.Log.Warn("backend connection lost", "conn", cs.client.id, "nodes", strings.Join(gone, ","), "error", cause)
	detail := ""
	if len(gone) > 0 {
		detail = "The connection to " + nodeList(gone) + " broke before the change was kept anywhere. It was not carried out."
	}
	return cs.leases.lostWith(newError(KSNotCarriedOut, detail), kept, cause)
}

// nodeList names nodes in an error.
func nodeList(names []string) string {
	if len(names) == 1 {
		return "node " + names[0]
	}
	return "nodes " + strings.Join(names, ", ")
}

// intend writes down a change of several nodes, which commits one after the other: should the proxy be killed in between, the record of it
// says that nobody knows which have it. The caller ends with HalfDone.End of what it returns.
func (cs *changes) intend(c *change) int {
	if len(c.loans) < 2 {
		return 0
	}
	all := make([]int, len(c.loans))
	for k := range all {
		all[k] = k
	}
	c.at = time.Now()
	return cs.client.shared.HalfDone.Begin(cs.halfDone(c, &outcome{unknown: all}))
}

// commitFailed ends a change that some nodes may have and others not.
func (cs *changes) commitFailed(c *change, o *outcome) error {
	cs.client.entry.Unpublish()
	stateful := false
	names := func(places []int) (list []string) {
		for _, k := range places {
			list = append(list, c.loans[k].Node)
		}
		return list
	}
	record := cs.halfDone(c, o)
	done, unknown, undone := names(o.done), names(o.unknown), names(o.undone)
	for _, k := range o.done {
		if l := &c.loans[k]; cs.shards.unhurried(l) {
			cs.giveBackHeld(c.loans[k : k+1])
		} else {
			l.Taint()
		}
	}
	for _, k := range append(o.unknown, o.undone...) {
		stateful = stateful || c.loans[k].Kept
		cs.shards.loseAll(c.loans[k:k+1], nil) // the server rolls back what it has not kept
	}
	cs.client.shared.Log.Error("a change of several nodes is not known to be kept on all of them", "conn", cs.client.id, "user", cs.client.entry.Name(),
		"kept", strings.Join(done, ","), "unknown", strings.Join(unknown, ","), "rolled_back", strings.Join(undone, ","), "error", o.cause)
	if len(record.Nodes) > 1 {
		cs.client.shared.HalfDone.Add(record)
	}
	var b strings.Builder
	b.WriteString("The change of several nodes is not known to be whole.")
	for _, part := range []struct {
		is    string
		nodes []string
	}{{"kept by", done}, {"unknown for", unknown}, {"rolled back by", undone}} {
		if len(part.nodes) > 0 {
			b.WriteString(" It is " + part.is + " " + nodeList(part.nodes) + ".")
		}
	}
	return cs.leases.lostWith(newError(KSBackendLost, b.String()), stateful, o.cause)
}

// halfDone makes the record of a change, with none of its values: those that a server's error may quote are left out, too.
func (cs *changes) halfDone(c *change, o *outcome) halfdone.Record {
	r := halfdone.Record{
		At: c.at, User: cs.client.entry.Name(), Client: string(querylog.AppendClient(nil, cs.client.from())), Session: cs.client.id, DB: cs.client.state.DB(),
		Statement: string(sqltext.AppendNormal(nil, c.text, cs.client.mode(), halfdone.StatementMax)),
	}
	outcomes := make([]string, len(c.loans))
	for _, part := range []struct {
		places []int
		is     string
	}{{o.done, halfdone.Kept}, {o.unknown, halfdone.Unknown}, {o.undone, halfdone.RolledBack}} {
		for _, k := range part.places {
			outcomes[k] = part.is
		}
	}
	for k := range c.loans {
		l := &c.loans[k]
		r.Nodes = append(r.Nodes, halfdone.Node{Name: l.Node, Addr: l.Instance.Addr, Thread: l.Conn.ThreadID, Outcome: outcomes[k]})
	}
	var sqlErr *mysql.SQLError
	switch {
	case errors.As(o.cause, &sqlErr):
		r.Cause = fmt.Sprintf("error %d (%s)", sqlErr.Code, sqlErr.State)
	case o.cause != nil:
		r.Cause = o.cause.Error()
	}
	return r
}
