package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// drawn are INSERTs that leave ids to their table, with what they are when ids from 100 on are drawn. n is the AUTO_INCREMENT column of seq,
// which has id as its key, and of own, which has n as its key.
var drawn = []struct{ text, with string }{
	{"insert into seq (id, a) values (1, 2)", "insert into seq (`n`, id, a) values (100, 1, 2)"},
	{"INSERT INTO `seq` ( id,a )VALUES(1,2),(3 , 4) , ( 5,6)", "INSERT INTO `seq` (`n`,  id,a )VALUES(100, 1,2),(101, 3 , 4) , (102,  5,6)"},
	{"insert into seq values (null, 1, 2)", "insert into seq values (100, 1, 2)"},
	{"insert into seq values (default, 1, 2), (7, 2, 2), (0, 3, 2), ('0', 3, 2), (0.4, 5, 5)", "insert into seq values (100, 1, 2), (7, 2, 2), (101, 3, 2), (102, 3, 2), (103, 5, 5)"},
	{"insert into seq (a, n, id) value (1, NULL, 2)", "insert into seq (a, n, id) value (1, 100, 2)"},
	{"insert into seq set id = 1, a = 2", "insert into seq set `n` = 100,  id = 1, a = 2"},
	{"replace into kingshard.seq (id) values (1), (2)", "replace into kingshard.seq (`n`, id) values (100, 1), (101, 2)"},
	{"insert ignore into seq (id) values (1) on duplicate key update a = values(a) + (1)", "insert ignore into seq (`n`, id) values (100, 1) on duplicate key update a = values(a) + (1)"},
	{"insert into own (a) values (1), ((2)), ('(x), (y')", "insert into own (`n`, a) values (100, 1), (101, (2)), (102, '(x), (y')"},
	{"insert into own () values ()", "insert into own (`n`) values (100)"},
	{"insert into own values ()", "insert into own (`n`) values (100)"},
	{"insert into own () values (), ()", "insert into own (`n`) values (100), (101)"},
	{"insert into own partition (p0) values ()", "insert into own partition (p0) (`n`) values (100)"},
	{"insert into own partition (p0) (a) values (5)", "insert into own partition (p0) (`n`, a) values (100, 5)"},
	{"insert into own /* (a) values (3) */ (a) -- set\n values (5)", "insert into own /* (a) values (3) */ (`n`, a) -- set\n values (100, 5)"},
	{"insert into own (a, n) values (1, DEFAULT), (2, -5), (3, 1 + 1)", "insert into own (a, n) values (1, 100), (2, -5), (3, 1 + 1)"},
}

func TestDrawnIDs(t *testing.T) {
	r := testRouter(t)
	for _, tt := range drawn {
		for _, form := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.text, form), func(t *testing.T) {
				e := new(Execution)
				var d sqltext.Digest
				if form {
					if !d.Scan(tt.text, mysql8) {
						t.Fatal("it has no digest")
					}
					text, ok := Form(tt.text, &d)
					if !ok {
						return // it is planned by itself
					}
					st, err := parse(text, r, mysql8)
					if err != nil {
						t.Fatal(err)
					}
					st.Form = true
					p, err := Build(st, mysql8, r, "kingshard", typed)
					if err != nil {
						return
					}
					if !e.BindText(p, tt.text, &d) {
						t.Fatal("the text is not its form")
					}
				} else {
					p, err := build(tt.text, r, typed)
					if err != nil {
						t.Fatal(err)
					}
					e.Bind(p, nil)
				}
				if _, err := e.Route(); !errors.Is(err, ErrDraws) {
					t.Fatal(err)
				}
				got, err := e.WithIDs(nil, 100, 1)
				if err != nil || string(got) != tt.with || e.Draws() != strings.Count(tt.with, "10")-strings.Count(tt.text, "10") {
					t.Fatalf("%s, %v; it draws %d", got, err, e.Draws())
				}
				again, err := build(tt.with, r, typed)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := again.Route(nil); err != nil {
					t.Errorf("with its ids: %v", err)
				}
			})
		}
	}
}

