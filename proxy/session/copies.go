package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// A change of a reference table runs on the copy of each node. So that all copies come out equal, it has one time on all of them, their servers must have
// the same defaults, and what each of them says of its rows must be the same.

// openCopies begins a change; one of the copies of a table has them come out equal.
func (cs *changes) openCopies(text string, p *plan.Plan, nodes []*backend.Node) (*change, error) {
	c := &change{text: text}
	if !p.Copies() || len(nodes) < 2 {
		return c, cs.open(c, nodes)
	}
	if err := cs.agree(nodes); err != nil {
		return c, err
	}
	c.copies, c.repeatable = true, p.ReadsBeside()
	if (cs.client.txn.InTransaction() || !cs.client.state.Autocommit) && c.repeatable {
		// Rows that a statement only reads are locked from REPEATABLE READ on: below, they may be others when the next node reads them.
		if level := cs.leases.branches().levelOn(nodes[0].Primary); strings.HasPrefix(level, "READ ") {
			return c, newError(KSRefusedSharding, "a change of the table "+p.Target.Parsed.Name+", which is on every node, by rows that it only reads, or with LIMIT, in a transaction with "+level+
				": they may be others on each; use REPEATABLE READ, or no transaction")
		}
	}
	if err := cs.open(c, nodes); err != nil {
		return c, err
	}
	if err := cs.oneTime(c); err != nil {
		return c, cs.writeFailed(c, err, nil)
	}
	return c, nil
}

// shapesValues are variables that say what a server makes of a statement's values.
var shapesValues = []string{"time_zone", "lc_time_names", "div_precision_increment", "default_week_format", "explicit_defaults_for_timestamp", "group_concat_max_len", "foreign_key_checks"}

// agree refuses a change of copies whose servers give new sessions other values of variables that count, unless the client has set them. sql_mode is the same
// on all in any case.
func (cs *changes) agree(nodes []*backend.Node) error {
	first := &nodes[0].Primary.Variables
	for _, name := range shapesValues {
		if cs.client.state.Value(name) != "" {
			continue
		}
		for _, n := range nodes[1:] {
			a, b := first.Value(name), n.Primary.Variables.Value(name)
			if a != "" && b != "" && a != b {
				return newError(KSRefusedSharding, fmt.Sprintf("a change of a table on every node: %s is %s on node %s and %s on node %s; give the servers the same one, or SET it",
					name, a, nodes[0].Name, b, n.Name))
			}
		}
	}
	return nil
}

// oneTime stops the clocks of all nodes at the time of the first one, as NOW() and the defaults and ON UPDATE of columns give it, until [changes.goOn]. It
// refuses nodes whose time zones are different.
func (cs *changes) oneTime(c *change) error {
	stops := cs.client.state.Value("timestamp") == ""
	if !stops && cs.client.state.Value("time_zone") != "" {
		return nil
	}
	zones := ""
	for k := range c.loans {
		l := &c.loans[k]
		alike := cs.client.state.Value("time_zone") != "" || k > 0 && sameZone(c.loans[0].Instance, l.Instance)
		if k > 0 && alike {
			continue
		}
		if l.Kept {
			if err := cs.client.state.Found.Settle(l.Conn, false); err != nil { // the question finds a row
				return err
			}
			cs.client.state.Found.Overwritten()
		}
		zone, clock := "", ""
		// Two moments tell two zones apart, one in the winter and one in the summer.
		err := l.Conn.Rows("SELECT @@timestamp, FROM_UNIXTIME(1704067200), FROM_UNIXTIME(1719792000) LIMIT 1", 3, func(row []string) { clock, zone = row[0], row[1]+row[2] })
		if err != nil {
			return err
		}
		if k == 0 {
			zones = zone
			if stops {
				c.clock = clock
			}
		} else if zone != zones {
			return newError(KSRefusedSharding, "a change of a table on every node: the nodes "+c.loans[0].Node+" and "+l.Node+" have different time zones; give the servers the same one, or SET time_zone")
		}
	}
	return cs.setClocks(c, c.clock)
}

// sameZone reports whether new sessions of two servers are known to have the same time zone.
func sameZone(a, b *backend.Instance) bool {
	zone := a.Variables.Value("time_zone")
	return zone != "" && zone == b.Variables.Value("time_zone") && (!strings.EqualFold(zone, "SYSTEM") || a.Variables.Value("system_time_zone") == b.Variables.Value("system_time_zone"))
}

// goOn has the clocks go on that oneTime has stopped. An error is one that closes the connections: they must not go to anybody else.
func (cs *changes) goOn(c *change) error {
	if c.clock == "" {
		return nil
	}
	c.clock = ""
	if err := cs.setClocks(c, "DEFAULT"); err != nil {
		return notSQL(err)
	}
	return nil
}

// setClocks sends all nodes of a change at a time what their clocks are.
func (cs *changes) setClocks(c *change, clock string) (failure error) {
	if clock == "" {
		return nil
	}
	sent := 0
	for k := range c.loans {
		c.loans[k].Conn.Command(mysql.ComQuery, "SET timestamp = "+clock)
		if failure = c.loans[k].Conn.Flush(); failure != nil {
			break
		}
		sent++
	}
	for k := range c.loans[:sent] {
		if _, err := c.loans[k].Conn.ReadChange(); err != nil && (failure == nil || isConnError(err)) {
			failure = err
		}
	}
	return failure
}

// count is what a server says of the rows that a change of a copy found and changed.
type count struct {
	rows uint64
	info string
}

func countOf(ok *mysql.OKPacket) count {
	info, _, _ := bytes.Cut(ok.Info, []byte("Warnings: "))
	return count{ok.AffectedRows, string(info)}
}

// cameApart is the error of a change that found or changed more rows in one copy than in another one: they differ, or a change came between. Each row that
// the first copy's server has found it keeps locked, so that nobody can take it from what a later one finds: as many are the same ones.
func (c *change) cameApart(p *plan.Plan, first, here string) error {
	c.apart = true
	t := p.Target.Table
	return newError(KSNotCarriedOut, fmt.Sprintf("No node has kept the change: the copies of the table %s.%s on the nodes %s and %s do not have the same rows for it. "+
		"If another change did not just come between, they differ: KS CHECK REFERENCE %[1]s.%[2]s tells how, and mends it.", t.DB, t.Name, first, here))
}

// apartTries is how often a change outside of a transaction is tried that found other rows on one node than on another.
const apartTries = 4

// untilEqual tries a change, and again where another one came between the nodes.
func (cs *changes) untilEqual(try func() (*change, bool, error)) (failed bool, err error) {
	var c *change
	for n := 1; ; n++ {
		failed, err = cs.shards.untilLocked(func() (_ *change, failed bool, err error) {
			c, failed, err = try()
			return c, failed, err
		})
		if c == nil || !c.apart || c.within || n == apartTries {
			return failed, err
		}
		if c.next.IsSet() {
			cs.client.txn.Next = c.next
		}
		select {
		case <-cs.client.entry.Cancelled():
			return true, interrupted()
		case <-time.After(rand.N(lockRetryMax)):
		}
	}
}

// nextOf returns the characteristics of a change's own transaction.
func (c *change) nextOf() txn.Characteristics {
	if c.repeatable && c.next.Level() != "SERIALIZABLE" {
		return c.next.RepeatableRead()
	}
	return c.next
}
