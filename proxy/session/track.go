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
