package admin

import (
	"strconv"
	"time"

	"kingshard/proxy/admin/change"
)

const (
	// drainSeconds is how long transactions may take to end when a statement does not say, and drainSecondsMax the longest that it may say: other
	// statements wait meanwhile.
	drainSeconds    = 5
	drainSecondsMax = 600
)

var nodePauseColumns = append(texts("node", "state"), numbers("held_ms", "waiting", "ended")...)

func (c *call) pauseNode(node string) (*answer, error) {
	patience, force, err := c.r.patience()
	if err != nil {
		return nil, err
	}
	return c.a.pauseNode(c.who, node, patience, force)
}

func (c *call) resumeNode(node string) (*answer, error) {
	if err := c.r.End(); err != nil {
		return nil, err
	}
	return c.a.resumeNode(c.who, node)
}

// pauseNode has new statements for a node wait, and its servers come to rest.
func (a *Admin) pauseNode(w change.Who, node string, patience time.Duration, force string) (*answer, error) {
	p, err := a.Configuration.Pause(w, node, patience, force)
	return nodePause(node, "paused", p), err
}

// resumeNode ends that.
func (a *Admin) resumeNode(w change.Who, node string) (*answer, error) {
	p, err := a.Configuration.Resume(w, node)
	return nodePause(node, "online", p), err
}

func nodePause(node, state string, p change.Paused) *answer {
	return &answer{nodePauseColumns, [][]any{{node, state, float64(p.For.Microseconds()) / 1000, p.Waiting, p.Ended}}}
}

// patience reads the rest of a statement that waits for connections in use: SECONDS and FORCE with its reason, where they are there.
func (r *reader) patience() (patience time.Duration, force string, err error) {
	seconds, ok := uint64(drainSeconds), true
	if r.Word("seconds") {
		if seconds, ok = r.Number(); !ok || seconds < 1 || seconds > drainSecondsMax {
			return 0, "", r.Expected("a number of seconds, 1 to " + strconv.Itoa(drainSecondsMax))
		}
	}
	if force, err = r.force(); err == nil {
		err = r.End()
	}
	return time.Duration(seconds) * time.Second, force, err
}