// The ids of executions of prepared statements are parameters.
func TestDrawnParams(t *testing.T) {
	r := testRouter(t)
	for _, tt := range []struct {
		text, with string
		args, ids  string
	}{
		{"insert into seq (id, a) values (?, ?)", "insert into seq (`n`, id, a) values (?, ?, ?)", "[-1 0 1]", "[0]"},
		{"insert into seq (id, a) values (?, ?), (?, ?) on duplicate key update a = ?", "insert into seq (`n`, id, a) values (?, ?, ?), (?, ?, ?) on duplicate key update a = ?", "[-1 0 1 -1 2 3 4]", "[0 3]"},
		{"insert into seq (id, n, a) values (?, ?, ?)", "insert into seq (id, n, a) values (?, ?, ?)", "[0 1 2]", "[1]"},
		{"insert into seq (id, n, a) values (?, ?, ?), (?, default, ?), (?, 8, ?)", "insert into seq (id, n, a) values (?, ?, ?), (?, ?, ?), (?, 8, ?)", "[0 1 2 3 -1 4 5 6]", "[1 4 -1]"},
		{"insert into seq set id = ?, a = ?", "insert into seq set `n` = ?,  id = ?, a = ?", "[-1 0 1]", "[0]"},
		{"insert into seq set id = ?, n = ?", "insert into seq set id = ?, n = ?", "[0 1]", "[1]"},
		{"insert into own () values ()", "insert into own (`n`) values (?)", "[-1]", "[0]"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			p, err := build(tt.text, r, typed)
			if err != nil {
				t.Fatal(err)
			}
			e := new(Execution)
			e.Bind(p, make([]value.Value, strings.Count(tt.text, "?"))) // NULLs
			if _, err := e.Route(); !errors.Is(err, ErrDraws) {
				t.Fatal(err)
			}
			got, err := e.IDParams()
			if err != nil || got.Text != tt.with || fmt.Sprint(got.Args) != tt.args || fmt.Sprint(got.IDs) != tt.ids {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// What is no id is refused, and what an INSERT gives is known.
func TestGivenIDs(t *testing.T) {
	r := testRouter(t)
	for _, tt := range []struct {
		text    string
		stays   bool
		largest uint64
		err     string
	}{
		{"insert into seq (n, id) values (7, 1), (9, 2), (8, 3)", false, 9, ""},
		{"insert into seq (n, id) values (18446744073709551615, 1)", false, 1<<64 - 1, ""},
		{"insert into seq (n, id) values (-7, 1)", false, 1, ""},
		{"insert into seq (n, id) values (0, 1)", true, 0, ""},
		{"insert into seq (n, id) values (NULL, 1)", true, 0, ErrDraws.Error()},
		{"insert into seq (n, id) values ('x', 1)", false, 0, "AUTO_INCREMENT column n"},
		{"insert into seq set n = 0, id = 1", true, 0, ""},
		{"insert into seq (n, id) values (UNIX_TIMESTAMP(), 1)", false, 1, ""},
	} {
		p, err := build(tt.text, r, typed)
		if err != nil {
			t.Fatal(err)
		}
		e := &Execution{ZeroStays: tt.stays}
		e.Bind(p, nil)
		_, err = e.Route()
		if tt.err == "" && (err != nil || e.LargestID() != tt.largest) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v; the largest is %d", tt.text, err, e.LargestID())
		}
	}
	p, err := build("insert into seq set n = 0, id = 1", r, typed)
	if err != nil {
		t.Fatal(err)
	}
	e := new(Execution)
	e.Bind(p, nil)
	var text []byte
	if _, err = e.Route(); errors.Is(err, ErrDraws) {
		text, err = e.WithIDs(nil, 100, 1)
	}
	if want := "insert into seq set n = 100, id = 1"; err != nil || string(text) != want {
		t.Errorf("a 0 of the SET form: %s, %v", text, err)
	}
}

// EXPLAIN says that ids come first.
func TestExplainDrawn(t *testing.T) {
	p, err := build("insert into seq (id, a) values (1, 2)", testRouter(t), typed)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := Explain(p)
	if err != nil || len(steps) != 1 || steps[0].Plan != "insert" || !strings.Contains(steps[0].Reason, "drawn") || len(steps[0].Shards) != 2 || steps[0].SQL != p.Statement.Text {
		t.Errorf("%+v, %v", steps, err)
	}
}

// FuzzWithIDs: whatever INSERT ids are drawn for, with them it is one of as many rows that brings them.
func FuzzWithIDs(f *testing.F) {
	for _, tt := range drawn {
		f.Add(tt.text)
	}
	r := testRouter(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := build(text, r, typed)
		if err != nil || p == nil || p.Statement.Insert == nil {
			return
		}
		e := new(Execution)
		e.Bind(p, nil)
		if _, err := e.Route(); !errors.Is(err, ErrDraws) {
			return
		}
		with, err := e.WithIDs(nil, 1<<40, 1)
		if err != nil {
			return // it is refused
		}
		again, err := build(string(with), r, typed)
		if err != nil || again == nil || again.Statement.Insert == nil || len(again.Statement.Insert.Rows) != len(p.Statement.Insert.Rows) {
			t.Fatalf("%q became %q: %v", text, with, err)
		}
		other := new(Execution)
		other.Bind(again, nil)
		if _, err := other.Route(); errors.Is(err, ErrDraws) {
			t.Fatalf("%q became %q, which needs ids", text, with)
		}
		for k := range e.Draws() {
			if !strings.Contains(string(with), fmt.Sprint(1<<40+k)) {
				t.Fatalf("%q became %q, without id %d", text, with, k)
			}
		}
	})
}

// An INSERT ... SELECT that leaves ids to the table has them by the numbers of its rows.
func TestNumbered(t *testing.T) {
	const row = "ROW_NUMBER() OVER ()"
	const id = "100 + (" + row + " - 1) * 5 + CAST(IF(" + row + " > 3, POW(2, 1023 + " + row + "), 0) AS UNSIGNED)"
	r := testRouter(t)
	for _, c := range []struct{ sql, want, args string }{
		{"insert into seq (id, a) select id, a from seq where a = ?", "insert into `seq_0001` (`n`, id, a) select " + id + ", id, a from `seq_0001` AS `seq` where a = ?", "[0]"},
		{"insert into seq (id, n, a) select all id , 0 , ? from seq where a = ?", "insert into `seq_0001` (id, n, a) select all id , " + id + ", ? from `seq_0001` AS `seq` where a = ?", "[0 1]"},
		{"insert into seq select null, id, a from seq", "insert into `seq_0001` select " + id + ", id, a from `seq_0001` AS `seq`", "[]"},
	} {
		p, err := build(c.sql, r, typed)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		e := new(Execution)
		e.Bind(p, []value.Value{value.NewInt(1), value.NewInt(2)}[:len(p.Statement.Params)])
		if _, err := e.Route(); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if q := e.Numbered(1, 100, 3, 5); q.Text != c.want || fmt.Sprint(q.Args) != c.args {
			t.Errorf("%s\n got %s %v\nwant %s %s", c.sql, q.Text, q.Args, c.want, c.args)
		}
	}
}
