package history

import (
	"fmt"
	"slices"
	"strings"
)

// edges is a set of kinds of edges.
type edges uint8

const (
	ww edges = 1 << iota
	wr
	rw
	rt // one was over when the other one began
)

var edgeNames = map[edges]string{ww: "ww", wr: "wr", rw: "rw", rt: "rt"}

// edge leads to a transaction that comes later in any serial run, as far as one of the kind says.
type edge struct {
	to, key int
	kind    edges
}

// graph has the edges of each transaction, and behind those of all transactions the ones of moments: each end of a transaction is one, which is ahead of
// the next one, so that edges in real time are few.
type graph [][]edge

// nobody stands for who appended a value that is in none of the transactions.
const nobody = -1

// graph makes the edges of what is kept.
func (c *checking) graph(realTime bool) graph {
	g := make(graph, len(c.history.Transactions))
	add := func(from, to, key int, kind edges) {
		if from != to && from != nobody && to != nobody {
			g[from] = append(g[from], edge{to, key, kind})
		}
	}
	order := map[int][]int{} // by key, who appended
	for key, list := range c.history.Final {
		for _, value := range list {
			by := nobody
			if w, known := c.writers[value]; known {
				by = w.by
			}
			order[key] = append(order[key], by)
		}
		for k := 1; k < len(order[key]); k++ {
			add(order[key][k-1], order[key][k], key, ww)
		}
	}
	for _, s := range c.seen {
		if s.length > 0 {
			add(order[s.key][s.length-1], s.by, s.key, wr)
		}
		if s.length < len(order[s.key]) {
			add(s.by, order[s.key][s.length], s.key, rw)
		}
	}
	if realTime {
		g = c.moments(g)
	}
	return g
}

// moments adds the edges in real time.
func (c *checking) moments(g graph) graph {
	all := c.history.Transactions
	var began, ended []int
	for k, t := range all {
		if !c.kept[k] {
			continue
		}
		began = append(began, k)
		if t.Outcome == Committed {
			ended = append(ended, k)
		}
	}
	slices.SortFunc(began, func(a, b int) int { return int(all[a].Began - all[b].Began) })
	slices.SortFunc(ended, func(a, b int) int { return int(all[a].Ended - all[b].Ended) })
	moment := -1
	for _, k := range began {
		for len(ended) > 0 && all[ended[0]].Ended < all[k].Began {
			g = append(g, nil)
			if moment >= 0 {
				g[moment] = append(g[moment], edge{len(g) - 1, 0, rt})
			}
			moment = len(g) - 1
			g[ended[0]] = append(g[ended[0]], edge{moment, 0, rt})
			ended = ended[1:]
		}
		if moment >= 0 {
			g[moment] = append(g[moment], edge{k, 0, rt})
		}
	}
	return g
}

// parts returns for each vertex the number of its strongly connected part, by the edges of some kinds: by Tarjan's algorithm.
func (g graph) parts(kinds edges) []int {
	order, low, part := make([]int, len(g)), make([]int, len(g)), make([]int, len(g))
	var stack []int
	count, parts := 0, 0
	var visit func(v int)
	visit = func(v int) {
		count++
		order[v], low[v] = count, count
		stack = append(stack, v)
		for _, e := range g[v] {
			switch {
			case e.kind&kinds == 0:
			case order[e.to] == 0:
				visit(e.to)
				low[v] = min(low[v], low[e.to])
			case part[e.to] == 0:
				low[v] = min(low[v], order[e.to])
			}
		}
		if low[v] != order[v] {
			return
		}
		parts++
		k := slices.Index(stack, v)
		for _, u := range stack[k:] {
			part[u] = parts
		}
		stack = stack[:k]
	}
	for v := range g {
		if order[v] == 0 {
			visit(v)
		}
	}
	return part
}

// path returns the edges of a shortest way over some kinds of them, nil for none.
func (g graph) path(from, to int, kinds edges) []edge {
	type step struct {
		before int
		by     edge
	}
	came := map[int]step{from: {before: -1}}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, e := range g[queue[0]] {
			if _, been := came[e.to]; been || e.kind&kinds == 0 {
				continue
			}
			came[e.to] = step{queue[0], e}
			if e.to == to {
				var way []edge
				for v := to; v != from; v = came[v].before {
					way = append(way, came[v].by)
				}
				slices.Reverse(way)
				return way
			}
			queue = append(queue, e.to)
		}
	}
	return nil
}

// circles reports circles: in each part of the graph one of each kind but GSingle, of which each rw edge may close one.
func (c *checking) circles() {
	g, before := c.graph(false), len(c.found)
	c.circle(g, G0, search{closing: ww, back: ww})
	c.circle(g, G1c, search{closing: wr, back: ww | wr})
	single := c.circle(g, GSingle, search{closing: rw, beside: rw, back: ww | wr, each: true})
	c.circle(g, G2, search{closing: rw, back: ww | wr | rw, without: single})
	if len(c.found) == before {
		c.circle(c.graph(true), RealTime, search{closing: ww | wr | rw, back: ww | wr | rw | rt})
	}
}

// search says which circles are looked for: those that an edge of one of the kinds closing closes, behind a way of the kinds back.
type search struct {
	closing, back edges
	beside        edges        // of what the parts are made in which circles are, beside back
	each          bool         // all edges of the kinds closing are looked at, and not the first of a part
	without       map[int]bool // parts that are left out
}

// circle reports circles as a kind, and returns the parts that have some.
func (c *checking) circle(g graph, kind Kind, s search) (found map[int]bool) {
	found = map[int]bool{}
	part := g.parts(s.back | s.beside)
	for v := range g {
		for _, e := range g[v] {
			if e.kind&s.closing == 0 || part[v] != part[e.to] || s.without[part[v]] || found[part[v]] && !s.each {
				continue
			}
			if way := g.path(e.to, v, s.back); way != nil {
				found[part[v]] = true
				c.report(kind, "%s", c.tell(v, append([]edge{e}, way...)))
			}
		}
	}
	return found
}

// tell writes a circle down.
func (c *checking) tell(v int, way []edge) string {
	var b strings.Builder
	b.WriteString(c.name(v))
	for _, e := range way {
		switch {
		case e.to >= len(c.history.Transactions):
			continue
		case e.kind == rt:
			b.WriteString(" was over before ")
		default:
			fmt.Fprintf(&b, " -%s of list %d-> ", edgeNames[e.kind], e.key)
		}
		b.WriteString(c.name(e.to))
	}
	return b.String()
}
