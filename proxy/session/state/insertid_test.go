package state

import (
	"encoding/binary"
	"math"
	"testing"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// An answer tells LAST_INSERT_ID(), leaves it, or leaves it in doubt.
func TestInsertIDAnswered(t *testing.T) {
	const (
		leaves = iota
		tells
		doubts
	)
	for _, c := range []struct {
		text    string
		reached stored.Effects
		res     *mysql.Response
		given   bool
		want    int
	}{
		{"INSERT INTO t VALUES (NULL)", 0, okOf(1, 5, ""), false, tells}, {"INSERT INTO t VALUES (5)", 0, okOf(1, 5, ""), true, doubts},
		{"INSERT INTO t VALUES (1)", 0, okOf(1, 0, ""), false, leaves}, {"REPLACE INTO t VALUES (NULL)", 0, okOf(1, 5, ""), false, tells},
		{"INSERT INTO t VALUES (NULL)", stored.State, okOf(1, 5, ""), false, doubts}, {"INSERT INTO t VALUES (LAST_INSERT_ID(5))", 0, okOf(1, 5, ""), false, doubts},
		{"INSERT INTO t VALUES (NULL) RETURNING a", 0, rowsOf(1), false, doubts}, {"LOAD DATA INFILE 'f' INTO TABLE t", 0, okOf(1, 5, ""), true, doubts},
		{"SELECT 1", 0, rowsOf(1), false, leaves}, {"SELECT LAST_INSERT_ID(5)", 0, rowsOf(1), false, doubts}, {"SELECT f()", stored.State, rowsOf(1), false, doubts},
		{"UPDATE t SET a = 1", 0, okOf(1, 0, ""), false, leaves}, {"UPDATE t SET a = LAST_INSERT_ID(5)", 0, okOf(1, 5, ""), false, tells},
		{"UPDATE t SET a = LAST_INSERT_ID(0)", 0, okOf(1, 0, ""), false, doubts}, {"DELETE FROM t", 0, okOf(1, 0, ""), false, leaves},
		{"CALL p()", 0, okOf(0, 0, ""), false, doubts}, {"EXECUTE s", 0, okOf(0, 0, ""), false, doubts}, {"SET autocommit = 1", 0, okOf(0, 0, ""), false, leaves},
		{"CREATE TABLE t SELECT 1", 0, okOf(1, 5, ""), false, doubts},
	} {
		info := sqltext.Classify(c.text, maria)
		conn, i := new(backend.Conn), InsertIDOf(3)
		i.Answered(conn, &info, c.reached, c.res, c.given)
		switch has, _ := conn.InsertID(); {
		case i.Doubtful() != (c.want == doubts):
			t.Errorf("%s: in doubt is %v", c.text, i.Doubtful())
		case c.want == tells && (i.Last() != 5 || has != 5), c.want != tells && (i.Last() != 3 || has != 0):
			t.Errorf("%s: %d, and %d on the connection", c.text, i.Last(), has)
		}
	}
}

// Rows that were inserted before an error count.
func TestInsertIDFailed(t *testing.T) {
	for _, c := range []struct {
		text string
		code uint16
		want bool // in doubt
	}{
		{"INSERT INTO t VALUES (1)", 1062, false}, {"INSERT INTO t VALUES (1)", 1180, true}, {"INSERT INTO t SELECT a FROM u", 1062, true},
		{"INSERT INTO t VALUES (LAST_INSERT_ID(5))", 1062, true}, {"SELECT 1", 1062, false}, {"SELECT LAST_INSERT_ID(5)", 1062, true}, {"CALL p()", 1062, true},
		{"LOAD DATA INFILE 'f' INTO TABLE t", 1062, true}, {"DELETE FROM t", 1062, false}, {"UPDATE t SET a = LAST_INSERT_ID(5)", 1062, true},
	} {
		var i InsertID
		info := sqltext.Classify(c.text, sqltext.Mode{})
		if i.Failed(&info, c.text, sqltext.Mode{}, c.code); i.Doubtful() != c.want {
			t.Errorf("%s failed by %d: in doubt is %v", c.text, c.code, i.Doubtful())
		}
	}
}

// Statements see LAST_INSERT_ID() by their text, by what they reach and by their class.
func TestReadsInsertID(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1": false, "SELECT LAST_INSERT_ID()": true, "SELECT @@identity": true, "SELECT @a": true, "INSERT INTO t VALUES (1)": false, "CALL p()": true, "SET autocommit = 1": true,
		"DO 1": true, "EXECUTE s": true, "SELECT /*+ SET_VAR(sql_auto_is_null = 1) */ 1": true, "UPDATE t SET a = 1": false,
	} {
		info := sqltext.Classify(text, sqltext.Mode{ServerVersion: 80400})
		if got := ReadsInsertID(&info, 0); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if !ReadsInsertID(&info, stored.LastInsertID) {
			t.Errorf("%s does not read it by a view", text)
		}
	}
}

