package session

import (
	"errors"
	"slices"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/router"
	"kingshard/router/plan"
)

// sharded runs a text that may name a sharded table. handled is false when it does not after all, or when it goes
// whole to one server: then q says where, and its text has the physical names.
func (s *Session) sharded(q *query) (handled, failed bool, err error) {
	p, handled, failed, err := s.textPlan(q)
	if p == nil || handled || err != nil {
		return handled, failed, err
	}
	n, err := s.placeWithIDs(q, p)
	if errors.Is(err, plan.ErrOwnText) {
		if p, err = s.client.schema.Plans.get(q.text, s.client.state.DB(), s.client.mode()); err == nil && p == nil {
			return false, false, nil
		}
		if err != nil {
			return true, true, planError(err)
		}
		s.client.lookup().execution.Bind(p, nil)
		n, err = s.placeWithIDs(q, p)
	}
	switch {
	case errors.Is(err, errKeeps):
		failed, err = composer{s}.keepIndexes(q.text, false)
		return true, failed, err
	case composes(err):
		failed, err = composer{s}.inParts(q, q.text)
		return true, failed, err
	case errors.Is(err, errUnheard):
		if q.ids.drawn() {
			s.routing.undraw(q)
		}
		if err := s.leases.hearOf(p); err != nil {
			return true, true, err
		}
		return s.sharded(q)
	case errors.Is(err, errReplan):
		return s.sharded(q)
	case err != nil:
		return true, true, planError(err)
	case n == actionShards:
		failed, err = s.manyShards(q)
		return true, failed, err
	}
	return false, false, nil
}

// textPlan gives the plan of a text that may name a sharded table, bound to the values in it; nil when it names none. handled says that the
// statement has been answered.
func (s *Session) textPlan(q *query) (p *plan.Plan, handled, failed bool, err error) {
	if s.routing.namesNode(q) {
		return nil, false, false, nil // the text has physical names already
	}
	if err := s.leases.learnCharset(); err != nil {
		return nil, true, true, err
	}
	if q.info.Has(sqltext.UserVarWrite) {
		switch q.info.Class {
		case sqltext.Select, sqltext.With:
			if handled, failed, err := s.selectInto(q); handled {
				return nil, true, failed, err
			}
		case sqltext.Explain:
			if into, ok := sqlparse.CutInto(q.text, s.client.mode()); ok {
				q.text = into.Text // the plan is the query's
			}
		}
	}
	plans := s.client.schema.Plans
	l := s.client.lookup()
	p, known, err := plans.find(l, q, s.client.task().recognized.templateOf(q.text, s.client.mode()), s.client.state.DB(), s.client.mode())
	if err != nil {
		return nil, true, true, s.leases.unreadable(q.text, err)
	}
	if !known {
		if !plans.mayConcern(q, s.client.state.DB(), s.client.mode()) {
			return nil, false, false, nil
		}
		c, err := s.routing.catalogOf(q.text, q.info.Class, s.client.mode(), s.client.state.DB())
		if err != nil {
			return nil, true, true, err
		}
		if c != nil {
			failed, err = s.exchanges.several().queries.catalog(q, c, nil)
			return nil, true, failed, err
		}
		if q.info.Class == sqltext.Show && mayAskCatalog(q.text, q.info.Class, s.client.mode(), s.client.state.DB()) {
			return nil, false, false, nil // about a database of the server's own
		}
		if p, err = plans.get(q.text, s.client.state.DB(), s.client.mode()); err != nil {
			return nil, true, true, s.leases.unreadable(q.text, err)
		}
		if p != nil {
			l.execution.Bind(p, nil)
		}
	}
	if p != nil && q.info.Class == sqltext.Explain {
		if q.info.Has(sqltext.Analyze) {
			failed, err := composer{s}.analyze(q, q.text)
			return nil, true, failed, err
		}
		return nil, true, false, s.explain(q.text, s.client.state.DB(), s.client.mode())
	}
	return p, false, false, nil
}

// namesNode reports whether a hint of the statement says which node it goes to.
func (ro *routing) namesNode(q *query) bool {
	return ro.client.account.Hints && q.info.NodeHint != "" && ro.client.schema.Nodes[q.info.NodeHint] != nil
}

// planned tells which classes of statements may name tables that have a plan.
func planned(c sqltext.Class) bool {
	switch c {
	case sqltext.Set, sqltext.Use, sqltext.Kill, sqltext.Begin, sqltext.Commit, sqltext.Rollback, sqltext.RollbackTo, sqltext.Savepoint,
		sqltext.ReleaseSavepoint, sqltext.XA:
		return false
	}
	return true
}

// oneShard makes q the statement of one server, with those of its values that this is sent.
func (ro *routing) oneShard(q *query, one *plan.Query, p *plan.Plan) {
	q.text = one.Text
	q.node = ro.client.schema.Nodes[one.Node]
	l := ro.client.lookup()
	l.names = l.names[:0]
	shards := one.Shards
	for _, r := range p.Refs {
		if r.Table.Rule == nil {
			continue
		}
		l.names = append(l.names, mysql.TableName{FromSchema: shards[0].DB, FromTable: shards[0].Table, Schema: r.Table.DB, Table: r.Table.Name,
			Node: shards[0].Node, Others: p.Others()})
		shards = shards[1:]
	}
	q.rename = l.names
	if _, described := p.Operator.(plan.Forward); described {
		q.rows = ro.shownNamesOf(p.Statement.Show, one.Shards[0], p.Mode)
	}
	if q.st == nil {
		return
	}
	if q.rows != nil {
		q.ex.flags &^= cursorTypes // rows that change go out at once
	}
	if len(one.Args) != q.st.params { // else the parameters are all there, in order: only the text differs
		q.st, q.ex = l.bound.pick(one.Args)
	}
}

