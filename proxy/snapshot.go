package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"kingshard/backend"
	"kingshard/backend/health"
	"kingshard/backend/roles"
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session"
)

// newSnapshot builds everything that sessions read from a configuration. previous, nil at the start, hands on counts. The nodes that are kept
// go on as they are.
func newSnapshot(cfg *config.Config, previous *session.Snapshot, kept map[string]*backend.Node) (*session.Snapshot, error) {
	snap := &session.Snapshot{Config: cfg, Schemas: make(map[string]*session.Schema), Generation: 1}
	var accounts *account.Store
	var rules *queryrule.Set
	if previous != nil {
		snap.Generation = previous.Generation + 1
		accounts, rules = previous.Accounts, previous.Rules
	}
	var err error
	if snap.Accounts, err = account.New(cfg, accounts); err != nil {
		return nil, err
	}
	if snap.TLS, err = cfg.TLS.Server(); err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	if snap.RSAKey, err = cfg.RSAKey(); err != nil {
		return nil, fmt.Errorf("auth_rsa_key: %w", err)
	}
	if snap.Blacklist, err = queryrule.LoadBlacklist(cfg.BlacklistSQLFile); err != nil {
		return nil, fmt.Errorf("blacklist_sql_file: %w", err)
	}
	if snap.Rules, err = queryrule.New(cfg, rules); err != nil {
		return nil, err
	}
	if snap.Nodes, err = backend.Reopen(cfg, kept); err != nil {
		return nil, err
	}
	for _, sc := range cfg.SchemaList {
		schema := &session.Schema{Default: snap.Nodes[sc.Default], Scratch: snap.Nodes[sc.Scratch], Nodes: make(map[string]*backend.Node)}
		for _, name := range sc.Nodes {
			schema.Nodes[name] = snap.Nodes[name]
		}
		if schema.Plans, err = session.NewPlans(sc, snap.Nodes, cfg.Servers()); err != nil {
			backend.CloseBut(snap.Nodes, kept)
			return nil, fmt.Errorf("schema of %s: %w", sc.User, err)
		}
		snap.Schemas[sc.User] = schema
	}
	return snap, nil
}

// Check tells what keeps a server from starting with a valid configuration, or from taking it over, as far as it shows without servers,
// listeners and log files.
func Check(cfg *config.Config) error {
	snap, err := newSnapshot(cfg, nil, nil)
	if err == nil {
		closeNodes(snap.Nodes)
	}
	return err
}

func closeNodes(nodes map[string]*backend.Node) {
	for _, n := range nodes {
		n.Close()
	}
}

// install makes snap the current snapshot and watches its nodes; the caller holds reload, or nobody else runs yet.
func (s *Server) install(snap *session.Snapshot) {
	cfg := snap.Config
	downAfter, lagMax := make(map[string]time.Duration, len(cfg.Nodes)), make(map[string]health.Bound, len(cfg.Nodes))
	follow := make(map[string]health.Following, len(cfg.Nodes))
	for _, n := range cfg.Nodes {
		follow[n.Name] = health.Following{ServeDiverged: n.ServesDiverged()}
		lagMax[n.Name] = health.Bound{Max: n.MaxReplicaLag.Max(), Lenient: n.MaxReplicaLag == config.LagAuto}
		downAfter[n.Name] = time.Duration(n.DownAfterNoAlive) * time.Second
	}
	s.monitor = health.Open(snap.Nodes, health.Config{
		Interval: cfg.HealthInterval.Duration(), Timeout: cfg.HealthTimeout.Duration(), Connect: max(cfg.ConnectTimeout.Duration(), cfg.HealthTimeout.Duration()), DownAfter: downAfter, LagMax: lagMax, Log: s.log,
		Changed: notesStates(s.admin.Trail), Lagged: notesLags(s.admin.Trail), Follow: follow,
		Replicas: func(n *backend.Node, come, gone []string) { s.primaries.discovered(s, n, come, gone) },
		Role:     func(n *backend.Node, v roles.Verdict) { s.primaries.judged(s, n, v) },
	})
	s.cfg, s.nodes = cfg, snap.Nodes
	s.shared.Packets.SetMost(int64(cfg.PacketMemory))
	s.shared.Stats.Collected.SetMost(int64(cfg.FinishTotalBytes))
	s.shared.Statements.SetMost(int64(cfg.PacketMemory))
	s.shared.Indexes.Configured(snap.Ruled())
	faultpoint.Reach(faultpoint.BeforeSwap)
	s.shared.Snapshot.Store(snap)
	faultpoint.Reach(faultpoint.AfterSwap)
	if err := s.shared.Learn(); err != nil {
		s.log.Warn("keys over shards that DDL has made are not known", "error", err)
	}
	for _, wake := range []chan struct{}{s.installed, s.placed} {
		select {
		case wake <- struct{}{}:
		default: // it has not been looked at since the last one
		}
	}
}

