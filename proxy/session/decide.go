package session

import (
	"cmp"
	"errors"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/hotkeys"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// action is what is to be done with a statement that may run.
type action uint8

const (
	// actionProcedure is anything that takes more than one exchange with a server, that begins with a question to one, or that is about the
	// session itself. Only a goroutine runs it.
	actionProcedure action = iota
	// actionExchange is one exchange with a server of the node that the statement is routed to. Its text has the names that the server knows.
	actionExchange
	// actionShards is an exchange with each of the shards in the statement's route.
	actionShards
	// actionLookup is a question to an index over all shards, and then what it makes of the query, whose plan the statement has.
	actionLookup
)

// plainClass reports whether statements of a class are about rows and nothing else.
func plainClass(c sqltext.Class) bool {
	switch c {
	case sqltext.Select, sqltext.With, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete:
		return true
	}
	return false
}

// notPlain are the traits of statements that need more than one exchange with a backend, or a connection of their own.
const notPlain = stateful | own | diagnostics | sqltext.FoundRows | sqltext.LastInsertID | sqltext.SysVarIdentity | sqltext.Multi | sqltext.Body |
	sqltext.SystemSchema | sqltext.VersionComment

// plain reports whether a statement of a client whose current database is db is about rows of tables that clients have made, and about
// nothing that the session or its connection knows.
func (q *query) plain(db string) bool {
	if q.info.Traits&notPlain != 0 || !plainClass(q.info.Class) || state.FindsUnseen(q.info.Class, q.text) || sqltext.IsSystemSchema(db) {
		return false
	}
	if q.st != nil {
		return q.within == nil && !q.st.information && q.st.long == nil && !q.wantsCursor()
	}
	return !otherwiseElsewhere(q.text, &q.info)
}

// routing decides what becomes of a statement, and on which nodes and servers. It sends nothing and waits for nothing.
type routing struct {
	client  *client
	effects *effects
}

// decide says what is to be done with a statement that the client may send and the rules let pass. It sends nothing and waits for nothing:
// what it does not know yet makes the statement a procedure.
func (ro *routing) decide(q *query) (action, error) {
	if !ro.client.state.Resolved() || !q.plain(ro.client.state.DB()) {
		return actionProcedure, nil
	}
	if q.st != nil && !q.st.sharded || q.st == nil && (ro.client.schema.Plans == nil || ro.namesNode(q)) {
		return actionExchange, nil
	}
	p, known := ro.knownPlan(q)
	switch {
	case !known:
		return actionProcedure, nil
	case p == nil:
		return actionExchange, nil
	}
	n, err := ro.place(q, p)
	switch {
	case errors.Is(err, plan.ErrOwnText), errors.Is(err, plan.ErrDraws), composes(err), errors.Is(err, errKeeps):
		return actionProcedure, nil
	case errors.Is(err, errLooksUp):
		q.plan = p
		return actionLookup, nil
	case errors.Is(err, errReplan), errors.Is(err, errUnheard) && q.ids.drawn():
		ro.undraw(q)
		return actionProcedure, nil
	case errors.Is(err, errUnheard):
		return actionProcedure, nil
	}
	return n, err
}

// knownPlan finds the plan of a plain statement and binds it to the statement's values, unless an index has placed it so already. It is nil for a statement on no table with a rule.
// known is false where the plan has to be made first.
func (ro *routing) knownPlan(q *query) (p *plan.Plan, known bool) {
	if k := &ro.client.task().looking; k.placed {
		return k.plan, true
	}
	plans, l := ro.client.schema.Plans, ro.client.lookup()
	if q.st == nil {
		p, known = plans.known(l, q, ro.client.task().recognized.templateOf(q.text, ro.client.mode()), ro.client.state.DB(), ro.client.mode())
		ro.client.ahead().digested = known
		return p, known
	}
	if plans == nil || !q.st.planned(plans) {
		return nil, false
	}
	b, err := ro.bind(q.st, q.ex)
	if err != nil {
		return nil, false
	}
	l.execution.Bind(q.st.plan, b.args)
	return q.st.plan, true
}

// place finds the shards of a statement whose plan is bound to its values: q becomes the statement of one server, or has its route. An error is
// what the client hears, or [plan.ErrOwnText], [plan.ErrDraws], [plan.ErrTransfers], [plan.ErrPicks], errKeeps, errUnheard, errLooksUp or errReplan.
func (ro *routing) place(q *query, p *plan.Plan) (action, error) {
	if (p.Keeper != nil || len(p.Keeps())+len(p.Watches()) > 0) && !ro.client.task().composed {
		if p.Keeper != nil {
			return actionProcedure, keptByProxy(p.Keeper)
		}
		if !heard(&ro.client.shared.Indexes, p.Watches()) {
			return actionProcedure, errUnheard
		}
		if len(p.Keeps()) > 0 && !p.Composed() {
			return actionProcedure, errKeeps
		}
	}
	e := &ro.client.lookup().execution
	e.Locks = ro.client.task().composed
	e.ZeroStays, e.Apart = false, q.ids.drawn() && q.ids.replaces
	r, err := e.Route()
	if errors.Is(err, plan.ErrDraws) && zeroStays(ro.client) {
		e.ZeroStays = true
		r, err = e.Route()
	}
	if ro.looksUp(p, &r, err) {
		return actionProcedure, errLooksUp
	}
	switch {
	case errors.Is(err, plan.ErrDraws):
		return ro.placeDrawn(q, p)
	case errors.Is(err, plan.ErrOwnText), composes(err):
		return actionProcedure, err
	case err != nil:
		return actionProcedure, planError(err)
	}
	if err := ro.obeyNode(q, &r); err != nil {
		return actionProcedure, err
	}
	if largest, unknown := e.LargestID(), e.UnknownIDs(); (largest > 0 || unknown) && q.ids == nil {
		l := ro.client.lookup()
		l.ids = rowIDs{table: ro.sequenceTable(cmp.Or(p.GainsIDs(), p.Target.Table)), largest: largest, unknown: unknown, plainly: p.InsertsAll(), rows: e.InsertRows(), returning: p.Statement.Returning}
		l.ids.last, l.ids.brought = e.BringsIDs()
		q.ids = &l.ids
	}
	if r.One != nil {
		if hotkeys.Sampled() {
			countKeys(&ro.client.shared.HotKeys, e)
		}
		ro.oneShard(q, r.One, p)
		if !ro.client.task().composed {
			q.watched = p.Watches()
		}
		return actionExchange, nil
	}
	many := r // that a route for one server needs no memory of its own
	q.plan, q.route = p, &many
	return actionShards, nil
}
