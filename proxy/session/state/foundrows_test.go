package state

import (
	"testing"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// maria is how MariaDB reads texts.
var maria = sqltext.Mode{MariaDB: true, ServerVersion: 101100}

// rowsOf and okOf are responses.
func rowsOf(n uint64) *mysql.Response { return &mysql.Response{Kind: mysql.ResponseRows, Rows: n} }

func okOf(affected, id uint64, info string) *mysql.Response {
	return &mysql.Response{Kind: mysql.ResponseOK, OK: mysql.OKPacket{AffectedRows: affected, LastInsertID: id, Info: []byte(info)}}
}

// Each kind of statement sets FOUND_ROWS(), leaves it, or leaves it to be asked for, as the two servers do.
func TestFoundRowsAnswered(t *testing.T) {
	const (
		leaves = -1
		asks   = -2
	)
	for _, c := range []struct {
		text         string
		res          *mysql.Response
		mysql, maria int
	}{
		{"SELECT a FROM t", rowsOf(3), 3, 3}, {"SELECT a FROM t WHERE 0", rowsOf(0), 0, 0}, {"WITH q AS (SELECT 1) SELECT * FROM q", rowsOf(1), 1, 1},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1", rowsOf(1), asks, asks}, {"SELECT a INTO @a FROM t", okOf(1, 0, ""), 1, asks},
		{"TABLE t", rowsOf(4), 4, leaves}, {"DESCRIBE t", rowsOf(2), 2, 2}, {"SHOW TABLES", rowsOf(5), 5, 5}, {"SHOW FULL TABLES", rowsOf(5), 5, 5},
		{"SHOW CREATE TABLE t", rowsOf(1), leaves, leaves}, {"SHOW GRANTS", rowsOf(1), leaves, leaves}, {"SHOW WARNINGS", rowsOf(2), leaves, leaves},
		{"SHOW COUNT(*) WARNINGS", rowsOf(1), 1, 1}, {"EXPLAIN SELECT a FROM t", rowsOf(1), leaves, leaves}, {"EXPLAIN ANALYZE SELECT a FROM t", rowsOf(1), asks, leaves},
		{"INSERT INTO t VALUES (1)", okOf(1, 0, ""), leaves, leaves}, {"INSERT INTO t VALUES (1), (2)", okOf(2, 0, "Records: 2  Duplicates: 0  Warnings: 0"), leaves, leaves},
		{"INSERT INTO t SELECT a FROM u", okOf(2, 0, "Records: 4  Duplicates: 2  Warnings: 0"), 4, asks}, {"INSERT INTO t VALUES ((SELECT a FROM u))", okOf(1, 0, ""), asks, asks},
		{"REPLACE INTO t SELECT a FROM u", okOf(2, 0, "Records: 2  Duplicates: 0  Warnings: 0"), 2, asks},
		{"UPDATE t SET a = 1", okOf(1, 0, "Rows matched: 6  Changed: 1  Warnings: 0"), 6, leaves}, {"UPDATE t SET a = (SELECT 1)", okOf(1, 0, "Rows matched: 6  Changed: 1  Warnings: 0"), asks, asks},
		{"UPDATE t, u SET t.a = 1", okOf(1, 0, "Rows matched: 6  Changed: 1  Warnings: 0"), asks, asks}, {"DELETE FROM t", okOf(3, 0, ""), leaves, leaves},
		{"DELETE FROM t WHERE a IN (SELECT a FROM u)", okOf(3, 0, ""), asks, leaves}, {"DELETE t FROM t JOIN u", okOf(3, 0, ""), asks, asks}, {"DELETE QUICK t FROM t", okOf(3, 0, ""), asks, asks},
		{"CREATE TABLE t SELECT 1", okOf(1, 0, "Records: 1  Duplicates: 0  Warnings: 0"), leaves, 1}, {"CREATE TABLE t (a INT)", okOf(0, 0, ""), leaves, leaves},
		{"DO 1", okOf(0, 0, ""), 1, leaves}, {"DO (SELECT 1)", okOf(0, 0, ""), 1, asks}, {"SET @a = 1", okOf(0, 0, ""), leaves, leaves}, {"SET @a = (SELECT 1)", okOf(0, 0, ""), leaves, asks},
		{"CALL p()", okOf(0, 0, ""), asks, asks}, {"CALL p()", rowsOf(2), asks, asks}, {"EXECUTE s", rowsOf(2), asks, asks}, {"BEGIN", okOf(0, 0, ""), leaves, leaves},
	} {
		for _, mode := range []sqltext.Mode{{ServerVersion: 80400}, maria} {
			want := c.mysql
			if mode.MariaDB {
				want = c.maria
			}
			info := sqltext.Classify(c.text, mode)
			if c.text == "TABLE t" && mode.MariaDB {
				continue // which it does not know
			}
			if c.text == "EXPLAIN ANALYZE SELECT a FROM t" && mode.MariaDB {
				continue // ANALYZE alone
			}
			f := FoundRowsOf(77)
			f.Answered(new(backend.Conn), &info, c.text, mode, c.res)
			switch {
			case want == asks && !f.doubt, want != asks && f.doubt:
				t.Errorf("%s on MariaDB %v: in doubt is %v", c.text, mode.MariaDB, f.doubt)
			case want == leaves && f.Rows() != 77, want >= 0 && f.Rows() != uint64(want):
				t.Errorf("%s on MariaDB %v: %d", c.text, mode.MariaDB, f.Rows())
			}
		}
	}
}

// An INSERT of a query without tables that fails by its values has found nothing, on MariaDB alone.
func TestFoundRowsFailed(t *testing.T) {
	for _, c := range []struct {
		text  string
		maria bool
		code  uint16
		want  uint64
	}{
		{"INSERT INTO t SELECT 1", true, 1062, 0}, {"INSERT INTO t SELECT 1", false, 1062, 77}, {"INSERT INTO t SELECT 1", true, 1064, 77},
		{"INSERT INTO t SELECT a FROM u", true, 1062, 77}, {"INSERT INTO t VALUES (1)", true, 1062, 77}, {"UPDATE t SET a = (SELECT 1)", true, 1062, 77},
	} {
		f := FoundRowsOf(77)
		f.fresh = true
		info := sqltext.Classify(c.text, maria)
		if f.Failed(info.Class, c.text, c.maria, c.code); f.Rows() != c.want || f.fresh != (c.want == 0) {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// What a SET has found, MySQL tells of behind the next change on that connection, or EXPLAIN.
func TestFoundRowsHidden(t *testing.T) {
	const set = "SET @a = (SELECT 1)"
	for text, res := range map[string]*mysql.Response{
		"DELETE FROM t": okOf(0, 0, ""), "INSERT INTO t VALUES (1)": okOf(1, 0, ""), "EXPLAIN SELECT 1": rowsOf(1),
	} {
		setting, info := sqltext.Classify(set, sqltext.Mode{}), sqltext.Classify(text, sqltext.Mode{})
		c, other := new(backend.Conn), new(backend.Conn)
		var f FoundRows
		f.Answered(c, &setting, set, sqltext.Mode{}, okOf(0, 0, ""))
		f.Known(c, true)
		if f.Answered(other, &info, text, sqltext.Mode{}, res); f.doubt {
			t.Errorf("%s is in doubt on another connection", text)
		}
		if f.Unknown() != (info.Class != sqltext.Explain) {
			t.Errorf("%s: unknown is %v behind one on another connection", text, f.Unknown())
		}
		if f.Answered(c, &info, text, sqltext.Mode{}, res); !f.doubt {
			t.Errorf("%s is not in doubt on the connection", text)
		}
		f.doubt = false
		f.Known(nil, false)
		if f.Answered(c, &info, text, sqltext.Mode{}, res); f.doubt {
			t.Errorf("%s is in doubt behind a connection that went back", text)
		}
		if f.Unknown() != (info.Class != sqltext.Explain) {
			t.Errorf("%s: unknown is %v behind a connection that went back", text, f.Unknown())
		}
		if f.Found(1); f.Unknown() {
			t.Error("unknown behind a query")
		}
		for what, happens := range map[string]func(){
			"another connection is held": func() { f.Known(other, true) },
			"the connection is asked":    func() { _ = f.Settle(c, false) },
		} {
			f = FoundRows{}
			f.Answered(c, &setting, set, sqltext.Mode{}, okOf(0, 0, ""))
			f.Known(c, true)
			happens()
			if f.Answered(c, &info, text, sqltext.Mode{}, res); f.Unknown() != (info.Class != sqltext.Explain) {
				t.Errorf("%s, %s: unknown is %v", what, text, f.Unknown())
			}
		}
	}
}

// A connection that the session keeps goes on knowing FOUND_ROWS(); one that goes back is asked.
func TestFoundRowsSettle(t *testing.T) {
	c, server := connect(t, mysql84, map[string]string{"FOUND_ROWS()": "12"})
	var st State
	f := &st.Found
	if err := f.Settle(c, false); err != nil || len(server.questions()) != 0 || st.InDoubt() {
		t.Errorf("one that is known is asked for: %v", err)
	}
	f.doubt = true
	if !st.InDoubt() {
		t.Error("not in doubt")
	}
	if err := f.Settle(c, true); err != nil || f.OnlyOn() != c || !f.Gives(c) || !st.InDoubt() || len(server.questions()) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if err := f.Settle(new(backend.Conn), false); err != nil || f.OnlyOn() != c {
		t.Errorf("another connection that goes back ends it: %v", err)
	}
	if err := f.Settle(c, false); err != nil || f.OnlyOn() != nil || f.Rows() != 12 || st.InDoubt() || f.Gives(c) {
		t.Errorf("%+v, %v", f, err)
	}
	f.doubt = true
	if f.Told(); st.InDoubt() {
		t.Error("in doubt though all was told")
	}
	f.doubt = true
	c.Close()
	if err := f.Settle(c, false); err == nil {
		t.Error("the connection's failure is not told")
	}
}

// The held connection gives what the session does as long as nothing else was sent on it.
func TestFoundRowsGives(t *testing.T) {
	c, other := new(backend.Conn), new(backend.Conn)
	var f FoundRows
	f.Found(3)
	if f.Known(c, true); !f.Gives(c) || f.Gives(other) {
		t.Error("the connection that has found them gives something else")
	}
	if f.Known(c, true); !f.Gives(c) {
		t.Error("a statement that finds nothing changes it")
	}
	if f.Overwritten(); f.Gives(c) {
		t.Error("it gives them though it was asked for others")
	}
	f.Found(4)
	if f.Known(c, false); f.Gives(c) {
		t.Error("it gives what another one has found")
	}
	f.FoundBy([]byte("Rows matched: 15  Changed: 3  Warnings: 0"))
	if f.Rows() != 15 {
		t.Errorf("%d rows", f.Rows())
	}
	for _, text := range []string{"", "Rows", "Rows matched: x ", "Rows matched: "} {
		if f.FoundBy([]byte(text)); f.Rows() != 15 {
			t.Errorf("%q: %d rows", text, f.Rows())
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		f.Found(1)
		f.Known(c, true)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Words in long texts are found as clients write them.
func TestFindsUnseen(t *testing.T) {
	long := make([]byte, 300)
	for k := range long {
		long[k] = ' '
	}
	for text, want := range map[string]bool{
		"UPDATE t SET a = 1": false, "UPDATE t SET a = (sElEcT 1)": true, "UPDATE t, u SET a = 1": true, "UPDATE t SET a = 1, b = 2": false, "UPDATE t JOIN u SET a = 1": true,
		"DELETE FROM t": false, "DELETE FROM t USING t": true, "DELETE LOW_PRIORITY IGNORE FROM t": false, "DELETE t FROM t": true,
		"UPDATE t SET a = 1" + string(long) + "(SELECT 1)": true, "UPDATE t SET a = 1" + string(long) + "(Select 1)": true, "INSERT INTO t SELECT 1": false,
	} {
		if got := FindsUnseen(sqltext.Classify(text, sqltext.Mode{}).Class, text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
