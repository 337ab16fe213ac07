package session

import (
	"errors"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// What needs no node in particular does not wait for one: a login's database, SET, queries of constants. The default node is asked, and
// when its answer is late another one, too. The first answer counts, if it is sure to be the default node's. Queries go elsewhere only once
// the node is known to be late: while it is not they cost what others do.

// primaries lists those of the default node and of the session's other nodes that have been reached and for which alike holds.
func (ls *leases) primaries(alike func(*backend.Info) bool) []*backend.Instance {
	n := ls.client.schema.Default
	list := []*backend.Instance{n.Primary}
	for _, other := range ls.client.schema.Nodes {
		if info := other.Primary.Info(); other != n && info != nil && alike(info) {
			list = append(list, other.Primary)
		}
	}
	return list
}

// severally reports whether a question is asked of others than the first of the instances that can answer it, or waits for one that does.
func severally(instances func() []*backend.Instance) bool {
	if instances == nil {
		return false
	}
	now := backend.Answering(instances())
	return len(now) > 1 || now[0].State() == backend.Down
}

// anyServer is for questions that servers of all kinds answer alike.
func anyServer(*backend.Info) bool { return true }

// askAny asks a question, and makes the connection on which the answer has begun to come the one that the statement runs on. The
// caller ends with release, or with drop.
func (ls *leases) askAny(q backend.Question) (backend.Pooled, error) {
	if _, err := ls.gate(); err != nil {
		return backend.Pooled{}, err
	}
	now := time.Now()
	ls.client.observed.Ask(now.Sub(ls.client.entry.Since()))
	p, err := ls.client.shared.Asker.Ask(q, now.Add(ls.client.snap.Config.PoolWaitTimeout.Duration()), ls.client.entry.Cancelled())
	if err != nil {
		return backend.Pooled{}, err
	}
	if !ls.client.setRunning(p) {
		ls.drop(p)
		return backend.Pooled{}, interrupted()
	}
	return p, nil
}

// visit makes sure that there is a database, for a session that holds no connection. It has the word of the default node or, where that is
// late, what it said before. Another node's counts only while the default node has never told: who uses what it has not hears of it then.
func (se settings) visit(db string) error {
	i := se.client.schema.Default.Primary
	has, known := i.HasDatabase(db)
	if has && i.Late() {
		return nil
	}
	q := backend.Question{Setting: se.client.state.SettingIn(db), Command: mysql.ComInitDB, Argument: db, Brief: has, Waits: known && !has}
	q.Instances = func() []*backend.Instance {
		if known {
			return []*backend.Instance{i}
		}
		return se.leases.withTwins(i)
	}
	span := se.client.observed.OwnSpan(i, se.client.state.DB(), "USE")
	p, err := se.leases.askAny(q)
	if err == nil {
		err = p.Conn.ReadOK()
	}
	observe.EndSpan(span, err)
	var told *mysql.SQLError
	switch {
	case p.Pooled != nil && (err == nil || errors.As(err, &told)):
		se.leases.release(p)
	case p.Pooled != nil:
		se.leases.drop(p)
	}
	switch {
	case err == nil:
	case errors.As(err, &told):
		return told
	case (has || !known) && !errors.Is(err, pool.ErrCancelled):
	default:
		return backendError(err)
	}
	return nil
}

// judges lists the primaries that judge a SET as the default node's does, which is the first; nil where the SET is to run on the connection
// that it is of: it depends on the node, or on what only that connection has, or keeps that connection.
func (se settings) judges(q *query, assignments []sqltext.Assignment) func() []*backend.Instance {
	if len(se.client.schema.Nodes) < 2 || !se.routing.unattached(q) || se.leases.learnCharset() != nil {
		return nil
	}
	var same []string
	for _, a := range assignments {
		if !state.JudgedAnywhere(&a) {
			return nil
		}
		same = append(same, state.LeansOn(&a)...)
	}
	return func() []*backend.Instance { return alike(se.leases.withTwins(se.client.schema.Default.Primary), same) }
}

// unattached tells whether a statement may run on a connection to any server, as far as the session is concerned.
func (ro *routing) unattached(q *query) bool {
	const bound = stateful | diagnostics | sqltext.LastInsertID | sqltext.SysVarIdentity | sqltext.Multi | sqltext.Body | sqltext.SystemSchema | sqltext.VersionComment |
		sqltext.MasterHint | sqltext.Hint | sqltext.Param | sqltext.ForUpdate | sqltext.IntoOutfile
	return ro.client.txn.Free() && ro.client.sink == nil &&
		q.info.Traits&bound == 0 && q.info.NodeHint == "" && q.node == nil && q.verdict.Node == nil && q.attributes == nil && q.st == nil && ro.client.ahead().offer.Pooled == nil
}

// withTwins lists an instance and the primaries of other nodes that are of the same version and read texts alike. All are taken to until the
// default node was reached.
func (ls *leases) withTwins(i *backend.Instance) []*backend.Instance {
	own := ls.client.schema.Default.Info()
	list := ls.primaries(func(other *backend.Info) bool {
		return own == nil || other.Version == own.Version && other.SQLMode == own.SQLMode && other.LowerCaseTables == own.LowerCaseTables
	})
	if i != list[0] {
		list = slices.Insert(list, 0, i)
	}
	return list
}

// alike are those of the instances whose variables are known to be the first's, and the first.
func alike(instances []*backend.Instance, variables []string) []*backend.Instance {
	first := instances[0]
	return slices.DeleteFunc(instances, func(other *backend.Instance) bool {
		return other != first && slices.ContainsFunc(variables, func(name string) bool { return !state.StartsAlike(first, other, name) })
	})
}

// setAnywhere has a SET judged by whichever of the instances answers first, and adopts what it sets.
func (se settings) setAnywhere(q *query, judges func() []*backend.Instance, assignments []sqltext.Assignment) error {
	then := func(p backend.Pooled, failed bool) error {
		if failed {
			// Servers check all values before they set one: nothing has changed. The connection may be another node's, and is not kept.
			p.Conn.Marked = true
			return nil
		}
		if err := se.adopt(p, assignments); err != nil {
			return err
		}
		if se.client.txn.Pins != 0 {
			return errors.New("a variable's value cannot be brought to the default node")
		}
		return nil
	}
	p, err := se.leases.askAny(backend.Question{Instances: judges, Waits: true, Setting: se.client.state.Setting(), Command: mysql.ComQuery, Argument: strings.Clone(q.text), Leaves: true, Same: state.OfVersion})
	if err != nil {
		return backendError(err)
	}
	q.arrived = true
	_, err = se.exchanges.finishWith(p, q, se.exchanges.before(q), then)
	return err
}

// betterElsewhere tells whether a statement is a query that another node may answer as well as the target, which is late.
func (ro *routing) betterElsewhere(q *query, t txn.Target) bool {
	return len(ro.client.schema.Nodes) > 1 && q.info.Class == sqltext.Select && t.Instance(0).Late() && sqltext.Tableless(q.text, ro.client.mode())
}

// anywhere lists the instances that can answer what the target can, which is late and the first; nil where the answer may depend on the
// server.
func (xs *exchanges) anywhere(q *query, t txn.Target) func() []*backend.Instance {
	if len(xs.client.schema.Nodes) < 2 || q.info.Class != sqltext.Select && q.info.Class != sqltext.Show || !t.Instance(0).Late() || !xs.routing.unattached(q) {
		return nil
	}
	var names []string
	var ok bool
	if q.info.Class == sqltext.Select {
		names, ok = sqltext.Constant(q.text, xs.client.mode())
	} else {
		names, ok = sqltext.ShownVariables(q.text, xs.client.mode())
	}
	if !ok || xs.leases.learnCharset() != nil {
		return nil
	}
	i := t.Instance(0)
	return func() []*backend.Instance {
		return slices.DeleteFunc(xs.leases.withTwins(i), func(other *backend.Instance) bool {
			return other != i && slices.ContainsFunc(names, func(name string) bool { return !xs.client.state.SameOn(i, other, name) })
		})
	}
}

// forwardAnywhere gives the client the answer of whichever of the instances is first.
func (xs *exchanges) forwardAnywhere(t txn.Target, q *query, instances func() []*backend.Instance) (failed bool, err error) {
	p, err := xs.leases.askAny(backend.Question{Instances: instances, Waits: true, Setting: xs.client.state.Setting(), Command: mysql.ComQuery, Argument: strings.Clone(q.text), Same: state.OfVersion})
	if err != nil {
		return true, backendError(err)
	}
	q.arrived = true
	x := exchange{target: t, p: p, attempt: 1}
	xs.begun(&x, q)
	failed, _, err = xs.finish(&x, q)
	return failed, err
}
