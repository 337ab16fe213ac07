package session

import (
	"errors"
	"strconv"
	"strings"

	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/sequence"
	"kingshard/proxy/session/state"
	"kingshard/router"
	"kingshard/router/plan"
)

// Rows that leave their AUTO_INCREMENT column to a table of several shards get ids from the table's sequence before they have a shard: the INSERT
// becomes one that brings its ids, and goes on as any other. What the client hears of them afterwards, the OK packet's id and LAST_INSERT_ID(), is
// that of an INSERT whose server has made them. docs/design/ids.md tells more.

// rowIDs are the ids of the rows of an INSERT into a table that has a sequence. A nil one is of any other statement.
type rowIDs struct {
	table *sequence.Table
	// first to last are those that were drawn, spaced so; a first of 0: none were.
	first, last uint64
	spacing     sequence.Spacing
	// largest is that of those that the client brought, 0 without any; brought says that it brought all, of which last is that of the last row.
	largest uint64
	brought bool
	unknown bool // only a server knows some that the client brought
	// plainly says that each row is a new row of the table unless the statement fails; replaces that one may take the place of another, be left out
	// for it, or change it.
	plainly, replaces bool
	rows              int  // how many there are
	returning         bool // the answer is rows, at whose end no id is told
	// column is the one of the ids. newest is the least id of new rows of a statement that replaces, where that has been asked for.
	column   string
	newest   uint64
	sent     bool // the statement may have gone to a server
	collided bool // a server has one of them already, of which the client has not heard
	// st and ex are the client's, of an execution.
	st *stmt
	ex *execution
}

// drawn reports whether there are ids that the client did not bring.
func (ids *rowIDs) drawn() bool { return ids != nil && ids.first != 0 }

// idsBrought reports whether the client brought the ids of all rows.
func (q *query) idsBrought() bool { return q.ids != nil && q.ids.brought }

// idsSettled reports whether it is known what LAST_INSERT_ID() is after a statement, whatever its server makes of it: all ids are known, and nothing else
// in it gives one.
func (q *query) idsSettled() bool {
	return q.ids != nil && (q.ids.brought || q.ids.first != 0) && !q.info.Has(sqltext.LastInsertIDSet) && q.reached&stored.State == 0
}

// placeDrawn draws the ids that the rows of a statement need, and places the statement with them. Where they are not there it returns
// [plan.ErrDraws] and has changed nothing; errReplan says that q is another text now, which has no plan yet.
func (ro *routing) placeDrawn(q *query, p *plan.Plan) (action, error) {
	l := ro.client.lookup()
	n, replaces := l.execution.Draws(), !p.InsertsAll() || q.info.Class == sqltext.Replace
	if replaces && q.heldAloneTells(ro.client) {
		return actionProcedure, newError(KSRefusedSharding, "REPLACE, INSERT IGNORE or ON DUPLICATE KEY UPDATE that leaves the AUTO_INCREMENT column to the sharded table "+p.Target.Parsed.Name+
			", with FOUND_ROWS() or @@warning_count, which only the session's connection knows: SELECT them first")
	}
	t, spacing := ro.sequenceTable(p.Target.Table), idSpacing(&ro.client.state)
	seq := ro.client.shared.Sequences.Of(t)
	if given := l.execution.LargestID(); given > 0 {
		seq.Saw(t, given, spacing) // the ones that are drawn must not be among those that the statement brings
	}
	first, ok := seq.Take(t, n, spacing)
	if !ok {
		return actionProcedure, plan.ErrDraws
	}
	l.ids = rowIDs{
		table: t, first: first, last: first + uint64(n-1)*spacing.Increment, spacing: spacing, plainly: p.InsertsAll(), largest: l.execution.LargestID(), st: q.st, ex: q.ex,
		replaces: replaces, returning: p.Statement.Returning, rows: l.execution.InsertRows(), unknown: l.execution.UnknownIDs(), column: p.AutoIncrement(),
	}
	q.ids = &l.ids
	var err error
	if q.st != nil {
		p, err = ro.executeWithIDs(q)
	} else {
		p, err = ro.textWithIDs(q)
	}
	if err != nil {
		return actionProcedure, err
	}
	return ro.place(q, p)
}

// errReplan says that a statement is another text than that which was planned.
var errReplan = errors.New("the statement has another text now")