// renames are the names that a client must not see, with the logical ones.
func renames(p *plan.Plan, shards []router.Shard) []mysql.TableName {
	var names []mysql.TableName
	for _, shard := range shards {
		for _, r := range p.Refs {
			if r.Table.Rule == nil || !contains(r.Table.Shards, shard) {
				continue
			}
			names = append(names, mysql.TableName{FromSchema: shard.DB, FromTable: shard.Table, Schema: r.Table.DB, Table: r.Table.Name, Node: shard.Node,
				Others: p.Others()})
			break
		}
	}
	return names
}

func contains(shards []router.Shard, s router.Shard) bool {
	for _, x := range shards {
		if x == s {
			return true
		}
	}
	return false
}

// unreadable returns what a client hears of a text that could not be planned: what a server that is asked to prepare it
// says of its syntax, character sets and collations, which runs nothing.
func (ls *leases) unreadable(text string, err error) error {
	if plan.IsRefusal(err) {
		return planError(err)
	}
	if refused, failure := refusedBy(ls, ls.client.schema.Default, text); failure == nil && refused != nil && ofParser[refused.Code] {
		return refused
	}
	return planError(err)
}

// refusedBy has a node's server prepare a text on a connection of its own, which runs nothing, and returns the error that the server has for it; nil if it has none. err says that it was not asked.
func refusedBy(ls *leases, node *backend.Node, text string) (refused *mysql.SQLError, err error) {
	p, err := ls.freshConn(node, nil)
	if err != nil {
		return nil, err
	}
	if _, err = p.Conn.Describe(text); err != nil && !errors.As(err, &refused) {
		p.Taint()
		return nil, err
	}
	p.Put()
	return refused, nil
}

// ofParser are the errors that servers give while they read a text: of its syntax, of a character set or collation that they do not have,
// and of a collation of another character set. MySQL manual: "Server Error Message Reference".
var ofParser = map[uint16]bool{mysql.ERParse: true, 1115: true, 1253: true, 1273: true}

// ofClientsText gives a server's syntax error in a text that the proxy made the words that a server has for the client's own text.
func (ls *leases) ofClientsText(err error, text string) error {
	var sqlErr *mysql.SQLError
	if err == nil || !errors.As(err, &sqlErr) || sqlErr.Code != mysql.ERParse {
		return err
	}
	var own *mysql.SQLError
	if errors.As(ls.unreadable(text, sqlErr), &own) && own.Code == mysql.ERParse {
		return own
	}
	return err
}

// planError turns a failure to plan into what the client hears.
func planError(err error) *mysql.SQLError {
	var own *mysql.SQLError
	if errors.As(err, &own) {
		return own
	}
	if plan.IsRefusal(err) {
		return newError(KSRefusedSharding, err.Error())
	}
	return newError(KSUnreadable, err.Error())
}

// manyShards runs a statement on the shards of its route.
func (s *Session) manyShards(q *query) (failed bool, err error) {
	p, r := q.plan, q.route
	var ex *boundExecution
	if q.st != nil {
		ex = &s.client.lookup().bound
	}
	s.client.observed.Spread(planOf(r.Operator), len(r.Queries))
	s.routing.notMirrored(q)
	if name := s.routing.heldValue(q); name != "" {
		return true, newError(KSTransactionNodes, name+" is set on the connection to node "+s.client.txn.Held().Instance.Node+": a statement on several shards cannot take values from it")
	}
	if !p.ReadOnly && q.heldAloneTells(&s.client) {
		if q.ids.drawn() {
			q.ids.giveBack(&s.client.shared.Sequences)
		}
		return true, newError(KSTransactionNodes, "FOUND_ROWS() or @@warning_count is known only to the connection to node "+s.client.txn.Held().Instance.Node+
			": a change of several shards cannot take it from there; SELECT it first")
	}
	if err := bringVariables(&s.leases, q); err != nil {
		if q.ids.drawn() {
			q.ids.giveBack(&s.client.shared.Sequences)
		}
		return true, err
	}
	switch r.Operator.(type) {
	case *plan.Merge:
		nodes := s.routing.nodesOf(r.Queries)
		return s.exchanges.several().shards.read(q, p, nodes, func() (bool, error) { return s.exchanges.several().queries.scatter(q, p, r, ex) })
	case *plan.Finish:
		var warned *state.Warning
		if !s.client.task().composed { // else it was asked about the whole
			if warned, err = crossShard(&s.client, q, p); err != nil {
				return true, err
			}
		}
		s.routing.chooseEnd(r.Finishing)
		nodes := s.routing.finishNodes(r.Finishing)
		return s.exchanges.several().shards.read(q, p, nodes, func() (bool, error) { return s.exchanges.several().queries.finishRoute(q, p, r, ex, warned) })
	case plan.Change, *plan.Insert:
		return s.exchanges.several().changes.writeMany(q, p, r, ex)
	case *plan.InsertSelect:
		return s.exchanges.several().changes.insertSelect(q, p, r, ex)
	case *plan.Choose:
		return s.exchanges.several().changes.chooseMany(q, p, r, ex)
	case *plan.Move:
		return s.exchanges.several().changes.moveMany(q, p, r, ex)
	case *plan.Load:
		return s.exchanges.several().changes.loadMany(q, p, r)
	case *plan.Each:
		return s.exchanges.several().definitions.eachShard(q, p, r)
	}
	return true, newError(KSRefusedSharding, p.Reason)
}

// nodesOf lists the nodes of queries in the order of the queries, each once.
func (ro *routing) nodesOf(queries []plan.Query) (nodes []*backend.Node) {
	nodes = make([]*backend.Node, 0, len(queries))
	for k := range queries {
		if n := ro.client.schema.Nodes[queries[k].Node]; !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
