package lockwaits

import (
	"fmt"
	"testing"
	"time"
)

// Threads are written as node and number: a1 is the first of node a. Changes are lists of them, the later the younger.
func TestVictims(t *testing.T) {
	for _, c := range []struct {
		changes [][]string
		edges   []string // two threads each
		want    string   // places of the victims
	}{
		{[][]string{{"a1", "b1"}, {"a2", "b2"}}, nil, "[]"},
		{[][]string{{"a1", "b1"}, {"a2", "b2"}}, []string{"a1a2"}, "[]"},
		{[][]string{{"a1", "b1"}, {"a2", "b2"}}, []string{"a1a2", "b2b1"}, "[1]"},
		{[][]string{{"a1", "b1"}, {"a2", "b2"}}, []string{"a2a1", "b1b2"}, "[1]"},
		{[][]string{{"a1", "b1"}, {"a2", "b2"}}, []string{"a1a2", "b1b2"}, "[]"},
		// Three nodes, three changes; one more waits for them and is in no circle.
		{[][]string{{"a1", "b1"}, {"b2", "c2"}, {"c3", "a3"}, {"a4", "b4"}}, []string{"b1b2", "c2c3", "a3a1", "a4a1"}, "[2]"},
		// A stranger's transaction is a part of the circle, and never the victim.
		{[][]string{{"a1", "b1"}, {"a2", "b2"}}, []string{"a1a9", "a9a2", "b2b1"}, "[1]"},
		// Two circles, two victims.
		{[][]string{{"a1", "b1"}, {"a2", "b2"}, {"a3", "b3"}, {"a4", "b4"}}, []string{"a1a2", "b2b1", "a3a4", "b4b3"}, "[1 3]"},
		// One server's own circle among strangers is its own affair.
		{[][]string{{"a1", "b1"}}, []string{"a8a9", "a9a8"}, "[]"},
		// The same thread number of another server is another thread.
		{[][]string{{"a1", "b2"}, {"a2", "b1"}}, []string{"a1a2", "b1b2"}, "[1]"},
	} {
		threads := map[*Wait][]Thread{}
		began := time.Unix(1000, 0)
		thread := func(s string) Thread { return Thread{s[:1], uint32(s[1] - '0')} }
		for k, list := range c.changes {
			w := &Wait{ID: uint32(k), Began: began.Add(time.Duration(k) * time.Second)}
			for _, s := range list {
				threads[w] = append(threads[w], thread(s))
			}
		}
		edges := map[edge]bool{}
		for _, e := range c.edges {
			edges[edge{thread(e[:2]), thread(e[2:])}] = true
		}
		got := []uint32{}
		for _, w := range victims(edges, threads) {
			got = append(got, w.ID)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v, %v: victims %v, want %s", c.changes, c.edges, got, c.want)
		}
	}
}
