package change

import (
	"context"
	"fmt"
	"time"

	"kingshard/backend"
	"kingshard/proxy/account"
)

// pause is under way on a node whose statements wait until somebody says RESUME.
type pause struct {
	since  time.Time
	cancel context.CancelFunc // of the wait for connections in use
}

// Paused is what a node's pause has come to.
type Paused struct {
	For     time.Duration // since it began
	Waiting int           // statements
	Ended   int           // connections that were in use
}

// Pause has new statements for a node wait until Resume, and waits until none of its servers does anything for a session. Sessions may keep connections
// for as long as patience; then they are ended with force, a reason, and without one the pause is.
func (c *Configuration) Pause(w Who, node string, patience time.Duration, force string) (done Paused, err error) {
	detail := fmt.Sprintf("%s within %v", node, patience)
	if force != "" {
		detail += ", FORCE: " + force
	}
	err = c.trail.Act(w, account.Operate, "node pause", detail, func() error {
		if !c.switching.TryLock() {
			return Failed("a switchover, or the pause of a node, is under way")
		}
		defer c.switching.Unlock()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p := pause{time.Now(), cancel}
		n, err := c.beginPause(node, p)
		if err != nil {
			return err
		}
		lenders := n.Lenders(true)
		inUse, _ := backend.Drain(ctx, lenders, patience)
		c.server.Steady(func() {
			switch {
			case ctx.Err() != nil:
				err = Failed("node %q was resumed meanwhile", node)
			case inUse == 0:
			case force != "":
				done.Ended = inUse
				backend.EndLent(lenders)
			default:
				c.endPause(node)
				err = Failed("node %q goes on: %d connections of its servers are still in use after %v, by transactions or what sessions keep there (SHOW KS SESSIONS): FORCE ends them", node, inUse, patience)
			}
		})
		done.For, done.Waiting = time.Since(p.since), n.HoldStats().Waiting
		return err
	})
	return done, err
}

// beginPause returns the node, for which statements wait from now on.
func (c *Configuration) beginPause(node string, p pause) (n *backend.Node, err error) {
	c.server.Steady(func() {
		n = c.snapshot.Load().Nodes[node]
		switch {
		case n == nil:
			err = noNode(node)
		case n.Primary.Duty.Paused():
			err = Failed("node %q is paused already: KS NODE %s RESUME ends that", node, node)
		default:
			c.pauses[node] = p
			n.Withhold(backend.Paused, "an operator has paused the node")
		}
	})
	return n, err
}

// Resume ends the pause of a node, if there is one: what waits goes on.
func (c *Configuration) Resume(w Who, node string) (done Paused, err error) {
	err = c.trail.Act(w, account.Operate, "node resume", node, func() error {
		c.server.Steady(func() {
			switch n := c.snapshot.Load().Nodes[node]; {
			case n == nil:
				err = noNode(node)
			case n.Primary.Duty.Paused():
				done.For, done.Waiting = time.Since(c.pauses[node].since), n.HoldStats().Waiting
				c.endPause(node)
			}
		})
		return err
	})
	return done, err
}

// endPause lets the node's statements go on. It is called while there is no reload, as pauses are guarded by that.
func (c *Configuration) endPause(node string) {
	c.pauses[node].cancel()
	delete(c.pauses, node)
	if n := c.snapshot.Load().Nodes[node]; n != nil {
		n.Withhold(backend.Paused, "")
	}
}
