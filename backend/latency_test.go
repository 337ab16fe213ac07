package backend

import (
	"testing"
	"time"

	"kingshard/config"
)

// The mean is of what was since the last look and of what was before, each by half, unless there was nothing to be seen.
func TestLatencyMean(t *testing.T) {
	var l Latency
	var total Load
	for k, step := range []struct {
		statements, errors uint64
		took, want         time.Duration
		wanted             bool
	}{
		{0, 0, 0, 0, true},
		{2, 0, 4 * time.Millisecond, 4 * time.Millisecond, false},
		{1, 0, 8 * time.Millisecond, 6 * time.Millisecond, false},
		{4, 2, 2 * time.Millisecond, 4 * time.Millisecond, false},
		{4, 3, time.Millisecond, 4 * time.Millisecond, true}, // it refuses
		{1, 0, time.Millisecond, time.Millisecond, false},
		{0, 0, 0, time.Millisecond, true},
		{1, 0, time.Second, time.Second, false},
		{1, 0, 0, time.Second / 2, false},
	} {
		total.Statements += step.statements
		total.Errors += step.errors
		total.Busy += step.took * time.Duration(step.statements)
		l.Note(func() Load { return total })
		if got := time.Duration(l.mean.Load()); got < step.want || got > step.want+2 || l.wanted.Load() != step.wanted {
			t.Errorf("look %d: %v, wanted %v", k, got, l.wanted.Load())
		}
	}
}

// openQuick opens a node whose reads choose by latency, with replicas of the weights 1, 1 and 4.
func openQuick(t *testing.T) *Node {
	t.Helper()
	nodes, err := Open(&config.Config{Nodes: []config.Node{{
		Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2,127.0.0.1:3,127.0.0.1:4@4", MaxConnsLimit: 1, ReplicaChoice: "latency",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["n"].Close)
	return nodes["n"]
}

// Of two replicas reads go to the quicker one, by weight; one that has not been measured gets one.
func TestReaderByLatency(t *testing.T) {
	n := openQuick(t)
	a, b, c := n.Replicas[0], n.Replicas[1], n.Replicas[2]
	if seen := reads(n, 300); len(seen) < 2 || seen["127.0.0.1:4"] < 150 {
		t.Errorf("nothing is known: %v", seen)
	}
	c.SetState(Down)
	a.Latency.mean.Store(1000)
	b.Latency.mean.Store(1100)
	if seen := reads(n, 50); seen["127.0.0.1:2"] != 50 {
		t.Errorf("the quicker one: %v", seen)
	}
	b.Latency.wanted.Store(true)
	if seen := reads(n, 50); seen["127.0.0.1:3"] != 1 {
		t.Errorf("one is to be measured: %v", seen)
	}
	tried := map[string]int{}
	for range 10 {
		tried[n.Reader(1).Addr]++
	}
	if tried["127.0.0.1:2"] == 0 || tried["127.0.0.1:3"] == 0 {
		t.Errorf("what failed on one is tried on %v only", tried)
	}
	c.SetState(Up)
	c.Latency.mean.Store(3900)
	for range 50 {
		if r := n.choice.circles[0].quick(); r == b {
			t.Fatal("the slowest of three, by weight, won a draw of two")
		}
	}
	c.Latency.mean.Store(4100)
	b.SetState(Down)
	if seen := reads(n, 50); seen["127.0.0.1:2"] != 50 {
		t.Errorf("one of four times the weight is slower by more: %v", seen)
	}
	a.SetState(Down)
	if seen := reads(n, 50); seen["127.0.0.1:4"] != 50 {
		t.Errorf("one is left: %v", seen)
	}
	c.SetState(Down)
	if r := n.Reader(0); r != n.Primary {
		t.Errorf("none is left: %s", r.Addr)
	}
}

// What a reload opens anew is as quick as it was.
func TestLatencySucceeds(t *testing.T) {
	old, n := openQuick(t), openQuick(t)
	old.Replicas[1].Latency.mean.Store(1000)
	n.Succeed(old)
	if got := n.Replicas[1].Latency.Mean(); got != 1000 {
		t.Errorf("%v after a reload", got)
	}
}

// BenchmarkReader is what each read pays for the choice of its replica.
func BenchmarkReader(b *testing.B) {
	for _, choice := range []string{"weight", "latency"} {
		b.Run(choice, func(b *testing.B) {
			nodes, err := Open(&config.Config{Nodes: []config.Node{{
				Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2,127.0.0.1:3,127.0.0.1:4", MaxConnsLimit: 1, ReplicaChoice: choice,
			}}})
			if err != nil {
				b.Fatal(err)
			}
			defer nodes["n"].Close()
			b.ReportAllocs()
			for b.Loop() {
				nodes["n"].Reader(0)
			}
		})
	}
}
