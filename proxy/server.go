package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/backend/health"
	"kingshard/config"
	"kingshard/proxy/admin"
	"kingshard/proxy/halfdone"
	"kingshard/proxy/handover"
	"kingshard/proxy/metrics"
	"kingshard/proxy/mirror"
	"kingshard/proxy/process"
	"kingshard/proxy/session"
	"kingshard/proxy/subtables"
	"kingshard/proxy/txn/driver"
	"kingshard/router"
)

// Server is a running proxy.
type Server struct {
	shared    session.Shared
	log       *slog.Logger
	listeners listeners
	metrics   *metrics.Registry
	admin     *admin.Admin
	logins    logins

	// InForce, if set before Serve, is called with every configuration that came into force later.
	InForce func(cfg *config.Config)
	// Upgrading, set before Serve, is how Upgrade starts the process of another binary, and whom it tells.
	Upgrading Upgrading
	// OwnProcess, set before Serve, says that the process is nothing but this proxy: it runs on as few processors as the load needs, and
	// gives memory back to the system.
	OwnProcess bool

	// reload guards the members below; sessions take it in statements that administer only.
	reload  sync.Mutex
	cfg     *config.Config
	nodes   map[string]*backend.Node
	monitor *health.Monitor
	closed  bool // nothing comes into force any more

	primaries primaries
	subTables subtables.Maker
	// installed wakes the making of sub-tables after a start or a reload.
	installed chan struct{}
	// placed wakes the look at the keys of text after a start or a reload.
	placed chan struct{}

	lanes   *session.Lanes // nil: each client has a goroutine
	places  places
	proxied []netip.Prefix // peers that send a PROXY header

	// running counts every goroutine that the server started: sessions, accept loops, HTTP, the session watch.
	running sync.WaitGroup
	// serving is held while Serve starts and while Shutdown says stop: what starts is waited for, or does not start.
	serving sync.Mutex
	stop    chan struct{}

	upgrading underWay
	// predecessor, if set, is the process that hands its sessions over; received is closed when it has no more. receiving is set
	// when it does, under serving.
	predecessor *handover.Predecessor
	receiving   bool
	received    chan struct{}
	// left is closed when nothing is left to do after an upgrade.
	left chan struct{}
}

// New builds a server from a configuration without faults and opens its listeners. Backends are not waited for: those
// that cannot be reached are logged and tried again for as long as the server runs.
func New(cfg *config.Config, log *slog.Logger) (*Server, error) {
	s, err := build(cfg, log, nil)
	if err == nil {
		s.serveHTTP()
	}
	return s, err
}

// build is New up to the first answer to anybody. The listeners of a predecessor, which may be nil, are gone on with.
func build(cfg *config.Config, log *slog.Logger, from *handover.Predecessor) (*Server, error) {
	s := &Server{
		log: log, cfg: cfg, predecessor: from, stop: make(chan struct{}), installed: make(chan struct{}, 1), placed: make(chan struct{}, 1), left: make(chan struct{}),
	}
	s.subTables.Log = log
	s.subTables.Changed = func() { s.shared.Snapshot.Load().ForgetPlans() }
	s.shared.Log, s.shared.Indexes.Log = log, log
	s.shared.LockWaits.Log(log)
	s.shared.LockWaits.Primaries(func(node string) *backend.Instance {
		if n := s.shared.Snapshot.Load().Nodes[node]; n != nil {
			return n.Primary
		}
		return nil
	})
	s.shared.Started = time.Now()
	s.shared.Mirror = mirror.New(log)
	s.shared.Atomic = driver.New(log, cfg.XAOnUnsafeServer, func() map[string]*backend.Node { return s.shared.Snapshot.Load().Nodes })
	var err error
	if s.proxied, err = config.ParseNets(cfg.ProxyProtocol); err != nil {
		return nil, fmt.Errorf("proxy_protocol: %w", err)
	}
	snap, err := newSnapshot(cfg, nil, nil)
	if err != nil {
		return nil, err
	}
	s.admin = admin.New(admin.Options{Shared: &s.shared, Server: s, Log: log})
	s.shared.Own = s.admin.Statement
	s.shared.HalfDone.Added = s.changeHalfDone
	s.shared.Spans.Log = log
	snap.Tracer = s.shared.Spans.Apply(&cfg.Tracing)
	s.install(snap)
	if err = s.shared.Queries.Open(cfg); err == nil {
		err = s.openLanes()
	}
	if dir := cfg.StateDir(); dir != "" && err == nil {
		s.shared.HalfDone.Open(dir, log)
	}
	if err == nil {
		err = s.listen()
	}
	if err != nil {
		s.closeAll()
		return nil, err
	}
	return s, nil
}

// listen opens all listeners of the configuration.
func (s *Server) listen() error {
	for _, one := range []struct{ field, network, addr string }{
		{"addr", "tcp", s.cfg.Addr}, {"socket", "unix", s.cfg.Socket}, {"admin_addr", "tcp", s.cfg.AdminAddr},
	} {
		if err := s.listeners.openForClients(s.predecessor, one.field, one.network, one.addr); err != nil {
			return err
		}
	}
	return s.listenHTTP()
}

