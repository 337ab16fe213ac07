package state

import (
	"bytes"
	"testing"

	"kingshard/mysql"
)

// change encodes a session state change.
func change(kind byte, texts ...string) []byte {
	var data []byte
	for _, text := range texts {
		data = mysql.AppendLenencString(data, text)
	}
	return mysql.AppendLenencString([]byte{kind}, data)
}

// A database that a statement has changed by itself is the session's; a variable that changed unseen is its connection's.
func TestTrack(t *testing.T) {
	for _, c := range []struct {
		name        string
		changes     []byte
		isSet       bool
		unexplained bool
		db          string
	}{
		{"nothing", nil, false, false, "d"}, {"the same database", change(TrackSchema, "d"), false, false, "d"}, {"a database", change(TrackSchema, "e"), false, false, "e"},
		{"no database", change(TrackSchema, ""), false, false, ""}, {"a variable as it is", change(TrackSystemVariables, "sql_mode", "STRICT_TRANS_TABLES"), false, false, "d"},
		{"autocommit as it is", change(TrackSystemVariables, "autocommit", "ON"), false, false, "d"}, {"autocommit", change(TrackSystemVariables, "autocommit", "OFF"), false, true, "d"},
		{"autocommit by SET", change(TrackSystemVariables, "autocommit", "OFF"), true, false, "d"}, {"a variable", change(TrackSystemVariables, "time_zone", "+01:00"), false, true, "d"},
		{"one by its old name", change(TrackSystemVariables, "tx_isolation", "SERIALIZABLE"), false, false, "d"},
		{"one that follows others", change(TrackSystemVariables, "character_set_connection", "gbk"), false, false, "d"},
		{"the second of two", change(TrackSystemVariables, "autocommit", "ON", "time_zone", "+01:00"), false, true, "d"},
		{"both", append(change(TrackSchema, "e"), change(TrackSystemVariables, "time_zone", "+01:00")...), false, true, "e"},
		{"what is cut off", change(TrackSystemVariables, "time_zone"), false, false, "d"}, {"what is not known", append(change(9, "x"), change(TrackSchema, "e")...), false, false, "e"},
	} {
		st := resolved(mysql84)
		st.SetDB("d")
		st.Set("transaction_isolation", "'SERIALIZABLE'")
		setting := st.Setting()
		unexplained := st.Track(c.changes, c.isSet)
		if unexplained != c.unexplained || st.DB() != c.db || st.Setting() == setting != (c.db == "d") {
			t.Errorf("%s: unexplained %v, database %q", c.name, unexplained, st.DB())
		}
		if followed := st.Followed(); followed != (c.db != "d") || st.Followed() {
			t.Errorf("%s: followed %v", c.name, followed)
		}
	}
}

// That something changed is for the proxy, unless the client has asked for it; what changed is for the client.
func TestHideStateChange(t *testing.T) {
	schema, something := change(TrackSchema, "e"), change(TrackStateChange, "1")
	for _, c := range []struct {
		name             string
		changes, want    []byte
		changed, visited bool
		asked            bool
	}{
		{"a database", schema, schema, false, true, false}, {"something", something, nil, true, false, false},
		{"both", append(bytes.Clone(something), schema...), schema, true, true, false}, {"asked for", something, something, true, false, true},
		{"malformed", append(bytes.Clone(something), 1, 200), append(bytes.Clone(something), 1, 200), true, true, false},
	} {
		st := resolved(mysql84)
		if c.asked {
			st.Set("session_track_state_change", "1")
		}
		ok := &mysql.OKPacket{Status: mysql.ServerStatusAutocommit | mysql.ServerSessionStateChanged, StateChanges: c.changes}
		changed, visited := st.HideStateChange(ok)
		if changed != c.changed || visited != c.visited || !bytes.Equal(ok.StateChanges, c.want) || ok.Status.Has(mysql.ServerSessionStateChanged) != (len(c.want) > 0) {
			t.Errorf("%s: %v %v %q %v", c.name, changed, visited, ok.StateChanges, ok.Status)
		}
	}
}
