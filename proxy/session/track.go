package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// errUnaskedInfile says that a server asked for a local file without a LOAD DATA LOCAL.
var errUnaskedInfile = errors.New("the server asked for a local file that no statement named")

// Types of session state changes. MySQL manual: "Session State Information".
const (
	trackSystemVariables = 0
	trackSchema          = 1
	trackStateChange     = 2
)

// track follows what the server reports of its session. The parsed statements are the first authority; a report that
// they do not explain, from inside a stored procedure say, is taken over where it can be and pins the connection else.
func (s *Session) track(p backend.Pooled, q *query, changes []byte) {
	c := mysql.NewCursor(changes)
	for c.Len() > 0 && c.Err() == nil {
		kind := c.Uint8()
		data := mysql.NewCursor(c.LenencBytes())
		switch kind {
		case trackSchema:
			if db := data.LenencBytes(); data.Err() == nil && string(db) != s.state.db {
				s.state.setDB(string(db))
				s.followedDB = true
			}
		case trackSystemVariables:
			for data.Len() > 0 && data.Err() == nil {
				name, value := string(data.LenencBytes()), string(data.LenencBytes())
				if data.Err() == nil {
					s.trackVariable(q, name, value)
				}
			}
		}
	}
}

// trackVariable takes over a variable that changed without a SET of the client.
func (s *Session) trackVariable(q *query, name, value string) {
	switch q.info.Class {
	case sqltext.Set, sqltext.SetStatement:
		return
	}
	name = canonicalName(name)
	switch {
	case name == "autocommit":
		value = onOff(value)
	case name == "character_set_connection":
		return // follows collation_connection, which is not reported
	}
	if known := s.state.value(name); known == value || known == "'"+value+"'" {
		return
	}
	s.pin(pinTracker)
	q.learns = true
}

func onOff(v string) string {
	if v == "ON" {
		return "1"
	}
	return "0"
}

// followDB makes the connection's setting follow a change of the current database that a statement caused.
func (s *Session) followDB(p backend.Pooled) {
	if s.followedDB {
		s.followedDB = false
		p.Key = s.state.current()
	}
}

// hideStateChange takes out of an OK packet that the session's state changed, where the client did not ask for that, and notes it.
func (s *Session) hideStateChange(ok *mysql.OKPacket) {
	c, t := mysql.NewCursor(ok.StateChanges), s.task()
	var kept []byte
	for c.Len() > 0 && c.Err() == nil {
		from := c.Pos()
		kind := c.Uint8()
		c.LenencBytes()
		if kind == trackStateChange {
			t.changed = true
			continue
		}
		t.visited = t.visited || kind == trackSchema
		kept = append(kept, ok.StateChanges[from:c.Pos()]...)
	}
	if !t.changed || c.Err() != nil || s.state.value("session_track_state_change") == "1" {
		return
	}
	if ok.StateChanges = kept; len(kept) == 0 {
		ok.Status &^= mysql.ServerSessionStateChanged
	}
}

// suspect keeps the connection after a statement of which nobody knew that it changes the state of its session: by a trigger, say, that
// was made a moment ago.
func (s *Session) suspect(p backend.Pooled, q *query) {
	visited := s.tasked.visited
	s.tasked.changed, s.tasked.visited = false, false
	switch q.info.Class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete,
		sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Do, sqltext.Show, sqltext.Explain, sqltext.Call:
	default:
		return
	}
	if q.info.Has(sqltext.Hint) { // which sets variables for the statement
		return
	}
	if q.reached == 0 {
		p.Instance.AskStored()
	}
	p.Conn.Marked = true
	if visited { // most likely nothing else, and perhaps for the one before, whose answer had no room to say so
		return
	}
	s.pin(pinTracker)
	s.pin(pinUserVariable)
	q.learns = s.sharing() == nil // else its state goes with the connection
}
