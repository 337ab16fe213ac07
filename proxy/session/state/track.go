package state

import "kingshard/mysql"

// Types of session state changes. MySQL manual: "Session State Information".
const (
	// TrackSystemVariables is a variable with its new value.
	TrackSystemVariables = 0
	// TrackSchema is a new current database.
	TrackSchema = 1
	// TrackStateChange says that something of the session's state changed, without what.
	TrackStateChange = 2
)

// Track follows what a server reports of its session in an OK packet. Statements whose texts were read are the first authority. isSet says
// that the statement is a SET, whose variables are asked for. unexplained reports a variable that has changed otherwise, from inside a stored
// procedure say: its connection has it alone.
func (st *State) Track(changes []byte, isSet bool) (unexplained bool) {
	c := mysql.NewCursor(changes)
	for c.Len() > 0 && c.Err() == nil {
		kind := c.Uint8()
		data := mysql.NewCursor(c.LenencBytes())
		switch kind {
		case TrackSchema:
			if db := data.LenencBytes(); data.Err() == nil && string(db) != st.db {
				st.SetDB(string(db))
				st.followed = true
			}
		case TrackSystemVariables:
			for data.Len() > 0 && data.Err() == nil {
				name, value := string(data.LenencBytes()), string(data.LenencBytes())
				if data.Err() == nil && !isSet && !st.explains(name, value) {
					unexplained = true
				}
			}
		}
	}
	return unexplained
}

// explains reports whether a variable's value is what the session knows it to be.
func (st *State) explains(name, value string) bool {
	name = canonicalName(name)
	switch name {
	case "autocommit":
		if value == "ON" {
			value = "1"
		} else {
			value = "0"
		}
	case "character_set_connection":
		return true // follows collation_connection, which is not reported
	}
	known := st.Value(name)
	return known == value || known == "'"+value+"'"
}

// Followed reports whether Track has changed the current database since it was asked last. The connection that the statement ran on carries
// what Setting returns then.
func (st *State) Followed() bool {
	followed := st.followed
	st.followed = false
	return followed
}

// HideStateChange takes out of an OK packet that the session's state changed, where the client did not ask for that. changed reports that it
// did, and visited that the current database was reported.
func (st *State) HideStateChange(ok *mysql.OKPacket) (changed, visited bool) {
	c := mysql.NewCursor(ok.StateChanges)
	var kept []byte
	for c.Len() > 0 && c.Err() == nil {
		from := c.Pos()
		kind := c.Uint8()
		c.LenencBytes()
		if kind == TrackStateChange {
			changed = true
			continue
		}
		visited = visited || kind == TrackSchema
		kept = append(kept, ok.StateChanges[from:c.Pos()]...)
	}
	if !changed || c.Err() != nil || st.Value("session_track_state_change") == "1" {
		return changed, visited
	}
	if ok.StateChanges = kept; len(kept) == 0 {
		ok.Status &^= mysql.ServerSessionStateChanged
	}
	return changed, visited
}
