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
		{"nothing", nil, false, false, "d"}, {"the same database", change(mysql.SessionTrackSchema, "d"), false, false, "d"}, {"a database", change(mysql.SessionTrackSchema, "e"), false, false, "e"},
		{"no database", change(mysql.SessionTrackSchema, ""), false, false, ""}, {"a variable as it is", change(mysql.SessionTrackSystemVariables, "sql_mode", "STRICT_TRANS_TABLES"), false, false, "d"},
		{"autocommit as it is", change(mysql.SessionTrackSystemVariables, "autocommit", "ON"), false, false, "d"}, {"autocommit", change(mysql.SessionTrackSystemVariables, "autocommit", "OFF"), false, true, "d"},
		{"autocommit by SET", change(mysql.SessionTrackSystemVariables, "autocommit", "OFF"), true, false, "d"}, {"a variable", change(mysql.SessionTrackSystemVariables, "time_zone", "+01:00"), false, true, "d"},
		{"one by its old name", change(mysql.SessionTrackSystemVariables, "tx_isolation", "SERIALIZABLE"), false, false, "d"},
		{"one that follows others", change(mysql.SessionTrackSystemVariables, "character_set_connection", "gbk"), false, false, "d"},
		{"the second of two", change(mysql.SessionTrackSystemVariables, "autocommit", "ON", "time_zone", "+01:00"), false, true, "d"},
		{"both", append(change(mysql.SessionTrackSchema, "e"), change(mysql.SessionTrackSystemVariables, "time_zone", "+01:00")...), false, true, "e"},
		{"what is cut off", change(mysql.SessionTrackSystemVariables, "time_zone"), false, false, "d"}, {"what is not known", append(change(9, "x"), change(mysql.SessionTrackSchema, "e")...), false, false, "e"},
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
	schema, something := change(mysql.SessionTrackSchema, "e"), change(mysql.SessionTrackStateChange, "1")
	gtids, zone := change(mysql.SessionTrackGTIDs, "\x00", "3e11fa47-71ca-11e1-9e33-c80aa9429562:7"), []string{"time_zone", "+01:00"}
	last := change(mysql.SessionTrackSystemVariables, "last_gtid", "0-1-7")
	for _, c := range []struct {
		name             string
		changes, want    []byte
		changed, visited bool
		asked, untracked bool
	}{
		{"committed", gtids, nil, false, false, false, false}, {"committed on MariaDB", last, nil, false, false, false, false},
		{"committed, asked for", gtids, gtids, false, false, true, false}, {"committed on MariaDB, asked for", last, last, false, false, true, false},
		{"committed and a variable", change(mysql.SessionTrackSystemVariables, append([]string{"last_gtid", "0-1-7"}, zone...)...), change(mysql.SessionTrackSystemVariables, zone...), false, false, false, false},
		{"committed, by the server's own setting", gtids, gtids, false, false, false, true}, {"committed on MariaDB, by the server's own setting", last, last, false, false, false, true},
		{"committed in another database", append(bytes.Clone(schema), gtids...), schema, false, true, false, false},
		{"a database", schema, schema, false, true, false, false}, {"something", something, nil, true, false, false, false},
		{"both", append(bytes.Clone(something), schema...), schema, true, true, false, false}, {"asked for", something, something, true, false, true, false},
		{"malformed", append(bytes.Clone(something), 1, 200), append(bytes.Clone(something), 1, 200), true, true, false, false},
	} {
		st := resolved(mysql84)
		if c.asked {
			for _, name := range []string{"session_track_state_change", "session_track_gtids", "session_track_system_variables"} {
				st.Set(name, "1")
			}
		}
		ok := &mysql.OKPacket{Status: mysql.ServerStatusAutocommit | mysql.ServerSessionStateChanged, StateChanges: c.changes}
		changed, visited := st.HideStateChange(ok, !c.untracked)
		if changed != c.changed || visited != c.visited || !bytes.Equal(ok.StateChanges, c.want) || ok.Status.Has(mysql.ServerSessionStateChanged) != (len(c.want) > 0) {
			t.Errorf("%s: %v %v %q %v", c.name, changed, visited, ok.StateChanges, ok.Status)
		}
	}
}