// textWithIDs puts ids into a statement's text, and returns the plan of that.
func (ro *routing) textWithIDs(q *query) (*plan.Plan, error) {
	l := ro.client.lookup()
	var err error
	if l.withIDs, err = l.execution.WithIDs(l.withIDs[:0], q.ids.first, q.ids.spacing.Increment); err != nil {
		return nil, planError(err)
	}
	q.text = alias(l.withIDs)
	p, known := ro.client.schema.Plans.known(l, q, nil, ro.client.state.DB(), ro.client.mode())
	if !known || p == nil {
		return nil, errReplan
	}
	return p, nil
}

// undraw makes a statement that was not sent again what it was before placeDrawn.
func (ro *routing) undraw(q *query) {
	q.ids.giveBack(&ro.client.shared.Sequences)
	q.withoutIDs()
}

// withoutIDs makes a statement again what it was before ids were drawn for it.
func (q *query) withoutIDs() {
	q.text = q.source
	if q.ids.st != nil {
		q.st, q.ex, q.text = q.ids.st, q.ids.ex, q.ids.st.text
	}
	q.ids, q.node, q.rename, q.plan, q.route, q.arrived = nil, nil, nil, nil, nil, false
}

// drawsMax is how often other ids are drawn for a statement.
const drawsMax = 3

// met reports whether an error says that one of the drawn ids is in the table already: a client brought it, or another proxy handed it out ahead of
// a fail-over.
func (ids *rowIDs) met(e *mysql.SQLError) bool {
	if e.Code != mysql.ERDupEntry || !ids.drawn() {
		return false
	}
	_, entry, _ := strings.Cut(e.Message, "'")
	entry, _, _ = strings.Cut(entry, "' for key ")
	for part := range strings.SplitSeq(entry, "-") { // of a key of several columns
		if id, err := strconv.ParseUint(part, 10, 64); err == nil && id >= ids.first && id <= ids.last {
			return true
		}
	}
	return false
}

// drawsAgain reports whether a statement, which ended with err, is to run again with other ids, and prepares it for that.
func (s *Session) drawsAgain(q *query, err error) bool {
	var refused *mysql.SQLError
	if q.draws == drawsMax || !q.ids.drawn() || !q.ids.collided && (!errors.As(err, &refused) || !q.ids.met(refused)) {
		return false
	}
	q.draws++
	s.client.shared.Sequences.Of(q.ids.table).Doubt()
	q.withoutIDs()
	return true
}

// placeWithIDs is place, which waits for the ids that the statement needs, and for what an index says of its rows.
func (s *Session) placeWithIDs(q *query, p *plan.Plan) (n action, err error) {
	for {
		n, err = s.routing.place(q, p)
		if errors.Is(err, errLooksUp) {
			if err := s.leases.lookUp(p); err != nil {
				return actionProcedure, err
			}
			continue
		}
		if !errors.Is(err, plan.ErrDraws) {
			return n, err
		}
		if err := s.leases.fillIDs(s.routing.sequenceTable(p.Target.Table), s.client.lookup().execution.Draws()); err != nil {
			return actionProcedure, err
		}
	}
}

// draw draws n ids, spaced as the session has it, and waits for them; the first is returned.
func (ls *leases) draw(t *sequence.Table, n int) (first uint64, err error) {
	for {
		first, ok := ls.client.shared.Sequences.Of(t).Take(t, n, idSpacing(&ls.client.state))
		if ok {
			return first, nil
		}
		if err := ls.fillIDs(t, n); err != nil {
			return 0, err
		}
	}
}

// fillIDs waits until n ids are there.
func (ls *leases) fillIDs(t *sequence.Table, n int) error {
	deadline := ls.client.entry.Now().Add(ls.client.snap.Config.PoolWaitTimeout.Duration())
	err := ls.client.shared.Sequences.Of(t).Fill(t, n, idSpacing(&ls.client.state), deadline, ls.client.entry.Cancelled())
	var refused *mysql.SQLError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	}
	return backendError(err)
}

// sequenceTable returns where a table has its ids from.
func (ro *routing) sequenceTable(t *router.Table) *sequence.Table {
	plans := ro.client.schema.Plans
	if found, ok := plans.sequences.Load(t); ok {
		return found.(*sequence.Table)
	}
	made, _ := plans.sequences.LoadOrStore(t, plans.sequenceTable(ro.client.snap.Config, t))
	return made.(*sequence.Table)
}

