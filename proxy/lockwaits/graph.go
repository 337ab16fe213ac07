package lockwaits

import (
	"cmp"
	"slices"
	"strings"
)

// Thread is a connection as its server counts it.
type Thread struct {
	Addr string
	ID   uint32
}

// edge says that the first thread waits for a lock that the second one has.
type edge struct{ from, to Thread }

// victims gives one change of each circle that the edges close over the changes: the youngest, which has done the least, and of
// changes of the same moment the one with the greater name of its process, or id: so all processes choose the same one. threads are those of each change.
func victims(edges map[edge]bool, threads map[*Wait][]Thread) (list []*Wait) {
	g := newGraph(edges, threads)
	for _, circle := range g.circles() {
		var victim *Wait
		for _, v := range circle {
			if w := g.waits[v]; w != nil && (victim == nil || younger(w, victim)) {
				victim = w
			}
		}
		if victim != nil {
			list = append(list, victim)
		}
	}
	slices.SortFunc(list, func(a, b *Wait) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func younger(a, b *Wait) bool {
	return cmp.Or(a.Began.Compare(b.Began), strings.Compare(a.process, b.process), cmp.Compare(a.ID, b.ID)) > 0
}

// graph is who waits for whom: a vertex is a change with all of its threads, or a thread of somebody else.
type graph struct {
	waits []*Wait // by vertex; nil for others
	next  [][]int // the vertices that one waits for
}

func newGraph(edges map[edge]bool, threads map[*Wait][]Thread) *graph {
	g := new(graph)
	at := make(map[Thread]int)
	add := func(w *Wait) int {
		g.waits = append(g.waits, w)
		g.next = append(g.next, nil)
		return len(g.waits) - 1
	}
	for w, list := range threads {
		v := add(w)
		for _, t := range list {
			at[t] = v
		}
	}
	vertex := func(t Thread) int {
		v, ok := at[t]
		if !ok {
			v = add(nil)
			at[t] = v
		}
		return v
	}
	for e := range edges {
		from, to := vertex(e.from), vertex(e.to)
		if from != to {
			g.next[from] = append(g.next[from], to)
		}
	}
	return g
}

// circles gives the strongly connected parts of more than one vertex, by Tarjan's algorithm.
func (g *graph) circles() (list [][]int) {
	n := len(g.waits)
	order, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	count := 0
	var visit func(v int)
	visit = func(v int) {
		count++
		order[v], low[v], on[v] = count, count, true
		stack = append(stack, v)
		for _, u := range g.next[v] {
			switch {
			case order[u] == 0:
				visit(u)
				low[v] = min(low[v], low[u])
			case on[u]:
				low[v] = min(low[v], order[u])
			}
		}
		if low[v] != order[v] {
			return
		}
		k := slices.Index(stack, v)
		part := slices.Clone(stack[k:])
		stack = stack[:k]
		for _, u := range part {
			on[u] = false
		}
		if len(part) > 1 {
			list = append(list, part)
		}
	}
	for v := range n {
		if order[v] == 0 {
			visit(v)
		}
	}
	return list
}
