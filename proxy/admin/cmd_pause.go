package admin

import (
	"strconv"
	"time"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

const (
	// pauseSeconds is how long a statement waits for the end of a pause when KS PAUSE does not say, and pauseSecondsMax the
	// longest that it may say.
	pauseSeconds    = 30
	pauseSecondsMax = 3600
)

var pauseCommand = command{
	verb: "pause", usage: "KS PAUSE [SECONDS n]", rights: account.Operate,
	about: "New statements wait for KS RESUME, each " + strconv.Itoa(pauseSeconds) + " or so many seconds at most; those under way and transactions go on. Shows how many there are",
	run: func(c *call) (*answer, error) {
		seconds := uint64(pauseSeconds)
		if c.r.Word("seconds") {
			var ok bool
			if seconds, ok = c.r.Number(); !ok {
				return nil, c.r.Expected("a number of seconds")
			}
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return c.a.pause(c.who, seconds)
	},
}

var pauseColumns = append(texts("state"), numbers("under_way", "waiting", "seconds")...)

// paused tells whether the proxy is paused and since when, how many sessions run a statement or are in a transaction, and how many wait.
func (a *Admin) paused(w change.Who) *answer {
	p := a.shared.Pause.State()
	state, seconds := "online", 0
	if !p.Since.IsZero() {
		state, seconds = "paused", int(time.Since(p.Since).Seconds())
	}
	return &answer{pauseColumns, [][]any{{state, a.underWay(w), p.Waiting, seconds}}}
}

// underWay counts the sessions that run a statement or are in a transaction on a server, the one that asks left out.
func (a *Admin) underWay(w change.Who) (n int) {
	for _, s := range a.shared.Sessions.All() {
		if s.ID() != w.Session && s.UnderWay() {
			n++
		}
	}
	return n
}

// pause makes new statements wait, each so many seconds at most.
func (a *Admin) pause(w change.Who, seconds uint64) (*answer, error) {
	err := a.Trail.Act(w, account.Operate, "pause", strconv.FormatUint(seconds, 10)+" s", func() error {
		if seconds < 1 || seconds > pauseSecondsMax {
			return change.Failed("a statement can wait 1 to %d seconds", pauseSecondsMax)
		}
		a.shared.Pause.Begin(time.Duration(seconds) * time.Second)
		return nil
	})
	return a.paused(w), err
}
