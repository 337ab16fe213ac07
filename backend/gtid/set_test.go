package gtid

import "testing"

const (
	a = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	b = "4e11fa47-71ca-11e1-9e33-c80aa9429562"
)

func parse(t *testing.T, text string, mariaDB bool) *Set {
	t.Helper()
	s, err := Parse(text, mariaDB)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text    string
		mariaDB bool
		want    string
	}{
		{"", false, ""},
		{"", true, ""},
		{a + ":1-3:5", false, a + ":1-3:5"},
		{"3E11FA47-71CA-11E1-9E33-C80AA9429562:5:1-4", false, a + ":1-5"},
		{b + ":1,\n" + a + ":2-3", false, a + ":2-3," + b + ":1"},
		{a + ":1-3:tag:7:other:1-2", false, a + ":1-3," + a + ":other:1-2," + a + ":tag:7"},
		{"0-1-17", true, "0-1-17"},
		{"1-2-3,0-1-17", true, "0-1-17,1-2-3"},
		{"0-1-17,0-2-16", true, "0-1-17"},
	} {
		if got := parse(t, c.text, c.mariaDB).String(); got != c.want {
			t.Errorf("%q: %q, not %q", c.text, got, c.want)
		}
	}
	for _, text := range []string{"x", a, a + ":", a + ":0", a + ":3-2", a + ":1-", "3e11fa47:1", a + ":1'", a + ":ta'g:1", a[:35] + "':1"} {
		if s, err := Parse(text, false); err == nil {
			t.Errorf("%q is %q", text, s)
		}
	}
	for _, text := range []string{"x", "0", "0-1", "0-1-", "0-1-1'", "-1-1", "0--1"} {
		if s, err := Parse(text, true); err == nil {
			t.Errorf("%q is %q", text, s)
		}
	}
}

func TestIn(t *testing.T) {
	for _, c := range []struct {
		s, t    string
		mariaDB bool
		want    bool
	}{
		{"", "", false, true},
		{"", a + ":1", false, true},
		{a + ":1", "", false, false},
		{a + ":5", a + ":1-9", false, true},
		{a + ":5-6", a + ":1-5:7-9", false, false},
		{a + ":1:5", a + ":1-5", false, true},
		{a + ":5", b + ":1-9", false, false},
		{a + ":5," + b + ":1", a + ":1-9", false, false},
		{a + ":tag:5", a + ":1-9", false, false},
		{"0-1-5", "0-1-5", true, true},
		{"0-1-5", "0-2-6", true, true},
		{"0-1-5", "0-1-4", true, false},
		{"0-1-5", "1-1-9", true, false},
	} {
		if got := parse(t, c.s, c.mariaDB).In(parse(t, c.t, c.mariaDB)); got != c.want {
			t.Errorf("%q in %q: %v", c.s, c.t, got)
		}
	}
	if parse(t, "0-1-5", true).In(parse(t, a+":1-9", false)) {
		t.Error("MySQL has a transaction of MariaDB")
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		s, t    string
		mariaDB bool
		want    uint64
	}{
		{"", "", false, 0},
		{"", a + ":1", false, 0},
		{a + ":1-3:5", "", false, 4},
		{a + ":1-9", a + ":1-9", false, 0},
		{a + ":1-9", a + ":2-3:5:8-20", false, 4},
		{a + ":5:7", a + ":1-5", false, 1},
		{a + ":1-3," + b + ":1-5", a + ":2," + b + ":1-4", false, 3},
		{a + ":tag:1-3", a + ":1-3", false, 3},
		{"0-1-9", "0-2-7", true, 2},
		{"0-1-9", "0-1-12", true, 0},
		{"0-1-9,1-1-4", "0-1-9", true, 4},
	} {
		s, other := parse(t, c.s, c.mariaDB), parse(t, c.t, c.mariaDB)
		if got := s.Missing(other); got != c.want || (got == 0) != s.In(other) {
			t.Errorf("%q in %q: %d are missing", c.s, c.t, got)
		}
	}
	if n := parse(t, "0-1-5", true).Missing(parse(t, a+":1-9", false)); n != 5 {
		t.Errorf("MySQL lacks %d of MariaDB's", n)
	}
}

func TestFollow(t *testing.T) {
	for _, c := range []struct {
		s, t                 string
		mariaDB              bool
		wantWith, wantFollow string
	}{
		{"", a + ":5", false, a + ":5", a + ":5"},
		{a + ":5", "", false, a + ":5", a + ":5"},
		{a + ":5", a + ":6", false, a + ":5-6", a + ":5-6"},
		{a + ":5", a + ":9", false, a + ":5:9", a + ":5-9"},
		{a + ":5-9", a + ":3", false, a + ":3:5-9", a + ":3:5-9"},
		{a + ":1-3:7-9", a + ":10", false, a + ":1-3:7-10", a + ":1-3:7-10"},
		{a + ":1-3:7-9", a + ":12", false, a + ":1-3:7-9:12", a + ":1-3:7-12"},
		{a + ":5", a + ":1000000", false, a + ":5:1000000", a + ":5:1000000"},
		{a + ":5", b + ":1", false, a + ":5," + b + ":1", a + ":5," + b + ":1"},
		{"0-1-5", "0-2-9", true, "0-2-9", "0-2-9"},
		{"0-1-5", "0-1-4", true, "0-1-5", "0-1-5"},
		{"0-1-5", "1-1-4", true, "0-1-5,1-1-4", "0-1-5,1-1-4"},
	} {
		s, more := parse(t, c.s, c.mariaDB), parse(t, c.t, c.mariaDB)
		if with, follow := s.With(more).String(), s.Follow(more).String(); with != c.wantWith || follow != c.wantFollow {
			t.Errorf("%q and %q: %q, %q", c.s, c.t, with, follow)
		}
		if s.String() != parse(t, c.s, c.mariaDB).String() {
			t.Errorf("%q has become %q", c.s, s)
		}
	}
}
