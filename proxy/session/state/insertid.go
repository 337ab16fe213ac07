package state

import (
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

// InsertID is what a session knows of its LAST_INSERT_ID(). Connections are compared, and asked where that is said.
type InsertID struct {
	last uint64
	// on is the held connection if that alone knows, and last is an earlier one; else nil.
	on *backend.Conn
	// doubt says that the statement under way may have changed it, unseen.
	doubt bool
}

// InsertIDOf returns an InsertID that gives id.
func InsertIDOf(id uint64) InsertID { return InsertID{last: id} }

// Last returns what LAST_INSERT_ID() gives; an earlier value while OnlyOn has a connection.
func (i *InsertID) Last() uint64 { return i.last }

// OnlyOn returns the held connection that alone knows what LAST_INSERT_ID() gives; nil if there is none.
func (i *InsertID) OnlyOn() *backend.Conn { return i.on }

// Doubtful reports whether the statement under way may have changed it, unseen.
func (i *InsertID) Doubtful() bool { return i.doubt }

// Gives reports whether LAST_INSERT_ID() gives on c what it is to give.
func (i *InsertID) Gives(c *backend.Conn) bool {
	return i.on == nil && c.GivesInsertID(i.last) || i.on == c
}

// Queue queues what makes LAST_INSERT_ID() give the session's own value on c, which is known, ahead of the next command there.
func (i *InsertID) Queue(c *backend.Conn) {
	if !c.GivesInsertID(i.last) {
		c.QueueInsertID(i.last)
	}
}

// ReadsInsertID reports whether a statement may see LAST_INSERT_ID(), or set it in a way that only shows in comparison. reached is what stored
// objects that it reaches may do.
func ReadsInsertID(info *sqltext.Info, reached stored.Effects) bool {
	// A hint may set sql_auto_is_null.
	const traits = sqltext.LastInsertID | sqltext.SysVarIdentity | sqltext.Hint | sqltext.Stateful
	if info.Traits&traits != 0 || reached&stored.LastInsertID != 0 {
		return true
	}
	switch info.Class {
	case sqltext.Call, sqltext.CompoundBegin, sqltext.Execute, sqltext.SetStatement, sqltext.Set, sqltext.Do, sqltext.Other:
		return true
	}
	return false
}

// InsertsRows reports whether the OK packets of a class have an id that the statement may have given itself.
func InsertsRows(c sqltext.Class) bool {
	switch c {
	case sqltext.Insert, sqltext.Replace, sqltext.LoadData, sqltext.LoadDataLocal:
		return true
	}
	return false
}

// Answered notes what a response that is no error says of LAST_INSERT_ID(). c is the connection of the statement, reached what stored objects
// that it reaches may do, and given says that the id in the OK packet of one that inserts may be one that it has itself given.
func (i *InsertID) Answered(c *backend.Conn, info *sqltext.Info, reached stored.Effects, res *mysql.Response, given bool) {
	class := info.Class
	switch class {
	case sqltext.Select, sqltext.With, sqltext.Delete:
		if info.Traits&sqltext.LastInsertIDSet == 0 && reached&stored.State == 0 {
			return
		}
	}
	id := uint64(0)
	if res.Kind == mysql.ResponseOK {
		id = res.OK.LastInsertID
	}
	switch {
	case class == sqltext.Call, class == sqltext.Execute, class == sqltext.CompoundBegin, class == sqltext.SetStatement, class == sqltext.Other,
		info.Has(sqltext.Doubt), reached&stored.State != 0:
		i.doubt = true
	case info.Has(sqltext.LastInsertIDSet) && (class != sqltext.Update || id == 0), res.Kind != mysql.ResponseOK && InsertsRows(class):
		i.doubt = true
	case id == 0:
	case class != sqltext.Update && (!InsertsRows(class) || given):
		i.doubt = true
	default:
		*i = InsertID{last: id}
		c.NoteInsertID(id)
	}
}

// notInserted are the codes of errors by which one row is not inserted, nor anything else done. MySQL manual: "Server Error
// Message Reference".
var notInserted = map[uint16]bool{
	1048: true, 1054: true, 1062: true, 1064: true, 1136: true, 1146: true, 1205: true, 1213: true, 1264: true, 1292: true, 1364: true,
	1366: true, 1406: true, 1452: true,
}

// Failed notes what LAST_INSERT_ID() is after a statement that failed with the code of an error: rows that were inserted before count. m is
// how the text is read.
func (i *InsertID) Failed(info *sqltext.Info, text string, m sqltext.Mode, code uint16) {
	switch info.Class {
	case sqltext.Select, sqltext.With:
		if info.Traits&sqltext.LastInsertIDSet == 0 {
			return
		}
	case sqltext.Insert, sqltext.Replace:
		if notInserted[code] && !info.Has(sqltext.LastInsertIDSet) && !sqltext.MayInsertSome(text, m) {
			return
		}
	case sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Call, sqltext.Execute, sqltext.CompoundBegin, sqltext.SetStatement, sqltext.Other:
	default:
		if !info.Has(sqltext.LastInsertIDSet) {
			return
		}
	}
	i.doubt = true
}

// SettleInsertID finds out what LAST_INSERT_ID() is, if that is in doubt, before c goes to others; a connection that is kept may
// know it alone. An error is of a question: what it is nobody knows then.
func (st *State) SettleInsertID(c *backend.Conn, kept bool) error {
	i := &st.InsertID
	own := i.on == c
	if !i.doubt && (!own || kept) {
		return nil
	}
	doubt := i.doubt
	i.doubt = false
	had, known := c.InsertID()
	same := own || known && i.on == nil && had == i.last
	if kept && same {
		i.on = c
		c.DoubtInsertID()
		return nil
	}
	if kept && st.Found.on == c {
		if err := st.Found.Settle(c, false); err != nil { // the question finds a row
			return err
		}
	}
	id, err := c.ReadInsertID()
	if err != nil {
		return err
	}
	if same || doubt && (!known || id != had) {
		i.last, i.on = id, nil
	}
	return nil
}

// LearnInsertID asks held, the connection that the session keeps, nil without one, what LAST_INSERT_ID() is where that alone knows. asked
// reports that it was: other answers than the client's are the last there. An error is of the connection.
func (st *State) LearnInsertID(held *backend.Conn) (asked bool, err error) {
	i := &st.InsertID
	on := i.on
	i.on = nil
	if on == nil || held != on {
		return false, nil // it broke
	}
	if st.Found.on == on {
		if err := st.Found.Settle(on, false); err != nil {
			return true, err
		}
	}
	id, err := on.ReadInsertID()
	if err != nil {
		return true, err
	}
	st.Found.same = nil
	i.last = id
	return true, nil
}

// OfShard returns the id that a server made by its part of a change; 0 if it made none. Where mayGive says that the change may have given the
// ids of its rows, c, the connection of that part, is asked. An error is of the question.
func (i *InsertID) OfShard(c *backend.Conn, mayGive bool) (uint64, error) {
	least, latest, told := c.ToldInsertIDs()
	switch {
	case !told:
		return 0, nil
	case !mayGive:
		c.NoteInsertID(latest)
		return least, nil
	}
	id, err := c.ReadInsertID()
	if err != nil || id == i.last {
		return 0, err // it is as it was when the change began
	}
	return id, nil
}
