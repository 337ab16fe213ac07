package sqltext

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// vary gives a text that looks like sql: every run of digits and every text in single quotes may be another one, whether it is
// a value or not.
func vary(sql string, r *rand.Rand) string {
	var b strings.Builder
	for k := 0; k < len(sql); {
		end := k + 1
		switch c := sql[k]; {
		case isDigit(c):
			for end < len(sql) && isDigit(sql[end]) {
				end++
			}
			if r.IntN(2) == 0 {
				b.WriteString([]string{"0", "7", "12345", "99999999999999999999999", "1.5", "1e5", "0x1", "1a", "-1", ""}[r.IntN(10)])
				k = end
				continue
			}
		case c == '\'':
			if n := strings.IndexByte(sql[end:], '\''); n >= 0 && r.IntN(2) == 0 {
				b.WriteString([]string{
					"''", "'x'", "'1'", "'a''b'", "'\\''", "'\"password'", "'/*'", "'\xff'", "' union select '", "'a' 'b'", "'", "?",
				}[r.IntN(12)])
				k = end + n + 1
				continue
			}
		}
		b.WriteString(sql[k:end])
		k = end
	}
	return b.String()
}

// sameByTemplates fails unless texts that look like sql are to Templates what they are to the functions. It tells how many of
// them a template was found for.
func sameByTemplates(t *testing.T, sql string, m Mode, r *rand.Rand) (found int) {
	t.Helper()
	var s Templates
	for k := range 12 {
		s.wait = 0 // every text makes a template
		text := sql
		if k > 1 { // the text itself twice
			text = vary(sql, r)
		}
		if find(&s.sets[templateSet(text)], text, &m) != nil {
			found++
		}
		got, p := s.Classify(text, m)
		if want := Classify(text, m); got != want {
			t.Fatalf("%q by a template is %+v, not %+v", text, got, want)
		}
		if p != nil {
			sameByOutline(t, p, text, m, r)
		}
		if p != nil && p.Normal() != string(AppendNormal(nil, text, m, normalMax)) {
			t.Fatalf("%q by a template is %q", text, p.Normal())
		}
		for _, limit := range []int{1024, 16 << 10, 10} {
			ahead := func() []byte { return []byte("user\x00db\x00") }
			if got, want := s.AppendNormal(ahead(), text, m, limit), AppendNormal(ahead(), text, m, limit); string(got) != string(want) {
				t.Fatalf("%q by a template is\n%q, not\n%q", text, got, want)
			}
		}
	}
	return found
}

func TestTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for sql, alike := range map[string]bool{
		pointSelect: true,
		smallInsert: true,
		"UPDATE sbtest1 SET k=k+1, c='x' WHERE id=-5 LIMIT 1;":                                  true,
		"select * from `t1` where a in (1, 2,3) and b between 'a' and 'z' or c=1'a'":            true,
		"insert into t values (1, 'a'), (2, 'b') on duplicate key update a = last_insert_id(5)": true,
		"with x1 as (select 1) select * from x1 limit 5, 10 for update":                         true,
		"select identified by1, 'a' from t where identified = 5":                                true,
		"select /*node1*/ 5":                false,
		"select 5 /*!50001 + 1 */":          false,
		"select \"a\" from t where b = 'x'": false,
		"select 5; select 6":                false,
		"set autocommit = 1":                false,
		"select 5 from t -- 7":              true,
		"select t.5a, .5, 1.5, 1e5, x'41', 0x41, @a5, @'h5', @@b, N'x', _utf8'x', date '2020-01-01'": true,
	} {
		for mode := range 256 {
			m := modeOf(byte(mode))
			found := sameByTemplates(t, sql, m, r)
			if want := alike && !m.Charset.Multibyte() && !Classify(sql, m).Has(Doubt); found > 0 != want {
				t.Errorf("%q in mode %+v: %d texts by a template", sql, m, found)
			}
		}
	}
}

// Texts with other values are recognized, of any length.
func TestTemplatesFindOtherValues(t *testing.T) {
	m := Mode{ServerVersion: 80400}
	for first, others := range map[string][]string{
		"select a from t where b = 5":     {"select a from t where b = 1", "select a from t where b = 123456789012345678901234567890"},
		"select a from t where b = 'x' ;": {"select a from t where b = '' ;", "select a from t where b = '" + strings.Repeat("y", 1000) + "' ;"},
		"insert into t values (1, 'a')":   {"insert into t values (27, '\"/*')"},
	} {
		var s Templates
		s.Classify(first, m)
		for _, sql := range others {
			if find(&s.sets[templateSet(sql)], sql, &m) == nil {
				t.Errorf("%.60q is not known by %q", sql, first)
			}
			want := Classify(sql, m)
			if got, _ := s.Classify(sql, m); got != want {
				t.Errorf("%.60q is %+v, not %+v", sql, got, want)
			}
			if got, want := s.AppendNormal(nil, sql, m, 1024), AppendNormal(nil, sql, m, 1024); string(got) != string(want) {
				t.Errorf("%.60q: %q, not %q", sql, got, want)
			}
		}
		for _, sql := range []string{first + "0x", strings.Replace(first, "t", "t2", 1), "select a from t where b = '" + strings.Repeat("y", valueMax) + "'"} {
			if find(&s.sets[templateSet(sql)], sql, &m) != nil {
				t.Errorf("%.60q is known by %q", sql, first)
			}
		}
	}
}

// Statements that come in turns with others, of which there are no templates, all get theirs.
func TestTemplatesInTurns(t *testing.T) {
	m := Mode{ServerVersion: 80400}
	for _, others := range []int{1, 2, 8, 17} {
		var s Templates
		sql := "select a from t where b = 5"
		for range 200 {
			for range others {
				s.Classify("begin", m)
			}
			s.Classify(sql, m)
		}
		if find(&s.sets[templateSet(sql)], sql, &m) == nil {
			t.Errorf("not known beside %d others", others)
		}
	}
}

// TestTemplatesAreFew: texts that never come again do not drive out those that do, and hardly cost anything.
func TestTemplatesAreFew(t *testing.T) {
	var s Templates
	m := Mode{ServerVersion: 80400}
	for k := range 1000 {
		s.Classify("SELECT c FROM t WHERE id="+strings.Repeat("1", k%5+1), m)
		s.Classify("SELECT "+strings.Repeat("a", k%200+1)+" FROM "+strings.Repeat("b", k%7+1), m)
	}
	kept := 0
	for _, set := range s.sets {
		for _, p := range set {
			if p != nil {
				kept++
			}
		}
	}
	if kept < 2 || kept > 1+1000/templatePatience {
		t.Errorf("%d templates", kept)
	}
	sql := "SELECT c FROM t WHERE id=77"
	if find(&s.sets[templateSet(sql)], sql, &m) == nil {
		t.Error("no template for what came all the time")
	}
	if n := testing.AllocsPerRun(100, func() { s.Classify(sql, m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzTemplates(f *testing.F) {
	for _, s := range append([]string{pointSelect, smallInsert, "update t set a='x' where b=1 -- 'y'"}, seeds...) {
		for _, m := range []byte{0, 1, 4, 0x20} {
			f.Add(s, m, uint64(m))
		}
	}
	f.Fuzz(func(t *testing.T, sql string, mode byte, seed uint64) {
		sameByTemplates(t, sql, modeOf(mode), rand.New(rand.NewPCG(seed, seed)))
	})
}
