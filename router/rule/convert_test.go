package rule

import (
	"errors"
	"math"
	"testing"
	"time"

	"kingshard/mysql/value"
)

func TestConvert(t *testing.T) {
	str, dec, flt, i, hex := value.NewString, value.NewDecimal, value.NewFloat, value.NewInt, value.NewBytes
	h, err := NewHash(12)
	must(t, h, err)
	east := time.FixedZone("", 8*3600)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	none := value.Value{}
	for _, c := range []struct {
		c     Column
		v     value.Value
		want  value.Value
		exact bool
		kind  error
	}{
		{Column{}, str(" 5"), str(" 5"), true, nil},
		{Column{}, i(-5), i(-5), true, nil},
		{Column{}, dec("5.0"), none, false, ErrConvert},
		{Column{}, flt(5), none, false, ErrConvert},
		{Column{}, hex("\x05"), none, false, ErrConvert},
		{Column{Class: Integer}, str("5"), i(5), true, nil},
		{Column{Class: Integer}, str(" -05 "), i(-5), true, nil},
		{Column{Class: Integer}, str("5.00"), none, true, ErrConvert},
		{Column{Class: Integer}, dec("5.0"), i(5), true, nil},
		{Column{Class: Integer}, flt(5), i(5), true, nil},
		{Column{Class: Integer}, str("9223372036854775807"), i(math.MaxInt64), true, nil},
		{Column{Class: Integer}, dec("5.5"), none, true, ErrConvert},
		{Column{Class: Integer}, str("5.5"), none, true, ErrConvert},
		{Column{Class: Integer}, flt(0.5), none, true, ErrConvert},
		{Column{Class: Integer}, value.NewUint(math.MaxUint64), none, true, ErrNoMatch},
		{Column{Class: Integer}, dec("18446744073709551616"), none, true, ErrNoMatch},
		{Column{Class: Integer}, str("abc"), none, true, ErrConvert},
		{Column{Class: Integer}, str(""), none, true, ErrConvert},
		{Column{Class: Integer}, str("5e0"), none, true, ErrConvert},
		{Column{Class: Integer}, flt(1e17), none, true, ErrConvert},
		{Column{Class: Integer}, flt(math.NaN()), none, true, ErrConvert},
		{Column{Class: Integer}, flt(math.Inf(1)), none, true, ErrConvert},
		{Column{Class: Integer}, hex("5"), none, true, ErrConvert},
		{Column{Class: Unsigned}, str("18446744073709551615"), value.NewUint(math.MaxUint64), true, nil},
		{Column{Class: Unsigned}, i(-1), none, true, ErrNoMatch},
		{Column{Class: Decimal, Scale: 2}, dec("1.50"), dec("1.5"), true, nil},
		{Column{Class: Decimal, Scale: 2}, dec("-0.00"), i(0), true, nil},
		{Column{Class: Decimal, Scale: 2}, i(7), i(7), true, nil},
		{Column{Class: Decimal, Scale: 2}, dec("1.555"), none, false, ErrConvert},
		{Column{Class: Decimal, Scale: 2}, str("1.5"), none, false, ErrConvert},
		{Column{Class: Decimal, Scale: 2}, flt(1.5), none, false, ErrConvert},
		{Column{Class: Float}, flt(1), none, false, ErrConvert},
		{Column{Class: Float}, i(1), none, false, ErrConvert},
		{Column{Class: CharBinary}, str("aB"), str("aB"), true, nil},
		{Column{Class: CharBinary}, hex("aB"), str("aB"), true, nil},
		{Column{Class: CharBinary}, str("aB "), none, false, ErrConvert},
		{Column{Class: CharCI}, str("aB"), str("aB"), false, nil},
		{Column{Class: CharCI}, i(-5), none, false, ErrConvert},
		{Column{Class: CharCI}, dec("5.0"), none, false, ErrConvert},
		{Column{Class: Bytes}, str("a "), hex("a "), true, nil},
		{Column{Class: Bytes, Length: 2}, hex("ab"), hex("ab"), true, nil},
		{Column{Class: Bytes, Length: 3}, hex("ab"), none, false, ErrNoMatch},
		{Column{Class: Bytes}, flt(1), none, false, ErrConvert},
		{Column{Class: Date}, str("2016/3/6 10:11:12"), str("2016-03-06"), true, nil},
		{Column{Class: Date}, i(20160306), str("2016-03-06"), true, nil},
		{Column{Class: Date}, i(1457242646), none, true, ErrConvert},
		{Column{Class: DateTime}, str("2016-3-6T10:11"), str("2016-03-06 10:11:00"), true, nil},
		{Column{Class: DateTime}, str("20160306"), str("2016-03-06 00:00:00"), true, nil},
		{Column{Class: DateTime, Scale: 3}, str("2016-03-06 10:11:12.500"), str("2016-03-06 10:11:12.5"), true, nil},
		{Column{Class: DateTime}, str("2016-03-06 10:11:12.5"), none, true, ErrConvert},
		{Column{Class: DateTime}, str("now"), none, true, ErrConvert},
		{Column{Class: Timestamp}, str("2016-03-06 13:37:26"), none, true, ErrConvert},
		{Column{Class: Timestamp, Zone: east}, str("2016-03-06 13:37:26"), i(1457242646), true, nil},
		{Column{Class: Timestamp, Zone: time.UTC}, str("2016-03-06 05:37:26"), i(1457242646), true, nil},
		{Column{Class: Timestamp, Zone: east, Scale: 6}, str("2016-03-06 13:37:26.5"), dec("1457242646.5"), true, nil},
		{Column{Class: Timestamp, Zone: berlin}, str("2016-10-30 02:30:00"), none, true, ErrConvert}, // twice
		{Column{Class: Timestamp, Zone: berlin}, str("2016-03-27 02:30:00"), none, true, ErrConvert}, // never
		{Column{Class: Timestamp, Zone: berlin}, str("2016-10-30 04:30:00"), i(1477798200), true, nil},
		{Column{Class: Year}, i(2016), str("2016"), true, nil},
		{Column{Class: Year}, str("2016"), str("2016"), true, nil},
		{Column{Class: Year}, i(16), none, true, ErrConvert},
		{Column{Class: Other}, str("x"), none, false, ErrConvert},
		{Column{Class: Integer}, none, none, true, nil},
	} {
		got, exact, err := Convert(h, c.v, c.c)
		if c.kind != nil {
			if !errors.Is(err, c.kind) || c.kind == ErrConvert && errors.Is(err, ErrNoShard) {
				t.Errorf("%v as %v: %v, %v", c.v, c.c.Class, got, err)
			}
		} else if err != nil || got != c.want || exact != c.exact {
			t.Errorf("%v as %v: %v, exact %v, %v", c.v, c.c.Class, got, exact, err)
		}
	}
}

