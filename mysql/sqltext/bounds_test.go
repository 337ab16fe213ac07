package sqltext

import (
	"slices"
	"strings"
	"testing"
)

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		sql, first, rest string
		multi            bool
	}{
		{"select 1", "select 1", "", false},
		{"  select 1 ", "select 1", "", false},
		{"select 1;", "select 1", "", false},
		{"select 1; ;", "select 1", "", false},
		{"select 1 ; -- c", "select 1", "-- c", false},
		{"select 1; /* c */ ; ;", "select 1", "/* c */ ; ;", false},
		{"select 1; /* c */ ; -- d", "select 1", "/* c */ ; -- d", true},
		{"; -- c", "", "", false},
		{"select 1 -- c\n;", "select 1", "", false},
		{"/* a */ select 1 /* b */", "select 1", "", false},
		{"/*!50001 select 1 */", "/*!50001 select 1 */", "", false},
		{"/*!50001 select */ 1 /*!50001 + 1 */ ;", "/*!50001 select */ 1 /*!50001 + 1 */", "", false},
		{"/*!99999 x */ select 1 /*!99999 y */", "select 1", "", false},
		{"select 1; select 2", "select 1", "select 2", true},
		{"select 1;select 2;", "select 1", "select 2;", true},
		{"select 1; /*node2*/ select 2", "select 1", "/*node2*/ select 2", true},
		{"select 1;;select 2", "select 1", ";select 2", true},
		{";select 1", "", "select 1", true},
		{"select ';' ; select \";\"", "select ';'", "select \";\"", true},
		{"select 1; 'open", "select 1", "'open", true},
		{"select 1; /* open", "select 1", "/* open", true},
		{"select 1; \x00", "select 1", "\x00", true},
		{"create procedure p() begin select 1; select 2; end;", "create procedure p() begin select 1; select 2; end", "", true},
		{"create procedure p() select 1;", "create procedure p() select 1", "", false},
		{"nonsense 1; select 2;", "nonsense 1; select 2", "", true},
		{"", "", "", false},
		{" -- c\n", "", "", false},
	} {
		i := Classify(c.sql, mysql84)
		if got := c.sql[i.First:i.End]; got != c.first {
			t.Errorf("%q: statement %q, want %q", c.sql, got, c.first)
		}
		if got := c.sql[i.Next:]; got != c.rest || i.Has(Multi) != c.multi {
			t.Errorf("%q: rest %q, multi %v", c.sql, got, i.Has(Multi))
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []string
		safe bool
	}{
		{"", []string{""}, true},
		{"select 1", []string{"select 1"}, true},
		{"select 1; update t set a = ';'; /*node1*/ commit ;", []string{"select 1", "update t set a = ';'", "commit"}, true},
		{"select 1;;select 2", []string{"select 1", "", "select 2"}, true},
		{"select 1; create trigger x before insert on t for each row begin set @a = 1; end; select 2",
			[]string{"select 1", "create trigger x before insert on t for each row begin set @a = 1; end; select 2"}, false},
		{"select 1; select 'a; select 2", []string{"select 1", "select 'a; select 2"}, false},
	} {
		var got []string
		safe := true
		for i := range Split(c.sql, mysql84) {
			got = append(got, c.sql[i.First:i.End])
			safe = SplitSafe(i)
		}
		if !slices.Equal(got, c.want) || safe != c.safe {
			t.Errorf("%q: %q, safe %v", c.sql, got, safe)
		}
	}
	for i := range Split("select 1; select 2; select 3", mysql84) {
		if i.First != 0 {
			t.Error("Split goes on after the loop ended")
		}
		break
	}
}

// A client may send what it likes. Each text takes milliseconds; one read in quadratic time would run into the test's limit.
func TestHugeTexts(t *testing.T) {
	const n = 1 << 20
	for _, c := range []struct {
		sql   string
		class Class
		doubt bool
	}{
		{"select '" + strings.Repeat("a", n) + "'", Select, false},
		{"select '" + strings.Repeat("a", n), Select, true},
		{strings.Repeat("(", n) + "select 1" + strings.Repeat(")", n), Select, false},
		{"select " + strings.Repeat("(", n), Select, false},
		{"select 1" + strings.Repeat(", 1", n), Select, false},
		{strings.Repeat(";", n), Empty, false},
		{strings.Repeat("/*", n), Other, true},
		{strings.Repeat("/**/", n), Empty, false},
		{strings.Repeat("/*!", n), Other, true},
		{strings.Repeat("set statement a = 1 for ", n/24), SetStatement, true},
		{strings.Repeat("explain ", n/8), Describe, false},
		{strings.Repeat("with a as (", n/11), With, true},
		{strings.Repeat("a", n), Other, true},
		{strings.Repeat("\x00", n), Other, true},
		{strings.Repeat("\xff", n), Other, true},
		{"select " + strings.Repeat("@a:=", n/4) + "1", Select, false},
		{"select " + strings.Repeat("last_insert_id(", n/15), Select, false},
	} {
		i := Classify(c.sql, maria)
		if i.Class != c.class || i.Has(Doubt) != c.doubt {
			t.Errorf("%.30q...: %v %s", c.sql, i.Class, i.Traits.names())
		}
	}
}

func TestEmbeddedEverywhere(t *testing.T) {
	// A cut-off text is never taken for a harmless whole one, if the whole is not harmless.
	const sql = "select a, 'b\\'', `c` /* d */ from t where e = \"f\" -- g\n and h = @`i` for update"
	for k := range len(sql) {
		i := Classify(sql[:k], mysql84)
		if i.First < 0 || i.End > k || i.First > i.End || i.Next > k {
			t.Fatalf("cut at %d: bounds %d %d %d", k, i.First, i.End, i.Next)
		}
		if open := strings.Count(sql[:k], "/*") != strings.Count(sql[:k], "*/"); open && !i.Has(Doubt) {
			t.Errorf("cut at %d: an open comment is no doubt", k)
		}
	}
}
