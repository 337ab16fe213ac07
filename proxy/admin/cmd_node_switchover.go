package admin

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"kingshard/proxy/admin/change"
)

const (
	// switchoverSeconds is how long a switchover waits for transactions when it does not say, and switchoverSecondsMax the longest that it may say: statements
	// wait meanwhile.
	switchoverSeconds    = 5
	switchoverSecondsMax = 600
)

var switchoverColumns = append(append(texts("node", "primary"), numbers("held_ms", "ended")...), texts("replicas", "left")...)

func (c *call) switchover(node string) (*answer, error) {
	if !c.r.Word("to") {
		return nil, c.r.Expected("TO")
	}
	to, ok := c.r.Name()
	if !ok {
		return nil, c.r.Expected("the address of a replica in quotes, as SHOW KS NODES has it")
	}
	seconds := uint64(switchoverSeconds)
	if c.r.Word("seconds") {
		if seconds, ok = c.r.Number(); !ok || seconds < 1 || seconds > switchoverSecondsMax {
			return nil, c.r.Expected("a number of seconds, 1 to " + strconv.Itoa(switchoverSecondsMax))
		}
	}
	force, err := c.r.force()
	if err != nil {
		return nil, err
	}
	if err := c.r.End(); err != nil {
		return nil, err
	}
	return c.a.switchover(c.who, node, to, time.Duration(seconds)*time.Second, force)
}

// switchover makes a replica the primary by plan, and tells what came of it.
func (a *Admin) switchover(w change.Who, node, to string, patience time.Duration, force string) (*answer, error) {
	r, err := a.Configuration.Switchover(w, node, to, patience, force)
	if err != nil {
		return nil, err
	}
	var left any
	if len(r.Left) > 0 {
		left = strings.ReplaceAll(errors.Join(r.Left...).Error(), "\n", "; ")
	}
	return &answer{switchoverColumns, [][]any{{node, to, float64(r.Held.Microseconds()) / 1000, r.Ended, strings.Join(r.Follow, ","), left}}}, nil
}
