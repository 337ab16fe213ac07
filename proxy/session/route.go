package session

import (
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// route decides where a statement goes: to the node that a query rule or a hint names, else the user's default node; to a replica only
// when it is a query without effects, or one whose functions a rule vouches for, outside of transactions, with autocommit on. What is sent to
// several shards borrowReaders sends to replicas.
func (ro *routing) route(q *query) txn.Target {
	info := &q.info
	t := txn.Target{Node: ro.client.schema.Default}
	master, hinted := info.Traits&sqltext.MasterHint != 0, false
	if ro.client.account.Hints {
		if n := ro.client.schema.Nodes[info.NodeHint]; n != nil && info.NodeHint != "" {
			t.Node, hinted = n, true
		}
	} else {
		master = false
	}
	if q.verdict.Primary || q.verdict.Replica {
		master = q.verdict.Primary
	}
	if n := ro.ruledNode(q); n != nil {
		t.Node, hinted = n, true
	}
	switch {
	case q.node != nil:
		t.Node = q.node
	case ro.client.txn.Holding() && !hinted && (info.Traits&(stateful|diagnostics) != 0 || info.Class == sqltext.Do || !tables(info.Class) || !ro.client.state.Autocommit):
		// What is about the transaction or the state goes where these are, unless it is about tables that are not there. What is about no table at all
		// begins no transaction on another node, with autocommit off.
		if n := ro.client.schema.Nodes[ro.client.txn.Held().Instance.Node]; n != nil && n != t.Node && !ro.atHome(q) {
			t.Node = n
		}
	}
	t.Stateless = info.Traits&stateful == 0 && stateless(info.Class) && ro.heldValue(q) == ""
	t.Reads = info.ReadOnly()
	if ro.client.txn.Holding() && ro.client.txn.LastOnHeld && info.Traits&diagnostics != 0 && t.Node.Name != ro.client.txn.Held().Instance.Node {
		t.Reads = false // what it asks of the last statement, only the held connection knows
	}
	if master || ro.client.sink.catches() || ro.client.tasked != nil && ro.client.tasked.composed || ro.client.txn.Holding() || !ro.client.state.Autocommit || ro.client.txn.Begin != "" || ro.client.txn.Next.IsSet() {
		return t
	}
	switch info.Class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		t.Replica = !q.wantsCursor() && (info.ReadOnly() || ruledToReplica(q)) && (len(t.Node.Replicas) == 0 || ro.effects.effectless(t.Node, q))
	}
	if t.Replica && len(t.Node.Replicas) > 0 {
		ro.freshness().bound(&t, q.text)
	}
	return t
}

// stateful are the traits of statements that use or leave state of their connection.
const stateful = sqltext.Stateful

// stateless tells of which classes a statement's traits tell all.
func stateless(c sqltext.Class) bool {
	switch c {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete,
		sqltext.Show, sqltext.Describe, sqltext.Explain:
		return true
	}
	return false
}

// tables tells which classes are about tables, and so about a node of their own.
func tables(c sqltext.Class) bool {
	switch c {
	case sqltext.DDL, sqltext.CreateTemporary, sqltext.LockTables, sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Call, sqltext.Other,
		sqltext.Truncate, sqltext.Admin, sqltext.DropTemporary, sqltext.Do:
		return true
	}
	return stateless(c)
}
