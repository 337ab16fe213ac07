package driver

import (
	"sync"
	"time"
)

// clocks are those of servers as far as they are known: each is asked now and then by a transaction that needs it, and reckoned by this process's own
// in between. Any goroutine may use it. What comes of a clock that jumps, docs/design/atomic-commit.md says.
type clocks struct {
	mu   sync.Mutex
	read map[string]reading // by what servers call themselves
}

// reading is what a server's clock was at a moment of this process.
type reading struct{ clock, at time.Time }

// clockFor is for how long a reading is used.
const clockFor = 10 * time.Second

// clockFormat is how a server writes a DATETIME(6), as time.Parse has it.
const clockFormat = "2006-01-02 15:04:05.000000"

// note takes a server's answer to the question for its time with within added to it, which has just come: what the clock has gone on by since it was read makes
// deadlines earlier.
func (c *clocks) note(server, answer string, within time.Duration) {
	t, err := time.Parse(clockFormat, answer)
	if err != nil {
		return // it is asked again
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil {
		c.read = map[string]reading{}
	}
	c.read[server] = reading{t.Add(-within), time.Now()}
}

// in returns the time by a server's clock when within has gone by, as the server writes it; "" where it has to be asked.
func (c *clocks) in(server string, within time.Duration) string {
	c.mu.Lock()
	r, ok := c.read[server]
	c.mu.Unlock()
	since := time.Since(r.at)
	if !ok || since > clockFor {
		return ""
	}
	return r.clock.Add(since + within).Format(clockFormat)
}

// forget has a server asked anew.
func (c *clocks) forget(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.read, server)
}
