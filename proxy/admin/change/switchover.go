package change

import (
	"context"
	"fmt"
	"time"

	"kingshard/backend"
	"kingshard/proxy/account"
	"kingshard/proxy/switchover"
)

// Switchover makes a replica the primary of a node by plan, with the old one as its replica. Sessions may keep connections of the old one for as long as
// patience; with force, a reason, they are ended then.
func (c *Configuration) Switchover(w Who, node, to string, patience time.Duration, force string) (report switchover.Report, err error) {
	detail := fmt.Sprintf("%s to %s within %v", node, to, patience)
	if force != "" {
		detail += ", FORCE: " + force
	}
	err = c.trail.Act(w, account.Admin, "switchover", detail, func() error {
		if !c.switching.TryLock() {
			return Failed("another switchover, or the pause of a node, is under way")
		}
		defer c.switching.Unlock()
		nc := c.snapshot.Load().Config.Node(node)
		if nc == nil {
			return noNode(node)
		}
		report, err = switchover.Run(context.Background(), switchover.Plan{
			To: to, Patience: patience, Force: force != "", User: nc.ReplicationUser, Password: nc.ReplicationPassword.Reveal(),
			Node:   func() *backend.Node { return c.snapshot.Load().Nodes[node] },
			Follow: func(addr, why string) error { return c.Follow(node, addr, why) },
		})
		if err != nil {
			return Failed("%v", err)
		}
		return nil
	})
	return report, err
}
