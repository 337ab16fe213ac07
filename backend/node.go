package backend

import (
	"context"
	"weak"

	"kingshard/config"
)

// Node is a primary and its replicas, under the name that configuration and hints use.
type Node struct {
	Name     string
	Primary  *Instance
	Replicas []*Instance
	// Roles are what its servers say of theirs; nil where the configuration alone says which is the primary.
	Roles *Roles
	// Discovers says that it has the replicas, too, that its primary tells of.
	Discovers bool
	hold      *Hold
	// Fallback has the reads that the primary serves in place of replicas.
	Fallback *Fallback
	choice   choice
	// retired are the instances of the nodes before it from which sessions may have connections still. They are gone when none has.
	retired []weak.Pointer[Instance]
}

// Open builds the nodes of a configuration that Validate found without fault, except for files that cannot be read now.
// Nothing is dialled.
func Open(cfg *config.Config) (map[string]*Node, error) { return Reopen(cfg, nil) }

// Reopen is Open, and takes the nodes that are kept, by name, as they are.
func Reopen(cfg *config.Config, kept map[string]*Node) (map[string]*Node, error) {
	nodes := make(map[string]*Node, len(cfg.Nodes))
	for _, nc := range cfg.Nodes {
		if n := kept[nc.Name]; n != nil {
			nodes[nc.Name] = n
			continue
		}
		n, err := openNode(cfg, nc)
		if err != nil {
			CloseBut(nodes, kept)
			return nil, err
		}
		nodes[nc.Name] = n
	}
	return nodes, nil
}

// CloseBut closes the nodes that are not kept.
func CloseBut(nodes, kept map[string]*Node) {
	for name, n := range nodes {
		if kept[name] != n {
			n.Close()
		}
	}
}

func openNode(cfg *config.Config, nc config.Node) (*Node, error) {
	replicas, err := nc.Replicas()
	if err != nil {
		return nil, err
	}
	dial, err := dialConfig(cfg, nc)
	if err != nil {
		return nil, err
	}
	admin := dial
	if nc.AdminUser != "" {
		admin.User, admin.Password = nc.AdminUser, nc.AdminPassword.Reveal()
	}
	limits := PoolConfig{
		Max:            nc.MaxConnsLimit,
		Least:          nc.AdaptiveConnsLimit,
		ConnectTimeout: cfg.ConnectTimeout.Duration(),
		IdleTimeout:    cfg.ConnIdleTimeout.Duration(),
		MaxLifetime:    cfg.ConnMaxLifetime.Duration(),
		Hold:           newHold(cfg.PrimaryWaitTimeout.Duration(), cfg.PoolWaitTimeout.Duration(), cfg.PrimaryWaiters),
	}
	n := &Node{
		Name: nc.Name, hold: limits.Hold, Fallback: newFallback(nc.Name, nc.MaxConnsLimit),
		Primary: newInstance(nc.Name, Primary, 1, dial.to(nc.Master), limits),
	}
	n.Primary.admin, n.Primary.Zone = admin.to(nc.Master), nc.Zones[nc.Master]
	for _, r := range replicas {
		i := newInstance(nc.Name, Replica, r.Weight, dial.to(r.Addr), limits)
		i.admin, i.Zone = admin.to(r.Addr), nc.Zones[r.Addr]
		i.IsSource = r.Addr == nc.Master
		if i.lagMax = nc.MaxReplicaLag.Max(); i.lagMax > 0 && !i.IsSource {
			i.passedOver.Store(true) // until a probe has asked
		}
		if i.IsSource {
			i.open, i.GTIDs = n.Primary.open, n.Primary.GTIDs
		} else {
			n.Primary.GTIDs.Replicated.Store(true)
			n.Primary.GTIDs.Tracked.Store(cfg.TracksGTIDs())
		}
		n.Replicas = append(n.Replicas, i)
	}
	if nc.Discovers() { // replicas come while connections are there
		n.Discovers = true
		n.Primary.GTIDs.Replicated.Store(true)
		n.Primary.GTIDs.Tracked.Store(cfg.TracksGTIDs())
	}
	n.choice.byLatency = nc.ChoosesByLatency()
	n.choice.offer(n.Replicas, cfg.Zone)
	if nc.FollowsRoles() {
		n.Roles = NewRoles(nc.Master)
		n.Withhold(Unsettled, unsettled)
	}
	return n, nil
}

func (d DialConfig) to(addr string) DialConfig {
	d.Addr = addr
	return d
}

