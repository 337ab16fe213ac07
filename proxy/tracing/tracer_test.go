package tracing

import (
	"testing"

	"kingshard/config"
)

// Without a parent the ratio decides, with one the parent does.
func TestChoose(t *testing.T) {
	yes, _ := ParseParent(sampled)
	no := yes
	no.Sampled = false
	const rounds = 10000
	for _, c := range []struct {
		name     string
		cfg      config.Tracing
		parent   Parent
		min, max int // of rounds
	}{
		{"none", config.Tracing{SampleRatio: 0, MaxParents: parents}, Parent{}, 0, 0},
		{"all", config.Tracing{SampleRatio: 1, MaxParents: parents}, Parent{}, rounds, rounds},
		{"a tenth", config.Tracing{SampleRatio: 0.1, MaxParents: parents}, Parent{}, rounds / 20, rounds / 5},
		{"a sampled parent", config.Tracing{SampleRatio: 0, MaxParents: parents}, yes, rounds, rounds},
		{"an unsampled parent", config.Tracing{SampleRatio: 1, MaxParents: parents}, no, 0, 0},
		{"parents that do not count", config.Tracing{SampleRatio: 0}, yes, 0, 0},
		{"parents that do not count, all", config.Tracing{SampleRatio: 1}, no, rounds, rounds},
	} {
		tr := newTracer(&Exporter{}, &c.cfg)
		n := 0
		for range rounds {
			choice := tr.Choose(c.parent)
			if !choice.Made() {
				t.Fatal("no choice")
			}
			if choice.Traced() {
				n++
			}
			if followed := choice.parent.Known(); followed && !tr.Follows() {
				t.Fatal("the parent is followed")
			}
		}
		if n < c.min || n > c.max {
			t.Errorf("%s: %d of %d", c.name, n, rounds)
		}
	}
}

const parents = 1_000_000

// Clients that say of every statement that it is traced get no more than the limit, and are counted.
func TestParentsAreBounded(t *testing.T) {
	yes, _ := ParseParent(sampled)
	e := &Exporter{}
	tr := newTracer(e, &config.Tracing{SampleRatio: 1, MaxParents: 1})
	traced := 0
	for range 1000 {
		if c := tr.Choose(yes); c.Traced() {
			traced++
		}
	}
	if traced == 0 || traced > 100 { // in as many seconds as this loop would have to take
		t.Errorf("%d of 1000 are traced", traced)
	}
	if n := e.Stats().Refused; n != uint64(1000-traced) {
		t.Errorf("%d refused, %d traced", n, traced)
	}
}

// What every statement pays while tracing is on takes no memory.
func TestChooseAllocatesNothing(t *testing.T) {
	tr := newTracer(&Exporter{}, &config.Tracing{SampleRatio: 0.0001, MaxParents: 100})
	text := "SELECT 1 /*traceparent='" + sampled[:53] + "00'*/"
	if n := testing.AllocsPerRun(1000, func() {
		p, _ := ParentIn(text)
		c := tr.Choose(p)
		_ = c.Traced()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkChoose(b *testing.B) {
	tr := newTracer(&Exporter{}, &config.Tracing{SampleRatio: 0.0001, MaxParents: 100})
	for _, c := range []struct{ name, text string }{
		{"plain", "SELECT name FROM users WHERE id = 42"},
		{"unsampled", "SELECT name FROM users WHERE id = 42 /*traceparent='" + sampled[:53] + "00'*/"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, _ := ParentIn(c.text)
				c := tr.Choose(p)
				if c.Traced() && p.Known() {
					b.Fatal("traced")
				}
			}
		})
	}
}
