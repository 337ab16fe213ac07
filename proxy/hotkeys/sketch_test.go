package hotkeys

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/value"
	"kingshard/router"
)

func keyOf(values ...value.Value) Key {
	return Key{Placed: values[0], Values: values, Shard: router.Shard{Node: "n1", DB: "shop", Table: "orders_0001"}}
}

// TestSketch finds the keys with the most statements among very many that have one each, and says no more of any than it has seen.
func TestSketch(t *testing.T) {
	var s Sketch
	now := time.Unix(1e9, 0)
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]uint64{}
	const statements = 20_000
	for k := range statements {
		n := int64(1_000_000 + k)
		switch r := random.IntN(100); {
		case r < 20:
			n = 42
		case r < 30:
			n = -7
		case r < 33 && k > statements/2: // one that comes late
			n = 9
		}
		seen[fmt.Sprint(n)]++
		s.Add(keyOf(value.NewInt(n)), now)
	}
	counts := s.Counts(now)
	if len(counts) < 3 || counts[0].Text != "42" || counts[1].Text != "-7" || counts[2].Text != "9" {
		t.Fatalf("%+v", counts[:min(4, len(counts))])
	}
	for k, c := range counts {
		if c.Statements > seen[c.Text]*Every || c.Share > float64(c.Statements)/Every/statements+1e-9 || c.ID != ID(value.NewInt(map[string]int64{"42": 42, "-7": -7, "9": 9}[c.Text])) && k < 3 {
			t.Errorf("%+v, seen %d times", c, seen[c.Text])
		}
		if k < 3 && c.Statements < seen[c.Text]*Every*8/10 {
			t.Errorf("%+v, seen %d times: too few", c, seen[c.Text])
		}
	}
	if len(counts) > 3 && counts[3].Statements > Every*statements/1000 {
		t.Errorf("a key with one statement has many: %+v", counts[3])
	}
}

// TestSketchForgets counts what is old half, and in the end not at all.
func TestSketchForgets(t *testing.T) {
	var s Sketch
	now := time.Unix(1e9, 0)
	for range 100 {
		s.Add(keyOf(value.NewString("old")), now)
	}
	now = now.Add(halfLife)
	for range 80 {
		s.Add(keyOf(value.NewString("new")), now)
	}
	counts := s.Counts(now)
	if len(counts) != 2 || counts[0].Text != "new" || counts[0].Statements != 80*Every || counts[1].Statements != 50*Every || counts[1].Share != 50./130 {
		t.Errorf("%+v", counts)
	}
	if counts := s.Counts(now.Add(8 * halfLife)); len(counts) != 0 {
		t.Errorf("kept: %+v", counts)
	}
	s.Add(keyOf(value.NewString("again")), now.Add(1000*halfLife))
	if counts := s.Counts(now.Add(1000 * halfLife)); len(counts) != 1 || counts[0].Text != "again" {
		t.Errorf("%+v", counts)
	}
}

// TestSketchTexts shows keys of every kind, long ones cut between characters.
func TestSketchTexts(t *testing.T) {
	for want, values := range map[string][]value.Value{
		"-5":                                {value.NewInt(-5)},
		"18446744073709551615":              {value.NewUint(1<<64 - 1)},
		"1.50":                              {value.NewDecimal("1.50")},
		"Acme":                              {value.NewString("Acme")},
		"X'FF01'":                           {value.NewBytes("\xff\x01")},
		"de, 42":                            {value.NewString("de"), value.NewInt(42)},
		"NULL":                              {value.Value{}},
		strings.Repeat("é", 32):             {value.NewString(strings.Repeat("é", 32))},
		"x" + strings.Repeat("é", 31) + "…": {value.NewString("x" + strings.Repeat("é", 32))},
		strings.Repeat("a", 64) + "…":       {value.NewString(strings.Repeat("a", 65))},
	} {
		var s Sketch
		s.Add(keyOf(values...), time.Unix(1e9, 0))
		if counts := s.Counts(time.Unix(1e9, 0)); len(counts) != 1 || counts[0].Text != want || Text(values) != want {
			t.Errorf("%+v, want %s", counts, want)
		}
	}
}

// TestAddAllocatesNothing adds keys that a sketch has and such that take the place of others.
func TestAddAllocatesNothing(t *testing.T) {
	var tables Tables
	now, n := time.Now(), int64(0)
	key := keyOf(value.NewInt(0))
	if allocs := testing.AllocsPerRun(1000, func() {
		n++
		key.Placed = value.NewInt(n % 300)
		key.Values[0] = key.Placed
		tables.Of("shop", "orders").Add(key, now)
		key.Placed = value.NewString("a text that is a key")
		key.Values[0] = key.Placed
		tables.Of("shop", "orders").Add(key, now)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestTables has goroutines use sketches at once.
func TestTables(t *testing.T) {
	var tables Tables
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for k := range 1000 {
				tables.Of("shop", fmt.Sprint("t", k%3)).Add(keyOf(value.NewInt(int64(g))), time.Now())
				if k%100 == 0 {
					tables.Counts("shop", "t1", time.Now())
				}
			}
		})
	}
	group.Wait()
	if len(tables.Counts("shop", "t1", time.Now())) == 0 || tables.Counts("shop", "none", time.Now()) != nil {
		t.Error("counts are lost, or made of nothing")
	}
	if tables.Reset(); tables.Counts("shop", "t1", time.Now()) != nil {
		t.Error("counts outlive Reset")
	}
}

// TestSampled takes one of so many.
func TestSampled(t *testing.T) {
	taken := 0
	for range 64_000 {
		if Sampled() {
			taken++
		}
	}
	if taken < 800 || taken > 1200 {
		t.Errorf("%d of 64000", taken)
	}
}

func BenchmarkSampled(b *testing.B) {
	taken := 0
	for b.Loop() {
		if Sampled() {
			taken++
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Sketch
	now, n := time.Now(), int64(0)
	key := keyOf(value.NewInt(0))
	for b.Loop() {
		n++
		key.Placed = value.NewInt(n % 10_000)
		s.Add(key, now)
	}
}