// Succeed makes n the successor of old, the node of that name before a reload: what is known of a server stays known, what an
// operator took down stays down, and statements that find a pool of old closed borrow from n instead. It is called before n
// is watched and old is closed.
func (n *Node) Succeed(old *Node) {
	old.hold.configure(n.hold) // who waits there waits for n
	n.hold = old.hold
	n.succeedRoles(old)
	for _, i := range old.Instances() {
		n.retired = append(n.retired, weak.Make(i))
	}
	for _, one := range old.retired {
		if i := one.Value(); i != nil && lent(i) > 0 {
			n.retired = append(n.retired, one)
		}
	}
	for _, i := range n.Instances() {
		i.Hold = old.hold
		for _, before := range old.Instances() {
			if before.Addr != i.Addr {
				continue
			}
			if info := before.Info(); info != nil {
				i.SetInfo(info)
			}
			i.SetState(before.Health())
			i.answered.Store(before.answered.Load())
			i.open = before.open
			i.Name.Succeed(before.Name)
			i.GTIDs = before.GTIDs.shared(i.GTIDs)
			i.memory.succeed(&before.memory)
			i.Variables.all.Store(before.Variables.all.Load())
			i.succeedLag(before)
			i.Latency.mean.Store(before.Latency.mean.Load())
			i.Latency.adaptive.succeed(before.Latency.adaptive)
			i.pool.Adapt()
			i.stored.now.Store(before.Stored())
			i.HoldDown(before.HeldDown())
			i.Duty.Retire(before.Duty.Retired() && i.Role == Replica)
			if i.Role == Primary && before.Role == Primary {
				i.Duty.succeed(&before.Duty)
			}
		}
	}
	n.Withhold(Paused, old.Primary.Duty.reason(Paused)) // whichever servers it has now
	if committed, _ := old.Primary.GTIDs.Committed(); committed != nil && n.Primary.GTIDs != old.Primary.GTIDs {
		n.Primary.GTIDs.Follow(committed)
	}
	// From here on others may borrow from n.
	old.Primary.successor.Store(n.Primary)
	for _, i := range n.Instances() {
		for _, before := range old.Instances() {
			if before.Addr == i.Addr && before.Role == i.Role {
				before.successor.Store(i)
			}
		}
	}
	n.hold.wake()
}

// Busy is which share of the connections that statements may use at once to the primary are in use or wanted: more than 1 where statements wait.
func (n *Node) Busy() float64 {
	st := n.Primary.Stats()
	return float64(st.InUse+st.Waiting) / float64(max(st.Limit, 1))
}

// Info is what is known of the primary or, while that has not been reached, of a replica; nil when nothing is known yet.
func (n *Node) Info() *Info {
	for _, i := range n.Instances() {
		if info := i.Info(); info != nil {
			return info
		}
	}
	return nil
}

// LogInAt logs in at the address of a server that is none of the node's, by both accounts as at those, until ctx ends, which must have a deadline. The
// connection is for what the proxy does of its own; the caller closes it.
func (n *Node) LogInAt(ctx context.Context, addr string) (*Conn, error) {
	account := n.Primary.dial.to(addr)
	if n.Primary.HasOwnAccount() {
		c, err := dialAs(ctx, &account)
		if err != nil {
			return nil, err
		}
		c.Close()
		account = n.Primary.admin.to(addr)
	}
	return dialAs(ctx, &account)
}

// dialAs logs in where the account is.
func dialAs(ctx context.Context, account *DialConfig) (*Conn, error) {
	nc, err := dialer.DialContext(ctx, "tcp", account.Addr)
	if err != nil {
		return nil, err
	}
	return logIn(ctx, nc, account, 0, newOpenConns(), nil)
}

// HoldStats tells how many statements wait for the node's primary, and what became of those before.
func (n *Node) HoldStats() HoldStats { return n.hold.Stats() }

// Instances lists the primary and the replicas.
func (n *Node) Instances() []*Instance {
	return append([]*Instance{n.Primary}, n.Replicas...)
}

// Close retires the pools of all instances; connections on loan are closed when they come back.
func (n *Node) Close() {
	for _, i := range n.Instances() {
		retire(i)
	}
	n.Fallback.seats.Close()
}

// retire ends an instance's pool; connections on loan are closed when they come back.
func retire(i *Instance) {
	i.Name.Close()
	i.pool.Close()
}

// CutOff is Close for good: also who waits for a server, for a connection or by one, hears an error at once. It is for the end of the process.
func (n *Node) CutOff() {
	n.Fallback.seats.Drain()
	for _, i := range n.Instances() {
		i.pool.Drain()
		i.open.stopDials()
		i.EndConns()
	}
}
