package driver

import (
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn/twophase"
)

// all carries out what an audit asks for and what follows from the answers: together where one statement can.
func (r *resolving) all(todo []twophase.Action, answered func(twophase.Action, twophase.Answer) []twophase.Action) {
	for len(todo) > 0 {
		var next []twophase.Action
		for _, batch := range twophase.Batches(todo) {
			if batch[0].Do == twophase.DoReport {
				r.d.report(batch[0].Incident)
				continue
			}
			for k, answer := range r.together(batch) {
				next = append(next, answered(batch[k], answer)...)
			}
		}
		todo = next
	}
}

// together carries a batch out, and returns an answer to each of its actions.
func (r *resolving) together(batch []twophase.Action) []twophase.Answer {
	answers := make([]twophase.Answer, len(batch))
	n := r.d.node(batch[0].Node)
	var result twophase.Result
	rows := map[string]*twophase.Row{}
	if len(batch) > 1 {
		result = r.batch(n, batch, rows)
	}
	for k, a := range batch {
		answers[k] = twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: result, Row: rows[a.Row.Key]}
		// One that is in the way of the others, or a row that somebody may be about to commit.
		alone := result == twophase.Rejected || result == twophase.OK && a.Do == twophase.DoReadLocked && answers[k].Row == nil
		if len(batch) == 1 || alone {
			answers[k] = r.do(a)
		}
	}
	return answers
}

// batch carries several actions out by one statement, and adds the rows that it returns.
func (r *resolving) batch(n *backend.Node, batch []twophase.Action, rows map[string]*twophase.Row) twophase.Result {
	if n == nil {
		return twophase.NoAnswer
	}
	admin := r.admin(n)
	if admin == nil {
		return twophase.NoAnswer
	}
	admin.conn.Net.SetDeadline(time.Now().Add(adminTimeout))
	sql := twophase.Statement(batch)
	var err error
	if strings.HasPrefix(sql, "SELECT ") {
		err = admin.conn.Rows(sql, 5, func(columns []string) { rows[columns[0]] = rowOf(columns) })
	} else {
		err = admin.conn.Exec(sql)
	}
	result, _ := resultOf(err)
	if result == twophase.NoAnswer {
		clear(rows)
		r.lost(n)
	}
	return result
}

// seek looks on one node for branches that were committed and have no decision.
func (r *resolving) seek(n *backend.Node) {
	id := twophase.NodeIDOf(n.Name)
	for after, last := "", false; !last; {
		admin := r.admin(n)
		if admin == nil {
			return
		}
		list, err := admin.branches(id, after, time.Now().Add(adminTimeout))
		if err != nil {
			r.failed(n, err)
			return
		}
		if last = len(list) < listMax; !last {
			after = list[len(list)-1].Key
		}
		r.all(r.orphans.Listed(id, list), func(a twophase.Action, answer twophase.Answer) []twophase.Action {
			return r.orphans.Answered(a.XID, answer)
		})
	}
}
