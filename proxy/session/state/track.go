package state

import "kingshard/mysql"

// Track follows what a server reports of its session in an OK packet. Statements whose texts were read are the first authority. isSet says
// that the statement is a SET, whose variables are asked for. unexplained reports a variable that has changed otherwise, from inside a stored
// procedure say: its connection has it alone.
func (st *State) Track(changes []byte, isSet bool) (unexplained bool) {
	c := mysql.NewCursor(changes)
	for c.Len() > 0 && c.Err() == nil {
		kind := c.Uint8()
		data := mysql.NewCursor(c.LenencBytes())
		switch kind {
		case mysql.SessionTrackSchema:
			if db := data.LenencBytes(); data.Err() == nil && string(db) != st.db {
				st.SetDB(string(db))
				st.followed = true
			}
		case mysql.SessionTrackSystemVariables:
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
	case lastGTID:
		return true // of the log, and not of the session
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

// lastGTID is the variable of MariaDB that has the GTID of what a session committed last.
const lastGTID = "last_gtid"

// HideStateChange takes out of an OK packet what the proxy has servers tell and the client did not ask for: that the session's state changed, and what
// was committed, where tracked says that the proxy has it tell. changed reports that the state did, and visited that the current database was reported.
func (st *State) HideStateChange(ok *mysql.OKPacket, tracked bool) (changed, visited bool) {
	c := mysql.NewCursor(ok.StateChanges)
	var kept []byte
	for c.Len() > 0 && c.Err() == nil {
		from := c.Pos()
		kind := c.Uint8()
		data := c.LenencBytes()
		switch kind {
		case mysql.SessionTrackStateChange:
			changed = true
			if st.Value("session_track_state_change") != "1" {
				continue
			}
		case mysql.SessionTrackGTIDs:
			if tracked && st.Value("session_track_gtids") == "" {
				continue
			}
		case mysql.SessionTrackSystemVariables:
			if tracked && st.Value("session_track_system_variables") == "" {
				kept = appendVariables(kept, data)
				continue
			}
		case mysql.SessionTrackSchema:
			visited = true
		}
		kept = append(kept, ok.StateChanges[from:c.Pos()]...)
	}
	if c.Err() != nil || len(kept) == len(ok.StateChanges) {
		return changed, visited
	}
	if ok.StateChanges = kept; len(kept) == 0 {
		ok.Status &^= mysql.ServerSessionStateChanged
	}
	return changed, visited
}

// appendVariables appends variables with their new values, but for lastGTID, as a change of a session's state.
func appendVariables(b, data []byte) []byte {
	var rest []byte
	for c := mysql.NewCursor(data); c.Len() > 0 && c.Err() == nil; {
		from := c.Pos()
		name := c.LenencBytes()
		if c.LenencBytes(); string(name) != lastGTID {
			rest = append(rest, data[from:c.Pos()]...)
		}
	}
	if len(rest) == 0 {
		return b
	}
	return mysql.AppendLenencString(append(b, mysql.SessionTrackSystemVariables), rest)
}
