package mysql

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPartTag(t *testing.T) {
	for _, c := range []struct{ table, part, want string }{
		{"t", "t", ""}, {"t", "t_0003", "0003"}, {"t", "t_202403", "202403"}, {"t", "t_2024_03", "2024_03"}, {"t", "t7", "7"}, {"t_0003", "t_0003_0003", "0003"},
		{"t", "alpha", "d0e0396a"}, {"t", "t_", "f15ee268"}, {"t", "t-3", "33432267"}, {"t", "t_12345678901234567", "dfb42f76"}, {"t", "tä", "9dd5fae2"},
	} {
		if got := PartTag(c.table, c.part); got != c.want {
			t.Errorf("%s of %s: %s and not %s", c.part, c.table, got, c.want)
		}
	}
}

func TestPartConstraint(t *testing.T) {
	long := "auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_permission_i"
	for _, c := range []struct{ name, want string }{
		{"fk_rails_abc", "fk_rails_abc$0003"}, {"fk$0003", "fk$0003$0003"}, {"t_ibfk_1", "t_0003_ibfk_1"}, {"t_chk_2", "t_0003_chk_2"}, {"u_ibfk_1", "u_ibfk_1$0003"}, {"外键", "外键$0003"},
		{long[:59], long[:59] + "$0003"},
		{long[:60], long[:58] + string('가'+('s'-' ')*95+('i'-' ')) + "$0003"},
		{long + "x", long + "x"}, // no server takes it
		{strings.Repeat("外", 58), strings.Repeat("外", 58) + "$0003"}, {strings.Repeat("外", 59), ""},
	} {
		got, ok := PartConstraint(c.name, "t", "t_0003")
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: %s %v and not %s", c.name, got, ok, c.want)
		}
	}
	// What the part has from elsewhere stays.
	for _, own := range []string{"fk", "fk$0004", "fk_0003", "$0003", "t_0004_ibfk_1", "t_0003", long} {
		if name, ok := TableConstraint(own, "t", "t_0003"); ok || name != own {
			t.Errorf("%s: %s %v", own, name, ok)
		}
	}
	if name, ok := TableConstraint("fk", "t", "t"); ok || name != "fk" {
		t.Error(name, ok)
	}
}

// FuzzPartConstraint looks for names that are not got back, or not apart.
func FuzzPartConstraint(f *testing.F) {
	f.Add("fk_rails_abc", "fk$0003", "t", "t_0003", "t_202403")
	f.Add("auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_permission_i", "t_ibfk_1", "t", "t_0003", "t_0004")
	f.Add(strings.Repeat("外", 58), "u_ibfk_1", "t", "u", "t3")
	f.Fuzz(func(t *testing.T, a, b, table, part, other string) {
		if table == "" || part == "" || part == table || utf8.RuneCountInString(a) > identMax || a == "" || b == "" || utf8.RuneCountInString(b) > identMax {
			return
		}
		of := func(name, part string) (string, bool) {
			own, ok := PartConstraint(name, table, part)
			if !ok {
				return "", false
			}
			if back, ok := TableConstraint(own, table, part); part != table && (!ok || back != name) {
				t.Fatalf("%q of %q is %q of %q, which is %q %v", name, table, own, part, back, ok)
			}
			if made := numberedAfter(name); made != table && utf8.RuneCountInString(own) > identMax {
				t.Fatalf("%q of %q is %q of %q", name, table, own, part)
			}
			return own, true
		}
		ownA, okA := of(a, part)
		ownB, okB := of(b, part)
		if okA && okB && a != b && ownA == ownB {
			t.Fatalf("%q and %q of %q are %q of %q", a, b, table, ownA, part)
		}
		if other == "" || PartTag(table, other) == PartTag(table, part) || numberedAfter(a) == table {
			return
		}
		if ownB, okB = of(b, other); okA && okB && ownA == ownB && numberedAfter(b) != table {
			t.Fatalf("%q of %q and %q of %q are %q", a, part, b, other, ownA)
		}
	})
}
