package history

import (
	"slices"
	"sort"
	"time"
)

// ends compares the lists with what clients heard.
func (c *checking) ends() {
	there := map[int]bool{}
	for key, list := range c.history.Final {
		for _, value := range list {
			w, known := c.writers[value]
			switch {
			case !known:
				c.report(Foreign, "list %d has %d, which nobody appended", key, value)
			case there[value]:
				c.report(Foreign, "list %d has %d, which is in a list already", key, value)
			case c.history.Transactions[w.by].Outcome == RolledBack:
				c.report(G1a, "list %d has %d of %s, which was rolled back", key, value, c.name(w.by))
			}
			there[value] = true
		}
	}
	for k, t := range c.history.Transactions {
		in, out := 0, 0
		for _, op := range t.Ops {
			switch {
			case op.Append == 0:
			case there[op.Append]:
				in++
			default:
				out++
			}
		}
		switch {
		case in > 0 && out > 0:
			c.report(Half, "%d values of %s are in the lists, and %d are not", in, c.name(k), out)
		case out > 0 && t.Outcome == Committed:
			c.report(Lost, "%d values of %s, which was committed", out, c.name(k))
		}
		c.kept[k] = in > 0 && t.Outcome != RolledBack || in+out == 0 && t.Outcome == Committed
	}
}

// reads looks at each read of transactions that are kept.
func (c *checking) reads() {
	for k, t := range c.history.Transactions {
		if !c.kept[k] {
			continue
		}
		own := map[int][]int{}
		for _, op := range t.Ops {
			if op.Append != 0 {
				own[op.Key] = append(own[op.Key], op.Append)
				continue
			}
			c.read(k, &op, own[op.Key])
		}
	}
}

// read looks at a read of the transaction k, which has appended its own values to the list before.
func (c *checking) read(k int, op *Op, own []int) {
	aborted := slices.IndexFunc(op.Read, func(value int) bool {
		w, known := c.writers[value]
		return known && !c.kept[w.by]
	})
	if aborted >= 0 {
		c.report(G1a, "%s read %d in list %d, of %s, which was not kept", c.name(k), op.Read[aborted], op.Key, c.name(c.writers[op.Read[aborted]].by))
		return
	}
	length := len(op.Read) - len(own)
	if length < 0 || !slices.Equal(op.Read[length:], own) {
		c.report(Internal, "%s appended %v to list %d and read %v", c.name(k), own, op.Key, op.Read)
		return
	}
	if length > 0 {
		if w, known := c.writers[op.Read[length-1]]; known && !w.last && w.by != k {
			c.report(G1b, "%s read %d in list %d, behind which %s appended more", c.name(k), op.Read[length-1], op.Key, c.name(w.by))
		}
	}
	if final := c.history.Final[op.Key]; len(final) < len(op.Read) || !slices.Equal(final[:len(op.Read)], op.Read) {
		c.report(Order, "%s read %v in list %d, which ended as %v", c.name(k), op.Read, op.Key, final)
		return
	}
	c.seen = append(c.seen, sight{k, op.Key, length})
}

// stale looks for transactions that began when more of a list had been told of than they saw: by a transaction that was committed, of what it read or
// appended.
func (c *checking) stale() {
	type told struct {
		at     time.Duration
		length int
	}
	by, sights := map[int][]told{}, slices.Clone(c.seen)
	for _, s := range c.seen {
		if t := c.history.Transactions[s.by]; t.Outcome == Committed {
			by[s.key] = append(by[s.key], told{t.Ended, s.length})
		}
	}
	for key, list := range c.history.Final {
		for place, value := range list {
			w, known := c.writers[value]
			if !known {
				continue
			}
			sights = append(sights, sight{w.by, key, place})
			if t := c.history.Transactions[w.by]; t.Outcome == Committed {
				by[key] = append(by[key], told{t.Ended, place + 1})
			}
		}
	}
	for _, list := range by {
		slices.SortFunc(list, func(a, b told) int { return int(a.at - b.at) })
		for k := 1; k < len(list); k++ {
			list[k].length = max(list[k].length, list[k-1].length)
		}
	}
	for _, s := range sights {
		list, began := by[s.key], c.history.Transactions[s.by].Began
		if before := sort.Search(len(list), func(k int) bool { return list[k].at >= began }); before > 0 && list[before-1].length > s.length {
			c.report(Stale, "%s saw %d values of list %d, of which %d had been told of before it began", c.name(s.by), s.length, s.key, list[before-1].length)
		}
	}
}