// nextID returns the id that a table's next row gets, as far as this process knows it; 0 if it does not.
func (ro *routing) nextID(t *router.Table) uint64 {
	if len(t.Shards) < 2 {
		return 0
	}
	return ro.client.shared.Sequences.Of(ro.sequenceTable(t)).Next()
}

// idStep is how many ids are reserved at a time.
const idStep = 1000

// idSpacing is how the ids of a statement follow each other, as far as the client has set that.
func idSpacing(st *state.State) sequence.Spacing {
	number := func(name string) uint64 {
		n := uint64(0)
		if v := st.Value(name); v != "" {
			n, _ = strconv.ParseUint(v, 10, 16)
		}
		return max(n, 1)
	}
	return sequence.Spacing{Increment: number("auto_increment_increment"), Offset: number("auto_increment_offset")}
}

// zeroStays reports whether 0 is a value of an AUTO_INCREMENT column as any other.
func zeroStays(c *client) bool {
	mode := c.state.Value("sql_mode")
	if mode == "" {
		if info := c.schema.Default.Info(); info != nil {
			mode = info.SQLMode
		}
	}
	return strings.Contains(strings.ToUpper(mode), "NO_AUTO_VALUE_ON_ZERO")
}

// told makes the id of an OK packet the one that one server would have told that made the ids itself.
func (ids *rowIDs) told(ok *mysql.OKPacket) {
	switch {
	case ids == nil, ids.returning:
	case ids.newest != 0:
		ok.LastInsertID = ids.newest
	case !ids.plainly:
	case ids.first != 0:
		ok.LastInsertID = ids.first
	case ids.brought:
		ok.LastInsertID = ids.last
	}
}

// ofLastRow returns the id that one server would tell of a statement of several rows that all bring ids, of which some are left out or change another:
// that of the last row, whether it is one of these or not, unless all are left out. id is what a shard told whose last row is row, from 1, and no shard
// with a later one told any.
func (ids *rowIDs) ofLastRow(row int, id uint64) uint64 {
	if ids != nil && ids.brought && row < ids.rows {
		return ids.last
	}
	return id
}

// tellIDs notes what a response, which is no error, says of the ids of an INSERT; told says that LAST_INSERT_ID() is known by that.
func (q *query) tellIDs(c *client, res *mysql.Response) (told bool) {
	if q.ids == nil || res.Kind != mysql.ResponseOK && res.Kind != mysql.ResponseRows {
		return false
	}
	if q.ids.unknown {
		c.shared.Sequences.Of(q.ids.table).Relearn(q.ids.table)
	} else if q.ids.largest > 0 {
		c.shared.Sequences.Of(q.ids.table).Saw(q.ids.table, q.ids.largest, idSpacing(&c.state))
	}
	switch {
	case q.ids.newest != 0:
		c.state.InsertID = state.InsertIDOf(q.ids.newest)
		return true
	case q.ids.drawn() && q.ids.inserted(res):
		c.state.InsertID = state.InsertIDOf(q.ids.first)
		return true
	}
	return q.idsSettled()
}

// inserted reports whether a response says that rows with drawn ids are in the table.
func (ids *rowIDs) inserted(res *mysql.Response) bool {
	if res.Kind == mysql.ResponseRows { // RETURNING
		return ids.plainly
	}
	changed := ids.rows == 1 && res.OK.AffectedRows == 2 // a row that was there, which may have got the drawn id by id = VALUES(id)
	return ids.plainly || res.OK.LastInsertID == ids.first && !changed
}

// aheadOfID are the codes of errors that a server finds before it makes an id. MySQL manual: "Server Error Message Reference".
var aheadOfID = map[uint16]bool{1048: true, 1054: true, 1064: true, 1136: true, 1146: true, 1264: true, 1265: true, 1292: true, 1364: true, 1366: true, 1406: true}

// failed gives an id back that a server would not have made, as an error with that code kept the statement from its row.
func (ids *rowIDs) failed(s *sequence.Sequences, code uint16) {
	if ids.drawn() && ids.first == ids.last && aheadOfID[code] {
		ids.giveBack(s)
	}
}

func (ids *rowIDs) giveBack(s *sequence.Sequences) {
	s.Of(ids.table).GiveBack(ids.first, ids.last, ids.spacing)
}
