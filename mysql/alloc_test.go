//go:build !race

package mysql

import "testing"

// TestSteadyStateAllocatesNothing holds for what every query does. Under the race detector pools drop buffers at random.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	client, backend := queryPair(40)
	longClient, longBackend := queryPair(170_000)
	megabyteClient, megabyteBackend := queryPair(1_000_000)
	dst, src := resultPair(1, NoCompression)
	manyDst, manySrc := resultPair(10000, NoCompression)
	renamed := []TableName{{FromSchema: "test", FromTable: "t", Schema: "test", Table: "u"}}
	for name, f := range map[string]func(){
		"query":        func() { exchange(t, client, backend) },
		"170 KB query": func() { exchange(t, longClient, longBackend) },
		"1 MB query":   func() { exchange(t, megabyteClient, megabyteBackend) },
		"one row":      func() { forwardOne(t, dst, src, ForwardOptions{Patch: patchNothing}) },
		"other names":  func() { forwardOne(t, dst, src, ForwardOptions{Patch: patchNothing, Rename: renamed}) },
		"10,000 rows":  func() { forwardOne(t, manyDst, manySrc, ForwardOptions{Patch: patchNothing}) },
	} {
		f()
		if n := testing.AllocsPerRun(200, f); n >= 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
