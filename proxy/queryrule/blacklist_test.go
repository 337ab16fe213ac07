package queryrule

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestFingerprint(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT  *  FROM Orders WHERE ID = 42 AND Name='Bob'", "select * from orders where id = ? and name = ?"},
		{"select * from t where id in (1, 2,3)", "select * from t where id in (?+)"},
		{"select * from t where id IN(7)", "select * from t where id in (?+)"},
		{"insert into t(a,b) values (1,'x'),(2,'y')", "insert into t ( a , b ) values (?+)"},
		{"/*node1*/ select a from `T` where b=1 -- end", "select a from t where b = ?"},
		{"select f(1, 2), (3), -1;", "select f ( ? , ? ) , ( ? ) , - ?"},
		{"a = 'it''s' or b in (-1, +2)", "a = ? or b in (?+)"},
		{"insert into t values (1), (f(2)), (3)", "insert into t values (?+) , ( f ( ? ) ) , ( ? )"},
		{"in ()", "in ( )"}, {")", ")"}, {"", ""}, {" ; ", ""},
	} {
		if got := Fingerprint(c.text, sqltext.Mode{}); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestBlacklist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "black")
	if err := os.WriteFile(path, []byte("delete from t\n\n  \nselect * from u where id = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := LoadBlacklist(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"DELETE FROM t": true, "delete from t where id = 1": false, "select * from u where id = 7": true, "": false,
		"select /* all */ * from u where id='x';": true,
	} {
		if b.Match(text, sqltext.Mode{}) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if _, err := b.With("select * from u where id = 9"); err != ErrListed {
		t.Errorf("again: %v", err)
	}
	if _, err := b.Without("select 1"); err != ErrNotListed {
		t.Errorf("of one that is not there: %v", err)
	}
	if _, err := b.With(" ; "); err != ErrEmpty {
		t.Errorf("empty: %v", err)
	}
	more, err := b.With("drop\ntable t")
	if err != nil || len(b.List()) != 2 || !more.Match("DROP TABLE t", sqltext.Mode{}) {
		t.Errorf("%v, %v", more.List(), err)
	}
	if more, err = more.Without("delete from t"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, more.Text(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := LoadBlacklist(path)
	if err != nil || !again.Equal(more) || !slices.Equal(again.List(), []string{"drop table t", "select * from u where id = 1"}) {
		t.Errorf("%v, %v", again.List(), err)
	}
	var none *Blacklist
	if none.Match("x", sqltext.Mode{}) || none.List() != nil {
		t.Error("nil forbids")
	}
	one, err := none.With("select 1")
	if err != nil {
		t.Fatal(err)
	}
	if none, err = one.Without("select 2"); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// FuzzFingerprint checks that no text makes it panic, and that blanks and comments ahead change nothing.
func FuzzFingerprint(f *testing.F) {
	f.Add("select * from t where id in (1,2)")
	f.Add("insert into t values (1),(-2) /*")
	f.Fuzz(func(t *testing.T, text string) {
		if a, b := Fingerprint(text, sqltext.Mode{}), Fingerprint(" /* x */ "+text, sqltext.Mode{}); a != b {
			t.Errorf("%q and %q", a, b)
		}
	})
}
