package session

import (
	"fmt"
	"strconv"
	"strings"

	"kingshard/config"
)

// finishMaxBytes is how much a statement of the client's may collect.
func finishMaxBytes(c *client) config.ByteSize {
	if own := c.account.FinishMaxBytes; own > 0 {
		return own
	}
	return c.snap.Config.FinishMaxBytes
}

// finishLimits count what one statement collects on a server, and bound it. Rows that are there already count as rows, and not in bytes.
type finishLimits struct {
	rows, bytes int
	maxRows     int // 0: any
	maxBytes    config.ByteSize
	// held is its part of what all statements under way have collected, which total bounds.
	held  heldBytes
	total config.ByteSize
}

// finishLimitsOf returns the limits of a client's next statement. They are to be given back.
func finishLimitsOf(c *client) finishLimits {
	cfg := c.snap.Config
	return finishLimits{maxRows: cfg.FinishMaxRows, maxBytes: finishMaxBytes(c), total: cfg.FinishTotalBytes, held: heldBytes{memory: &c.shared.Stats.Collected}}
}

// reached returns the error of a statement that would have collected more than it may, with so much that is about to go there. why says why it collects.
func (l *finishLimits) reached(rows, bytes int, why string) error {
	switch {
	case l.bytes+bytes > int(l.maxBytes):
		return newError(KSFinishLimit, fmt.Sprintf("the statement collects more than %v (finish_max_bytes) on one server: %s", l.maxBytes, why))
	case l.maxRows > 0 && l.rows+rows > l.maxRows:
		return newError(KSFinishLimit, fmt.Sprintf("the statement collects more than %d rows (finish_max_rows) on one server: %s", l.maxRows, why))
	}
	return nil
}

// add counts rows that are about to go to the server, or, with no bytes, that it has copied itself.
func (l *finishLimits) add(rows, bytes int, why string) error {
	if err := l.reached(rows, bytes, why); err != nil {
		return err
	}
	if !l.held.set(l.bytes + bytes) {
		return newError(KSFinishLimit, fmt.Sprintf("all statements under way would have collected more than %v (finish_total_bytes): %s", l.total, why))
	}
	l.rows, l.bytes = l.rows+rows, l.bytes+bytes
	return nil
}

// noMoreRows ends a query whose rows the server copies itself, so that it copies one at the most that is too many.
func (l *finishLimits) noMoreRows() string {
	if l.maxRows == 0 {
		return ""
	}
	return " LIMIT " + strconv.Itoa(l.maxRows-l.rows+1)
}

// giveBack counts what was collected as gone.
func (l *finishLimits) giveBack() { l.held.set(0) }

// limitJoin bounds what the final statement may join: the scratch tables have no keys, and a join of all their rows with each other would
// fill the server's disk. MySQL manual: "Server System Variables", max_join_size.
func (f *finishing) limitJoin() error {
	most := f.s.client.snap.Config.FinishMaxJoinSize
	if most == 0 || len(f.made) < 2 || f.own("max_join_size") != "DEFAULT" || f.own("sql_big_selects") != "DEFAULT" {
		return nil // the client has a limit of its own, or has lifted it
	}
	f.limited = true
	return f.exec("SET max_join_size = " + strconv.Itoa(most)) // which turns sql_big_selects off
}

// joinAsBefore is what takes back what limitJoin did, as SET has it.
const joinAsBefore = "max_join_size = DEFAULT, sql_big_selects = DEFAULT"

// own is the session's value of a variable, as SET takes it.
func (f *finishing) own(name string) string {
	if v := strings.TrimSpace(f.s.client.state.Value(name)); v != "" {
		return v
	}
	return "DEFAULT"
}
