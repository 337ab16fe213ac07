package plan

import (
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// Execution is one execution of a plan: its values, and the memory that its route is made in. A session has one and uses it
// for one statement after another, so that in the long run a statement for one server allocates nothing. What Route gives
// lives until the next Bind or BindText. The zero Execution is ready; it is not for several goroutines.
type Execution struct {
	values
	plan *Plan

	at        places
	buf       []byte // texts
	one       Query
	queries   []Query
	shards    []router.Shard
	tuple     []value.Value
	marks     []bool
	set       []int // positions
	byNode    []int // the positions of a merge, by node
	positions []int // by row of an INSERT
	next      []int // by row: the next one of the same shard, -1 behind the last
	heads     []int // by shard: its first row, -1 without one

	// ZeroStays says that 0 is no request for an id: sql_mode NO_AUTO_VALUE_ON_ZERO. The caller sets it ahead of Route.
	ZeroStays bool
	// Apart has an INSERT or a merge for one shard be a query of its own as those for several are, not the whole statement. The caller sets it ahead of Route.
	Apart bool
	// Locks says that the query is a part of a change: with a locking clause all rows that are collected are locked. The caller sets it ahead of Route.
	Locks bool
	ids   countedIDs
	// found are the positions that a lookup gave, once lookedUp says that it did.
	found    rule.Set
	lookedUp bool
	keys     map[router.Shard]Keys // of the physical tables that a definition is about, as far as they are known
}

// executionMax bounds the memory that an Execution keeps for the next one, in bytes, rows and shards alike.
const executionMax = 256 << 10

// Bind begins an execution with the values of the statement's parameters, in order; they belong to the caller.
func (e *Execution) Bind(p *Plan, args []value.Value) {
	e.begin(p)
	e.bound, e.digest, e.fold = args, nil, foldedRows{}
}

// BindText begins an execution of a text with the plan of its form. The text and its digest belong to the caller and stay as
// they are while the route is used. It returns false for a text that the plan does not serve.
func (e *Execution) BindText(p *Plan, sql string, d *sqltext.Digest) bool {
	e.begin(p)
	return e.read(p, sql, d) && p.settlesAll(&e.values)
}

func (e *Execution) begin(p *Plan) {
	e.plan, e.lookedUp = p, false
	e.ids.draws, e.ids.largest, e.ids.unknown = 0, 0, p.gainsIDs != nil
	clear(e.queries)
	e.buf, e.queries, e.shards = e.buf[:0], e.queries[:0], e.shards[:0]
}

// Release lets go of what the execution refers to, and of memory that is more than most statements need.
func (e *Execution) Release() {
	e.plan, e.values = nil, values{slots: e.slots}
	e.one = Query{}
	clear(e.queries)
	clear(e.shards)
	clear(e.tuple)
	if cap(e.buf) > executionMax || cap(e.slots) > executionMax/32 || cap(e.positions) > executionMax/8 || cap(e.queries) > executionMax/256 {
		*e = Execution{}
	}
}

// Route finds the shards for the values of one execution: those of the statement's parameters, in order.
func (p *Plan) Route(args []value.Value) (Route, error) {
	e := new(Execution)
	e.Bind(p, args)
	return e.Route()
}
