package session

import (
	"encoding/binary"
	"math"
	"strconv"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// LAST_INSERT_ID() is a session's, and each of the connections that it uses has one of its own. What the session's is now, an OK
// packet tells where the id was made by the server; where a statement may have given the id itself, or set it by
// LAST_INSERT_ID(expr), only the connection knows. A connection that the session keeps has the same one from its first
// statement on, so that views, routines, triggers and prepared texts see it, too; one that goes back at once has it where the
// statement can see it. MySQL manual: "Information Functions", "mysql_insert_id()".

// insertIDs is what a session knows of its LAST_INSERT_ID().
type insertIDs struct {
	last uint64
	// on is the held connection if that alone knows, and last is an earlier one; else nil.
	on *backend.Conn
	// doubt says that the statement under way may have changed it, unseen.
	doubt bool
}

// readsInsertID tells whether a statement may see LAST_INSERT_ID(), or set it in a way that only shows in comparison.
func readsInsertID(q *query) bool {
	// A hint may set sql_auto_is_null.
	const traits = sqltext.LastInsertID | sqltext.SysVarIdentity | sqltext.Hint | stateful
	if q.info.Traits&traits != 0 || q.reached&stored.LastInsertID != 0 {
		return true
	}
	switch q.info.Class {
	case sqltext.Call, sqltext.CompoundBegin, sqltext.Execute, sqltext.SetStatement, sqltext.Set, sqltext.Do, sqltext.Other:
		return true
	}
	return false
}

// insertsRows tells the classes whose OK packet has an id that the statement may have given itself.
func insertsRows(c sqltext.Class) bool {
	switch c {
	case sqltext.Insert, sqltext.Replace, sqltext.LoadData, sqltext.LoadDataLocal:
		return true
	}
	return false
}

// mayGiveID tells whether a statement that inserts may itself have given the id.
func (s *Session) mayGiveID(q *query, id uint64) bool {
	switch q.info.Class {
	case sqltext.Insert, sqltext.Replace:
		return sqltext.MayGiveID(q.text, s.mode(), id) || q.st != nil && q.ex.mayGiveID(q.st, id)
	}
	return true
}

// findsByNull reports whether "id IS NULL" finds the row with the last generated id. MySQL manual: "sql_auto_is_null".
func (st *state) findsByNull() bool {
	v := st.value("sql_auto_is_null")
	return v != "" && v != "0"
}

// lacksInsertID tells whether a statement on p must have LAST_INSERT_ID() set ahead of it.
func (s *Session) lacksInsertID(p backend.Pooled, q *query) bool {
	ids := &s.state.insertIDs
	isHeld := s.held.Pooled == p.Pooled
	if ids.on == nil && p.Conn.GivesInsertID(ids.last) || ids.on == p.Conn {
		return false
	}
	if isHeld || p.Conn.Status.Has(mysql.ServerStatusInTrans) || !s.state.autocommit || readsInsertID(q) || s.state.findsByNull() {
		return true
	}
	if !insertsRows(q.info.Class) {
		return false
	}
	// Whether the id in the answer was made by the server must show in what the connection has then.
	has, known := p.Conn.InsertID()
	return !known || has != 0 && s.mayGiveID(q, has)
}

// bringInsertID makes LAST_INSERT_ID() give the session's own value on a connection, if the statement may see that: by a command
// that is queued ahead of it.
func (s *Session) bringInsertID(p backend.Pooled, q *query) error {
	if !s.lacksInsertID(p, q) {
		return nil
	}
	return s.queueInsertID(p)
}

// queueInsertID queues what makes LAST_INSERT_ID() give the session's own value on a connection ahead of the next command there.
func (s *Session) queueInsertID(p backend.Pooled) error {
	ids := &s.state.insertIDs
	if ids.on == p.Conn {
		return nil
	}
	if err := s.learnHeldInsertID(); err != nil {
		return err
	}
	if !p.Conn.GivesInsertID(ids.last) {
		p.Conn.QueueInsertID(ids.last)
	}
	return nil
}

// learnHeldInsertID asks the held connection where it alone knows.
func (s *Session) learnHeldInsertID() error {
	ids := &s.state.insertIDs
	if ids.on == nil {
		return nil
	}
	on := ids.on
	ids.on = nil
	if s.held.Pooled == nil || s.held.Conn != on {
		return nil // it broke
	}
	if s.state.found.on == on {
		if err := s.settleFound(s.held, false); err != nil {
			return s.lostBefore(s.held, err)
		}
	}
	id, err := s.held.Conn.ReadInsertID()
	if err != nil {
		return s.lostBefore(s.held, err)
	}
	s.heldLast, s.state.found.same = false, nil
	ids.last = id
	return nil
}

// answeredInsertID notes what an answer says of LAST_INSERT_ID(): id is that of an OK packet, 0 in other answers.
func (s *Session) answeredInsertID(p backend.Pooled, q *query, res *mysql.Response) {
	class := q.info.Class
	switch class {
	case sqltext.Select, sqltext.With, sqltext.Delete:
		if q.info.Traits&sqltext.LastInsertIDSet == 0 && q.reached&stored.State == 0 {
			return
		}
	}
	ids := &s.state.insertIDs
	id := uint64(0)
	if res.Kind == mysql.ResponseOK {
		id = res.OK.LastInsertID
	}
	switch {
	case class == sqltext.Call, class == sqltext.Execute, class == sqltext.CompoundBegin, class == sqltext.SetStatement, class == sqltext.Other,
		q.info.Has(sqltext.Doubt), q.reached&stored.State != 0:
		ids.doubt = true
	case q.info.Has(sqltext.LastInsertIDSet) && (class != sqltext.Update || id == 0), res.Kind != mysql.ResponseOK && insertsRows(class):
		ids.doubt = true
	case id == 0:
	case class != sqltext.Update && (!insertsRows(class) || s.mayGiveID(q, id)):
		ids.doubt = true
	default:
		*ids = insertIDs{last: id}
		p.Conn.NoteInsertID(id)
	}
}

// notInserted are the codes of errors by which one row is not inserted, nor anything else done. MySQL manual: "Server Error
// Message Reference".
var notInserted = map[uint16]bool{
	1048: true, 1054: true, 1062: true, 1064: true, 1136: true, 1146: true, 1205: true, 1213: true, 1264: true, 1292: true, 1364: true,
	1366: true, 1406: true, 1452: true,
}

// failedInsertID keeps what LAST_INSERT_ID() is after a statement that failed: rows that were inserted before the error count.
func (s *Session) failedInsertID(q *query, e *mysql.SQLError) {
	switch q.info.Class {
	case sqltext.Select, sqltext.With:
		if q.info.Traits&sqltext.LastInsertIDSet == 0 {
			return
		}
	case sqltext.Insert, sqltext.Replace:
		if notInserted[e.Code] && !q.info.Has(sqltext.LastInsertIDSet) && !sqltext.MayInsertSome(q.text, s.mode()) {
			return
		}
	case sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Call, sqltext.Execute, sqltext.CompoundBegin, sqltext.SetStatement, sqltext.Other:
	default:
		if !q.info.Has(sqltext.LastInsertIDSet) {
			return
		}
	}
	s.state.insertIDs.doubt = true
}

// settleInsertID finds out what LAST_INSERT_ID() is, if that is in doubt, before p goes to others; a connection that is kept may
// know it alone.
func (s *Session) settleInsertID(p backend.Pooled, kept bool) error {
	ids := &s.state.insertIDs
	own := ids.on == p.Conn
	if !ids.doubt && (!own || kept) {
		return nil
	}
	doubt := ids.doubt
	ids.doubt = false
	had, known := p.Conn.InsertID()
	same := own || known && ids.on == nil && had == ids.last
	if kept && same {
		ids.on = p.Conn
		p.Conn.DoubtInsertID()
		return nil
	}
	if kept && s.state.found.on == p.Conn {
		if err := s.settleFound(p, false); err != nil { // the question finds a row
			return err
		}
	}
	id, err := p.Conn.ReadInsertID()
	if err != nil {
		return err
	}
	if same || doubt && (!known || id != had) {
		ids.last, ids.on = id, nil
	}
	return nil
}

// learnInsertIDFor makes sure that LAST_INSERT_ID() is known where a query of several connections may see it. It comes before they are
// borrowed: the held connection, on which it asks, may be found broken, and is ended then.
func (s *Session) learnInsertIDFor(q *query) error {
	if !readsInsertID(q) {
		return nil
	}
	return s.learnHeldInsertID()
}

// bringToLoans makes LAST_INSERT_ID() give the session's own value, which is known, on the connections of a query that may see it.
func (s *Session) bringToLoans(q *query, loans []loan) error {
	if !readsInsertID(q) {
		return nil
	}
	id := s.state.insertIDs.last
	for _, l := range loans {
		if l.Conn.GivesInsertID(id) {
			continue
		}
		if err := s.observed.Run(l.Pooled, s.state.db, "SET last_insert_id="+strconv.FormatUint(id, 10)); err != nil {
			return err
		}
		l.Conn.NoteInsertID(id)
	}
	return nil
}

// insertedOnShards finds what LAST_INSERT_ID() is after a change of several shards: the smallest of the ids that their servers made.
func (s *Session) insertedOnShards(q *query, loans []loan, ex *boundExecution) error {
	made := uint64(0)
	had := s.state.insertIDs.last
	for _, l := range loans {
		least, last, told := l.Conn.ToldInsertIDs()
		if !told {
			continue
		}
		if ex != nil || insertsRows(q.info.Class) && (s.mayGiveID(q, least) || s.mayGiveID(q, last)) {
			id, err := l.Conn.ReadInsertID()
			if err != nil {
				return err
			}
			if least = id; id == had {
				continue // it is as openChange left it
			}
		} else {
			l.Conn.NoteInsertID(last)
		}
		if made == 0 || least < made {
			made = least
		}
	}
	if made != 0 {
		s.state.insertIDs = insertIDs{last: made}
	}
	return nil
}

// mayGiveID tells whether a parameter may be the id of a row.
func (ex *execution) mayGiveID(st *stmt, id uint64) bool {
	if len(st.long) > 0 {
		return true
	}
	c := mysql.NewCursor(ex.values)
	for k := range st.params {
		if ex.bitmap[k/8]&(1<<(k%8)) != 0 {
			continue
		}
		if valueMayBeID(&c, mysql.ColumnType(ex.types[2*k]), id) {
			return true
		}
	}
	return c.Err() != nil
}

// valueMayBeID reads a value of the binary protocol and tells whether a server may take it for the number id.
func valueMayBeID(c *mysql.Cursor, t mysql.ColumnType, id uint64) bool {
	near := func(f float64) bool { return math.Abs(f-float64(id)) <= 1 }
	switch t {
	case mysql.TypeNull:
	case mysql.TypeTiny:
		return c.Uint8() == uint8(id)
	case mysql.TypeShort, mysql.TypeYear:
		return c.Uint16() == uint16(id)
	case mysql.TypeLong, mysql.TypeInt24:
		return c.Uint32() == uint32(id)
	case mysql.TypeLongLong:
		b := c.Bytes(8)
		return b == nil || binary.LittleEndian.Uint64(b) == id
	case mysql.TypeFloat:
		return near(float64(math.Float32frombits(c.Uint32())))
	case mysql.TypeDouble:
		b := c.Bytes(8)
		return b == nil || near(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeTime:
		c.Bytes(int(c.Uint8()))
	default:
		return sqltext.IsNumberID(alias(c.LenencBytes()), id)
	}
	return false
}
