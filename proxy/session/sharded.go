package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// sharded runs a statement that may name a sharded table. handled is false when it does not after all, or when it goes
// whole to one server: then q says where, and its text has the physical names.
func (s *Session) sharded(q *query) (handled, failed bool, err error) {
	if s.account.Hints && q.info.NodeHint != "" && s.schema.Nodes[q.info.NodeHint] != nil {
		return false, false, nil // a hint names the node: the text has physical names already
	}
	if err := s.learnCharset(s.schema.Default); err != nil {
		return true, true, err
	}
	if q.info.Has(sqltext.UserVarWrite) {
		switch q.info.Class {
		case sqltext.Select, sqltext.With:
			if handled, failed, err := s.selectInto(q); handled {
				return true, failed, err
			}
		case sqltext.Explain:
			if into, ok := sqlparse.CutInto(q.text, s.mode()); ok {
				q.text = into.Text // the plan is the query's
			}
		}
	}
	plans := s.schema.Plans
	l := s.lookup()
	p, known, err := plans.find(l, q, s.task().recognized.templateOf(q.text, s.mode()), s.state.db, s.mode())
	if err != nil {
		return true, true, s.unreadable(q.text, err)
	}
	if !known {
		if !plans.mayConcern(q, s.state.db, s.mode()) {
			return false, false, nil
		}
		c, err := s.catalogOf(q.text, q.info.Class, s.mode(), s.state.db)
		if err != nil {
			return true, true, err
		}
		if c != nil {
			failed, err = s.catalog(q, c, nil)
			return true, failed, err
		}
		if q.info.Class == sqltext.Show && mayAskCatalog(q.text, q.info.Class, s.mode(), s.state.db) {
			return false, false, nil // about a database of the server's own
		}
		if p, err = plans.get(q.text, s.state.db, s.mode()); err != nil {
			return true, true, s.unreadable(q.text, err)
		}
		if p != nil {
			l.execution.Bind(p, nil)
		}
	}
	if p == nil {
		return false, false, nil
	}
	if q.info.Class == sqltext.Explain {
		return true, false, s.explain(q.text, s.state.db, s.mode())
	}
	r, err := l.execution.Route()
	if errors.Is(err, plan.ErrOwnText) {
		if p, err = plans.get(q.text, s.state.db, s.mode()); err == nil && p == nil {
			return false, false, nil
		}
		if err == nil {
			l.execution.Bind(p, nil)
			r, err = l.execution.Route()
		}
	}
	if err != nil {
		return true, true, s.planError(err)
	}
	if err := s.obeyNode(q, &r); err != nil {
		return true, true, err
	}
	if r.One != nil {
		s.oneShard(q, r.One, p)
		return false, false, nil
	}
	many := r // that a route for one server needs no memory of its own
	failed, err = s.manyShards(q, p, &many, nil)
	return true, failed, err
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

// mentions tells whether a text has a word in it, in any case.
func mentions(text, word string) bool {
	for k := 0; k+len(word) <= len(text); k++ {
		if text[k]|0x20 == word[0]|0x20 && strings.EqualFold(text[k:k+len(word)], word) {
			return true
		}
	}
	return false
}

// oneShard makes q the statement of one server.
func (s *Session) oneShard(q *query, one *plan.Query, p *plan.Plan) {
	q.text = one.Text
	q.node = s.schema.Nodes[one.Node]
	l := s.lookup()
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
	if p.Many == plan.ManyFirst {
		q.rows = s.shownNamesOf(p.Statement.Show, one.Shards[0], p.Mode)
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
func (s *Session) unreadable(text string, err error) error {
	if plan.IsRefusal(err) {
		return s.planError(err)
	}
	p, failure := s.freshConn(s.schema.Default, nil)
	if failure != nil {
		return s.planError(err)
	}
	_, failure = p.Conn.Describe(text)
	var refused *mysql.SQLError
	if failure != nil && !errors.As(failure, &refused) {
		p.Taint()
		return s.planError(err)
	}
	p.Put()
	if refused != nil && ofParser[refused.Code] {
		return refused
	}
	return s.planError(err)
}

// ofParser are the errors that servers give while they read a text: of its syntax, of a character set or collation that they do not have,
// and of a collation of another character set. MySQL manual: "Server Error Message Reference".
var ofParser = map[uint16]bool{mysql.ERParse: true, 1115: true, 1253: true, 1273: true}

// ofClientsText gives a server's syntax error in a text that the proxy made the words that a server has for the client's own text.
func (s *Session) ofClientsText(err error, text string) error {
	var sqlErr *mysql.SQLError
	if err == nil || !errors.As(err, &sqlErr) || sqlErr.Code != mysql.ERParse {
		return err
	}
	var own *mysql.SQLError
	if errors.As(s.unreadable(text, sqlErr), &own) && own.Code == mysql.ERParse {
		return own
	}
	return err
}

// planError turns a refusal of the planner into what the client hears.
func (s *Session) planError(err error) *mysql.SQLError { return planError(err) }

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

// manyShards runs a statement on several shards.
func (s *Session) manyShards(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	s.spread(r)
	s.notMirrored(q)
	if s.pins.has(pinUserVariable) && q.info.Has(sqltext.UserVarRead) {
		return true, newError(KSTransactionNodes, "a user variable has a value that only the connection to node "+s.held.Instance.Node+
			" knows: a statement on several shards cannot read it; SET it to a literal")
	}
	if name := s.heldValue(q); name != "" {
		return true, newError(KSTransactionNodes, name+" is set on the connection to node "+s.held.Instance.Node+": a statement on several shards cannot take values from it")
	}
	switch r.Many {
	case plan.ManyMerge:
		return s.underNext(func() (bool, error) {
			return s.onShards(q, p.ReadOnly, func() (bool, error) { return s.scatter(q, p, r, ex) })
		})
	case plan.ManyFinish:
		return s.underNext(func() (bool, error) {
			return s.onShards(q, p.ReadOnly, func() (bool, error) { return s.finishRoute(q, p, r, ex) })
		})
	case plan.ManyWrite, plan.ManyInsert:
		return s.writeMany(q, p, r, ex)
	case plan.ManyChoose:
		return s.chooseMany(q, p, r, ex)
	case plan.ManyLoad:
		return s.loadMany(q, p, r)
	case plan.ManyEach:
		return s.eachShard(q, p, r)
	}
	return true, newError(KSRefusedSharding, p.Reason)
}

// nodesOf lists the nodes of queries in the order of the queries, each once.
func (s *Session) nodesOf(queries []plan.Query) (nodes []*backend.Node) {
	nodes = make([]*backend.Node, 0, len(queries))
	for k := range queries {
		if n := s.schema.Nodes[queries[k].Node]; !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
