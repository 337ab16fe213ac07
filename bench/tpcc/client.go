package tpcc

import (
	"errors"
	"time"
)

// client runs transactions of one warehouse, one after another. It is one goroutine's.
type client struct {
	session  session
	random   *random
	home     int
	district int // whose stock level it asks for
	remote   bool
	phase    *phase
	deck     []Kind // what is still to be run before the mix begins anew
	result   Result
}

// pause is how long a client waits before it tries again what does not work now.
const pause = 20 * time.Millisecond

// next returns the kind of the next transaction.
func (c *client) next() Kind {
	if len(c.deck) == 0 {
		for k, n := range mix {
			for range n {
				c.deck = append(c.deck, Kind(k))
			}
		}
		c.random.Shuffle(len(c.deck), func(i, j int) { c.deck[i], c.deck[j] = c.deck[j], c.deck[i] })
	}
	k := c.deck[0]
	c.deck = c.deck[1:]
	return k
}

// loop runs transactions until the run is over.
func (c *client) loop() {
	defer c.session.close()
	for !c.phase.over() {
		k := c.next()
		began := time.Now()
		count := c.toTheEnd(c.draw(k))
		took := time.Since(began)
		c.result.All[k].add(count)
		if !c.phase.measured() {
			continue
		}
		c.result.Measured[k].add(count)
		if count.Committed+count.RolledBack > 0 {
			c.result.Latencies[k] = append(c.result.Latencies[k], took)
		}
	}
}

// toTheEnd runs a transaction, and again if it may succeed then, and counts how it ended.
func (c *client) toTheEnd(t transaction) Count {
	for {
		committed, v, err := c.try(t)
		if err == nil {
			if committed {
				return Count{Committed: 1}
			}
			return Count{RolledBack: 1}
		}
		c.result.fault(err)
		switch {
		case v == refuse:
			return Count{Refused: 1}
		case v == unknown:
			return Count{Unknown: 1}
		case v == give || c.phase.late():
			return Count{Failed: 1}
		}
		c.result.Retries++
		if n, _ := number(err); n != 1213 { // a deadlock is over, what else there is may last
			time.Sleep(pause)
		}
	}
}

// try runs a transaction once. Without an error it was committed or, as it must be, rolled back. An error comes with what to do about it; then
// the connection has no transaction, or is closed.
func (c *client) try(t transaction) (committed bool, v verdict, err error) {
	s := &c.session
	if err := s.connect(); err != nil {
		time.Sleep(pause)
		return false, judge(err), err
	}
	if err := s.command("BEGIN"); err != nil {
		s.close()
		return false, judge(err), err
	}
	if err := t.run(s); err != nil {
		if s.command("ROLLBACK") != nil {
			s.close()
		}
		if errors.Is(err, errUnusedItem) {
			return false, 0, nil
		}
		return false, judge(err), err
	}
	if err := s.command("COMMIT"); err != nil {
		s.close()
		return false, judgeCommit(err), err
	}
	return true, 0, nil
}