// Config is the configuration in force.
func (s *Server) Config() *config.Config { return s.shared.Snapshot.Load().Config }

// Reload brings a new configuration into force, or none of it: everything is built first, then one pointer is swapped.
// Sessions go on; connections of the old pools are closed as they come back. What cannot change while the server runs
// is refused by name, and so are what would look for rows elsewhere than they are and servers that are not fit, unless forced. Log
// files are opened anew in any case.
func (s *Server) Reload(by querylog.By, cfg *config.Config, forced bool) error {
	s.shared.Queries.Reopen()
	err := s.change(by, reloading{anyPrimary: forced}, func(now *config.Config) (*config.Config, error) {
		if forced {
			return cfg, nil
		}
		cfg := cfg.Clone()
		cfg.KeepPrimaries(now)
		return cfg, refuseMoves(now, cfg)
	})
	if errors.As(err, new(change.Unfits)) {
		err = fmt.Errorf("%w. KS RELOAD FORCE 'reason' takes it all the same", err)
	}
	return err
}

// errStopped is of a change that comes when the server stops.
var errStopped = errors.New("the proxy stops")

// change brings the configuration into force that next makes of the one in force. Servers are asked without the lock, which others
// need at once: where the configuration in force is another one afterwards next is called again. That servers are not fit is an error of
// the type change.Unfits.
func (s *Server) change(by querylog.By, how reloading, next func(now *config.Config) (*config.Config, error)) error {
	s.reload.Lock()
	defer s.reload.Unlock()
	for {
		if s.closed {
			return errStopped
		}
		now := s.cfg
		cfg, err := next(now)
		if err != nil {
			return err
		}
		if how.anyPrimary || refuseFixed(now, cfg) != nil || len(candidatesOf(now, cfg)) == 0 {
			return s.reloadLocked(by, cfg, how)
		}
		built, err := newSnapshot(cfg, s.shared.Snapshot.Load(), nil) // what cannot be built needs no questions
		if err != nil {
			return err
		}
		s.reload.Unlock()
		unfit := s.unfit(cfg, built.Nodes)
		closeNodes(built.Nodes)
		s.reload.Lock()
		if s.closed || s.stopping() { // which cut off what was asked
			return errStopped
		}
		if s.cfg != now {
			continue
		}
		if err := how.refused(unfit); err != nil {
			return err
		}
		return s.reloadLocked(by, cfg, how)
	}
}

// refuseFixed gives an error for a change of what cannot change while the server runs.
func refuseFixed(now, next *config.Config) error {
	for _, c := range config.Diff(now, next) {
		if !c.Reloadable {
			return fmt.Errorf("%s cannot change while the proxy runs: restart it", c.Path)
		}
	}
	return nil
}

// reloading is how a configuration comes into force.
type reloading struct {
	keepBlacklist bool // it is not read again
	// anyPrimary takes servers that are not fit, answering only those that answer.
	anyPrimary, answering bool
	// only is the one node that differs; "" where any may.
	only string
}

// reloadLocked brings a configuration into force whose servers are fit; the caller holds reload.
func (s *Server) reloadLocked(by querylog.By, cfg *config.Config, how reloading) error {
	if err := refuseFixed(s.cfg, cfg); err != nil {
		return err
	}
	changes := config.Diff(s.cfg, cfg)
	previous := s.shared.Snapshot.Load()
	if len(changes) == 0 {
		return s.reloadBlacklist(previous, how.keepBlacklist)
	}
	oldMonitor, oldNodes, kept := s.monitor, s.nodes, map[string]*backend.Node(nil)
	if how.only != "" {
		kept = maps.Clone(oldNodes)
		delete(kept, how.only)
	}
	snap, err := newSnapshot(cfg, previous, kept)
	if err != nil {
		return err
	}
	snap.Tracer = s.shared.Spans.Apply(&cfg.Tracing)
	if how.keepBlacklist {
		snap.Blacklist = previous.Blacklist
	}
	for _, c := range changes {
		s.shared.Queries.Audit(querylog.Change{By: by, Action: "reload", Object: c.Path, Old: c.Old, New: c.New})
		s.log.Info("reload", "field", c.Path, slog.String("old", c.Old), slog.String("new", c.New))
	}
	var moved []*backend.Node
	for name, n := range snap.Nodes {
		if old := oldNodes[name]; old != nil && old != n {
			n.Succeed(old)
			if n.Roles != nil && n.Primary.Addr != old.Primary.Addr {
				moved = append(moved, n)
			}
		}
	}
	s.install(snap)
	s.shared.Queries.Apply(cfg)
	oldMonitor.Close()
	backend.CloseBut(oldNodes, kept)
	for _, n := range moved {
		s.primaries.startEpoch(s, n)
	}
	s.log.Info("reloaded", "generation", snap.Generation, "changes", len(changes))
	if s.InForce != nil {
		s.InForce(cfg)
	}
	return nil
}
