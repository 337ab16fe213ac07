package sqltext

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sameByOutline fails unless the outline of a template's text, if it has one, gives the digests of others as Scan does.
func sameByOutline(t *testing.T, p *Template, sql string, m Mode, r *rand.Rand) bool {
	t.Helper()
	var d Digest
	if !d.Scan(sql, m) {
		return false
	}
	o := p.Outline(sql, &d)
	if o == nil {
		return false
	}
	for range 4 {
		text := otherValues(p, r)
		if !p.Matches(text, &m) {
			t.Fatalf("%q is not one of the template of %q", text, sql)
		}
		var want Digest
		if !want.Scan(text, m) || string(want.Key) != string(d.Key) {
			t.Fatalf("%q has the digest %q, and %q, of its template, %q", sql, d.Key, text, want.Key)
		}
		got := Digest{Key: []byte("other"), Rows: []Row{{1, 2}}}
		o.Digest(&got, text)
		if len(got.Key) > 0 || !slices.Equal(got.Literals, want.Literals) || !slices.Equal(got.Lists, want.Lists) || !slices.Equal(got.Rows, want.Rows) {
			t.Fatalf("%q by the outline of %q is %+v, not %+v", text, sql, got, want)
		}
	}
	return true
}

// otherValues gives a text of a template.
func otherValues(p *Template, r *rand.Rand) string {
	var b strings.Builder
	for _, part := range p.fixed {
		b.WriteString(part.text)
		if values := []string{"0", "7", "12345", "99999999999999999999999"}; !part.quoted {
			b.WriteString(values[r.IntN(len(values))])
			continue
		}
		values := []string{"''", "'x'", "'1'", "'\"password'", "'/*'", "'\xff'", "' union select '", "'" + strings.Repeat("y", 1000) + "'"}
		b.WriteString(values[r.IntN(len(values))])
	}
	return b.String() + p.rest
}

func TestOutlines(t *testing.T) {
	m := Mode{ServerVersion: 80400}
	r := rand.New(rand.NewPCG(3, 4))
	for sql, want := range map[string]bool{
		pointSelect: true,
		smallInsert: true,
		"UPDATE sbtest1 SET k=k+1, c='x' WHERE id=-5 LIMIT 1":                                        true,
		"UPDATE sbtest1 SET k=1, c='x' WHERE id=-5 and a = 7.5 LIMIT 1, 2;":                          true,
		"select * from t where a in (1, 2, 3) and (b, c) in ((1, 'a'), (2, 'b')) limit 3":            true,
		"insert into t (a, b) values (1, 'a'), (2, null), (-3, now()) on duplicate key update a = 3": true,
		"insert into t (a) values (now()), (default)":                                                true,  // rows without values
		"select 5, a from t where b = 'x'":                                                           false, // the name of a column
		"select a from t where b = 'x' order by 5":                                                   false,
		"select a from t where b = 'x' 'y'":                                                          false,
		"select a from t where 1 = 1":                                                                false,
		"select a from t":                                                                            true,
	} {
		info := Classify(sql, m)
		p := makeTemplate(sql, m, &info)
		if p == nil {
			t.Fatalf("%q has no template", sql)
		}
		if got := sameByOutline(t, p, sql, m, r); got != want {
			t.Errorf("%q has an outline: %v, want %v", sql, got, want)
		}
	}
}

func BenchmarkOutline(b *testing.B) {
	m := Mode{ServerVersion: 80400}
	for _, c := range []struct{ name, sql string }{{"point", pointSelect}, {"insert", smallInsert}} {
		var d Digest
		b.Run("scan/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Scan(c.sql, m)
			}
		})
		b.Run("outline/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			info := Classify(c.sql, m)
			d.Scan(c.sql, m)
			o := makeTemplate(c.sql, m, &info).Outline(c.sql, &d)
			for b.Loop() {
				o.Digest(&d, c.sql)
			}
		})
	}
}
