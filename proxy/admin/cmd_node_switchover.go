package admin

import (
	"errors"
	"strings"
	"time"

	"kingshard/proxy/admin/change"
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
	patience, force, err := c.r.patience()
	if err != nil {
		return nil, err
	}
	return c.a.switchover(c.who, node, to, patience, force)
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