// openLanes starts the fast lane, where it is configured and there is one on this system.
func (s *Server) openLanes() error {
	s.shared.Processors.Store(int32(processorsMax))
	if !s.cfg.FastLane || runtime.GOOS != "linux" {
		return nil
	}
	var err error
	if s.lanes, err = session.OpenLanes(processorsMax); err != nil {
		return fmt.Errorf("fast_lane: %w", err)
	}
	s.shared.Lanes = s.lanes
	if err := s.lanes.Alone(); err != nil {
		s.log.Info("the fast lane goes without io_uring, and takes more processor time under load (docs/operations.md)", "reason", err)
	}
	runtime.GOMAXPROCS(2 * processorsMax)
	return nil
}

// Addr is the address of the first listener.
func (s *Server) Addr() net.Addr { return s.listeners.clients[0].Addr() }

// WebAddr is the address of the HTTP administration; nil without one.
func (s *Server) WebAddr() net.Addr { return s.listeners.web }

// AdminAddr is the address of the admin SQL; nil without one.
func (s *Server) AdminAddr() net.Addr {
	if s.listeners.admin == nil {
		return nil
	}
	return s.listeners.admin.Addr()
}

// Serve accepts clients until Shutdown. It returns nil after a shutdown, else the error that made it stop.
func (s *Server) Serve() error {
	errs := make(chan error, len(s.listeners.clients))
	s.serving.Lock()
	if s.stopping() {
		s.serving.Unlock()
		return nil
	}
	s.primaries.begin()
	s.running.Go(s.watchSessions)
	if s.OwnProcess {
		s.running.Go(s.adaptProcessors)
		s.running.Go(s.returnMemory)
	}
	s.running.Go(s.makeSubTables)
	s.running.Go(s.lookAtServers)
	s.running.Go(func() {
		s.shared.Indexes.Run(s.stop, func() ([]*router.Table, map[string]*backend.Node) {
			snap := s.shared.Snapshot.Load()
			return snap.Ruled(), snap.Nodes
		}, func() {
			_ = s.shared.Learn() // who needs the keys is told what is wrong
		})
	})
	s.running.Go(func() { s.shared.Mirror.Run(s.stop) })
	s.running.Go(func() { s.shared.Atomic.Run(s.stop, func() driver.Wanted { return wantedOf(s.Config()) }) })
	s.listeners.gate.open(len(s.listeners.opened))
	for _, l := range s.listeners.clients {
		s.log.Info("listening", "addr", l.Addr().String())
		s.running.Go(func() { errs <- s.accept(l) })
	}
	if s.predecessor != nil {
		s.receiving = true
		s.running.Go(s.receive)
	}
	s.serving.Unlock()
	var first error
	for range s.listeners.clients {
		if err := <-errs; err != nil && first == nil {
			first = err
			s.listeners.closeForClients()
		}
	}
	return first
}

// acceptRetryMax bounds the pause after an accept that failed for want of file descriptors.
const acceptRetryMax = time.Second

// accept takes clients from one listener until it is closed.
func (s *Server) accept(l net.Listener) error {
	pause := 5 * time.Millisecond
	for {
		nc, err := l.Accept()
		if err == nil {
			pause = 5 * time.Millisecond
			s.admit(nc, l == s.listeners.admin)
			continue
		}
		if s.stopping() || errors.Is(err, net.ErrClosed) {
			return nil
		}
		var ne net.Error
		if s.listeners.gate.wait(s.stop) || s.stopping() {
			continue
		}
		if errors.As(err, &ne) && ne.Timeout() || isTemporary(err) {
			s.log.Error("accept failed", "error", err)
			time.Sleep(pause)
			pause = min(2*pause, acceptRetryMax)
			continue
		}
		return fmt.Errorf("accept on %s: %w", l.Addr(), err)
	}
}

// watchSessions looks once a second for sessions that idle or stall, until the server stops.
func (s *Server) watchSessions() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	defer s.admin.Close()
	var sessions []*process.Entry
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.admin.Tick()
			cfg := s.shared.Snapshot.Load().Config
			limits := process.Limits{Idle: cfg.IdleTimeout.Duration(), Transaction: cfg.IdleTransactionTimeout.Duration(), Stall: cfg.ClientWriteTimeout.Duration()}
			sessions = s.shared.Sessions.AppendTo(sessions[:0])
			for _, one := range sessions {
				one.Tick(limits, s.running.Go)
			}
			clear(sessions) // those that end meanwhile are not kept
		}
	}
}

func (s *Server) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// closeAll closes what New opened, the latest first.
func (s *Server) closeAll() {
	s.listeners.closeForClients()
	s.listeners.closeHTTP()
	s.reload.Lock()
	defer s.reload.Unlock()
	s.closed = true
	if s.monitor != nil {
		s.monitor.Close()
	}
	s.lanes.Close()
	s.shared.Asker.Close()
	s.shared.LockWaits.Close()
	closeNodes(s.nodes)
	s.shared.Spans.Close()
	s.shared.HalfDone.Close()
	if err := s.shared.Queries.Close(); err != nil {
		s.log.Error("log of statements", "error", err)
	}
}

// changeHalfDone makes an event of a change that is not known to be whole.
func (s *Server) changeHalfDone(r halfdone.Record) {
	detail := fmt.Sprintf("%d of %s: %s", r.ID, r.User, r.Statement)
	s.admin.Trail.Note("change half done", detail, r.Outcomes())
}

// wantedOf returns whether a configuration has transactions that all nodes keep, or none.
func wantedOf(c *config.Config) driver.Wanted {
	switch {
	case c.HasTransactionMode(config.TransactionAtomic):
		return driver.WantedAlways
	case c.HasTransactionMode(config.TransactionAuto) && len(c.Nodes) > 1:
		return driver.WantedIfFit
	}
	return driver.WantedNot
}