// A connection that goes back is asked; one that is kept may know it alone, and is asked when another one needs it.
func TestSettleInsertID(t *testing.T) {
	c, server := connect(t, mysql84, map[string]string{"LAST_INSERT_ID()": "9", "FOUND_ROWS()": "2"})
	st := State{InsertID: InsertIDOf(3)}
	c.NoteInsertID(3)
	if err := st.SettleInsertID(c, false); err != nil || st.InDoubt() || !st.InsertID.Gives(c) {
		t.Errorf("%+v, %v", st.InsertID, err)
	}
	st.InsertID.doubt = true
	if err := st.SettleInsertID(c, true); err != nil || st.InsertID.OnlyOn() != c || !st.InsertID.Gives(c) || len(server.questions()) != 0 || !st.InDoubt() {
		t.Errorf("%+v, %v", st.InsertID, err)
	}
	st.Found.on, st.Found.same = c, c
	if asked, err := st.LearnInsertID(c); !asked || err != nil || st.InsertID.Last() != 9 || st.Found.Rows() != 2 || st.InDoubt() || st.Found.Gives(c) {
		t.Errorf("%+v, %v", st, err)
	}
	if asked := server.questions(); len(asked) != 2 || asked[0] != "SELECT FOUND_ROWS() LIMIT 1" {
		t.Errorf("asked %q", asked)
	}
	if asked, err := st.LearnInsertID(c); asked || err != nil {
		t.Errorf("asked though it is known: %v", err)
	}
	st.InsertID.on = c
	if asked, err := st.LearnInsertID(nil); asked || err != nil || st.InsertID.OnlyOn() != nil || st.InsertID.Last() != 9 {
		t.Errorf("a connection that broke: %v", err)
	}
	// One that goes back, whose own was another before: only a new one is the session's.
	c.NoteInsertID(9)
	st.InsertID = InsertID{last: 4, doubt: true}
	if err := st.SettleInsertID(c, false); err != nil || st.InsertID.Last() != 4 {
		t.Errorf("what the connection had before is taken: %+v, %v", st.InsertID, err)
	}
	c.NoteInsertID(8)
	st.InsertID.doubt = true
	if err := st.SettleInsertID(c, false); err != nil || st.InsertID.Last() != 9 {
		t.Errorf("%+v, %v", st.InsertID, err)
	}
	st.InsertID = InsertIDOf(6)
	if st.InsertID.Gives(c) {
		t.Error("the connection has another one")
	}
	if st.InsertID.Queue(c); !st.InsertID.Gives(c) {
		t.Error("what is queued does not count")
	}
	c.Close()
	st.InsertID.on = c
	if asked, err := st.LearnInsertID(c); !asked || err == nil {
		t.Error("the connection's failure is not told")
	}
}

// A shard's part of a change has made an id, or none.
func TestInsertIDOfShard(t *testing.T) {
	c, server := connect(t, mysql84, map[string]string{"LAST_INSERT_ID()": "9"})
	i := InsertIDOf(9)
	if id, err := i.OfShard(c, true); id != 0 || err != nil || len(server.questions()) != 0 {
		t.Errorf("%d, %v: nothing was told", id, err)
	}
	tell := func(id string) {
		server.set("LAST_INSERT_ID()", id)
		c.NoteInsertID(9)
		c.Command(mysql.ComQuery, "INSERT "+id)
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadChange(); err != nil {
			t.Fatal(err)
		}
		server.questions()
	}
	tell("20")
	if id, err := i.OfShard(c, false); id != 20 || err != nil || len(server.questions()) != 0 || !c.GivesInsertID(20) {
		t.Errorf("%d, %v: a server made it", id, err)
	}
	tell("21")
	if id, err := i.OfShard(c, true); id != 21 || err != nil || len(server.questions()) != 1 {
		t.Errorf("%d, %v: it is asked", id, err)
	}
	tell("22")
	server.set("LAST_INSERT_ID()", "9")
	if id, err := i.OfShard(c, true); id != 0 || err != nil {
		t.Errorf("%d, %v: it was given", id, err)
	}
}

// A parameter of any type may be the number.
func TestAnyIsID(t *testing.T) {
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		kind      mysql.ColumnType
		is, other []byte
	}{
		"tiny": {mysql.TypeTiny, []byte{7}, []byte{8}}, "short": {mysql.TypeShort, []byte{7, 0}, []byte{7, 1}}, "long": {mysql.TypeLong, []byte{7, 0, 0, 0}, []byte{7, 0, 0, 1}},
		"longlong": {mysql.TypeLongLong, le.AppendUint64(nil, 7), le.AppendUint64(nil, 8)}, "float": {mysql.TypeFloat, le.AppendUint32(nil, math.Float32bits(7)), le.AppendUint32(nil, math.Float32bits(9))},
		"double": {mysql.TypeDouble, le.AppendUint64(nil, math.Float64bits(7.5)), le.AppendUint64(nil, math.Float64bits(9))},
		"text":   {mysql.TypeVarString, []byte("\x017"), []byte("\x018")}, "date": {mysql.TypeDate, nil, []byte{4, 1, 2, 3, 4}},
	} {
		types := []byte{byte(mysql.TypeTiny), 0, byte(c.kind), 0}
		if c.is != nil && !AnyIsID(2, []byte{0}, types, append([]byte{1}, c.is...), 7) {
			t.Errorf("%s: not found", name)
		}
		if AnyIsID(2, []byte{0}, types, append([]byte{1}, c.other...), 7) {
			t.Errorf("%s: another one is taken for it", name)
		}
		if AnyIsID(2, []byte{2}, types, []byte{1}, 7) {
			t.Errorf("%s: NULL is taken for it", name)
		}
	}
	if !AnyIsID(1, []byte{0}, []byte{byte(mysql.TypeLong), 0}, []byte{1}, 7) {
		t.Error("what cannot be read may be anything")
	}
}