func TestConvertFolds(t *testing.T) {
	h, err := NewHash(12)
	r := foldedASCII(must(t, h, err))
	for _, class := range []Class{Unknown, CharBinary, CharCI} {
		got, exact, err := Convert(r, value.NewString("AbC@[`{ "), Column{Class: class})
		if err != nil || !exact || got != value.NewString("abc@[`{") {
			t.Errorf("%v: %v, %v, %v", class, got, exact, err)
		}
		for _, text := range []string{"é", "a\x00", "a\tb", "\x7f"} {
			if _, _, err := Convert(r, value.NewString(text), Column{Class: class}); !errors.Is(err, ErrConvert) {
				t.Errorf("%v %q: %v", class, text, err)
			}
			if _, err := r.Find(value.NewString(text)); !errors.Is(err, ErrConvert) {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
	a, _ := r.Find(value.NewString("ABC  "))
	b, _ := r.Find(value.NewString("abc"))
	if a != b || !Folds(r) || Folds(h) {
		t.Errorf("%d, %d", a, b)
	}
}

// TestConvertByFolds checks which values are placed by folds of collations, on columns that they follow and others.
func TestConvertByFolds(t *testing.T) {
	h, err := NewHash(12)
	must(t, h, err)
	general, unicode, swedish := uint16(45), uint16(224), uint16(8)
	str := value.NewString
	for _, c := range []struct {
		fold   string
		column Column
		v      value.Value
		want   value.Value
		exact  bool
		err    error
	}{
		{"utf8mb4_general_ci_v1", Column{Class: CharCI, Collation: general}, str("É "), str("e"), true, nil},
		{"utf8mb4_general_ci_v1", Column{Class: CharCI, Collation: general}, str("中"), value.NewBytes("\U00014e2d"), true, nil},
		{"utf8mb4_general_ci_v1", Column{Class: CharCI, Collation: unicode}, str("É"), str("e"), false, nil},
		{"utf8mb4_general_ci_v1", Column{Class: CharBinary, Collation: 46}, str("É"), str("e"), true, nil},
		{"utf8mb4_general_ci_v1", Column{}, str("É"), str("e"), true, nil},
		{"utf8mb4_unicode_ci_v1", Column{Class: CharCI, Collation: unicode}, str("Straße"), str("strasse"), true, nil},
		{"utf8mb4_unicode_ci_v1", Column{Class: CharCI, Collation: 192, Characters: BasicPlane}, str("😀"), value.Value{}, false, ErrConvert},
		{"latin1_swedish_ci_v1", Column{Class: CharCI, Collation: swedish, Characters: WesternLatin}, str("Ā"), value.Value{}, false, ErrConvert},
		{"latin1_swedish_ci_v1", Column{Class: CharCI, Collation: swedish, Characters: WesternLatin}, str("Ü"), str("y"), true, nil},
		{"utf8mb4_bin_v1", Column{Class: CharBinary, Collation: 46}, str("Aé  "), value.NewBytes("Aé"), true, nil},
		{"ascii_ci", Column{Class: CharCI, Collation: 238}, str("Y"), str("y"), true, nil},  // Hungarian
		{"ascii_ci", Column{Class: CharCI, Collation: 236}, str("Y"), str("y"), false, nil}, // Lithuanian
	} {
		r, err := FoldBy(h, c.fold)
		must(t, r, err)
		got, exact, err := Convert(r, c.v, c.column)
		if c.err != nil {
			if !errors.Is(err, c.err) {
				t.Errorf("%s, %v: %v", c.fold, c.v, err)
			}
			continue
		}
		again, err2 := fold(r, got)
		if err != nil || got != c.want || exact != c.exact || again != got || err2 != nil {
			t.Errorf("%s, %v: %v, exact %v, %v; once more %v, %v", c.fold, c.v, got, exact, err, again, err2)
		}
	}
	if _, _, err := Convert(h, str("Ā"), Column{Class: CharBinary, Characters: WesternLatin}); !errors.Is(err, ErrConvert) {
		t.Errorf("a character that the column has not is compared as another text: %v", err)
	}
}

// TestListsAreFolded checks that the keys of a list are found by what equals them.
func TestListsAreFolded(t *testing.T) {
	list := func(fold string, keys ...[]string) (Rule, error) {
		l, err := NewList(keys)
		must(t, l, err)
		return FoldBy(l, fold)
	}
	for _, fold := range []string{"ascii_ci", "utf8mb4_unicode_ci_v1"} {
		r, err := list(fold, []string{"DE", "5"}, []string{"us"})
		must(t, r, err)
		for text, want := range map[string]int{"de": 0, "De ": 0, "05": 0, "US": 1} {
			if got, err := r.Find(value.NewString(text)); got != want || err != nil {
				t.Errorf("%s, %q: %d, %v", fold, text, got, err)
			}
		}
	}
	if r, err := list("ascii_ci", []string{"DE", "é"}, []string{"de"}); err != nil {
		t.Error(err)
	} else if got, err := r.Find(value.NewString("DE")); got != 1 || err != nil {
		t.Errorf("%d, %v: it has been on 1", got, err)
	}
	if _, err := list("utf8mb4_unicode_ci_v1", []string{"é"}, []string{"E"}); err == nil {
		t.Error("equal keys on two shards")
	}
}

func TestIntervalHeedsTheClass(t *testing.T) {
	r, err := NewRange(10, 100)
	must(t, r, err)
	bound := func(v value.Value) *Bound { return &Bound{Value: v} }
	for _, c := range []struct {
		lo, hi *Bound
		class  Class
		want   int // shards
	}{
		{bound(value.NewInt(250)), nil, Integer, 8},
		{bound(value.NewString("250")), nil, Integer, 8},
		{bound(value.NewDecimal("250.5")), bound(value.NewDecimal("299.5")), Integer, 1},
		{nil, bound(value.NewDecimal("300.5")), Decimal, 4},
		{nil, bound(value.NewDecimal("0.5")), Decimal, 1},
		{nil, bound(value.NewDecimal("-0.5")), Integer, 0},
		{nil, bound(value.NewInt(-1)), Unsigned, 0},
		{bound(value.NewDecimal("99999999999999999999")), nil, Integer, 0},
		{bound(value.NewString("250")), nil, CharBinary, 10}, // '9' > '250'
		{bound(value.NewString("x")), nil, Integer, 10},
		{bound(value.NewFloat(250)), nil, Float, 10},
		{bound(value.Value{}), nil, Integer, 10},
	} {
		if got := Interval(r, c.lo, c.hi, Column{Class: c.class}); len(got) != c.want {
			t.Errorf("%v to %v as %v: %v", c.lo, c.hi, c.class, got)
		}
	}
}

func TestColumnJoins(t *testing.T) {
	for _, c := range []struct {
		a, b Class
		want bool
	}{
		{Integer, Unsigned, true},
		{CharCI, CharCI, true},
		{CharCI, CharBinary, false},
		{Integer, CharBinary, false},
		{Unknown, Unknown, false},
		{Float, Float, false},
	} {
		if got := (Column{Class: c.a}).Joins(Column{Class: c.b}); got != c.want {
			t.Errorf("%v with %v: %v", c.a, c.b, got)
		}
	}
}

// TestSpacesAtTheEnd gives keys with spaces at the end to rules without a fold: a column that pads calls them equal to others, so
// none is written, and reads by them go everywhere.
func TestSpacesAtTheEnd(t *testing.T) {
	hash, err := NewHash(12)
	must(t, hash, err)
	for _, class := range []Class{Unknown, CharBinary, CharCI} {
		for _, text := range []string{"a ", " ", "a  ", "5 ", "é "} {
			column := Column{Class: class}
			if got, err := Store(hash, value.NewString(text), column); !errors.Is(err, ErrConvert) || errors.Is(err, ErrNoShard) {
				t.Errorf("%q stored as %v: %v, %v", text, class, got, err)
			}
			if got, exact, err := Convert(hash, value.NewString(text), column); !errors.Is(err, ErrConvert) || errors.Is(err, ErrNoShard) || exact {
				t.Errorf("%q as %v: %v, exact %v, %v", text, class, got, exact, err)
			}
		}
		if got, err := Store(hash, value.NewString(" a"), Column{Class: class}); err != nil || got != value.NewString(" a") {
			t.Errorf("%v: %v, %v", class, got, err)
		}
	}
}

// foldedASCII is FoldBy with ascii_ci.
func foldedASCII(r Rule) Rule { return &folded{r, foldASCII} }
