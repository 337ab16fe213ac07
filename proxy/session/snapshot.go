package session

import (
	"crypto/rsa"
	"crypto/tls"
	"kingshard/proxy/hotkeys"
	"kingshard/proxy/sequence"
	"kingshard/router"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/ddl"
	"kingshard/proxy/halfdone"
	"kingshard/proxy/indexes"
	"kingshard/proxy/lockwaits"
	"kingshard/proxy/mirror"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/tracing"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
)

// Snapshot is everything of the configuration that sessions read. Immutable: a reload builds another one and swaps the
// pointer. A session loads the pointer once per command.
type Snapshot struct {
	Config   *config.Config
	Accounts *account.Store
	Nodes    map[string]*backend.Node
	Schemas  map[string]*Schema // by user
	TLS      *tls.Config        // nil: TLS is not offered
	RSAKey   *rsa.PrivateKey    // nil: no RSA exchange in caching_sha2_password
	// Blacklist are the forbidden statements; nil where there are none.
	Blacklist *queryrule.Blacklist
	// Rules are the query rules; nil where there are none.
	Rules *queryrule.Set
	// Tracer chooses the statements that are traced; nil where none is.
	Tracer *tracing.Tracer
	// Generation counts reloads, from 1.
	Generation uint64
}

// Schema is the part of the databases that a user sees.
type Schema struct {
	Default *backend.Node
	Nodes   map[string]*backend.Node
	// Scratch is the node, none of Nodes, where statements end whose rows are collected; nil without one.
	Scratch *backend.Node
	// Plans are those of its sharded tables; nil where there are none.
	Plans *Plans
}

// serverVersion is what the greeting says: as configured, else that of the first node's primary.
func (s *Snapshot) serverVersion() string {
	if s.Config.ServerVersion != "" {
		return s.Config.ServerVersion
	}
	for _, n := range s.Config.Nodes {
		if node := s.Nodes[n.Name]; node != nil {
			if info := node.Primary.Info(); info != nil {
				return info.Version
			}
		}
	}
	return "5.7.44-kingshard"
}

// SequenceTable returns where a table of one of the schemas has its ids from; nil for any other table.
func (s *Snapshot) SequenceTable(t *router.Table) *sequence.Table {
	for _, schema := range s.Schemas {
		if slices.Contains(schema.Plans.Tables(), t) {
			return schema.Plans.sequenceTable(s.Config, t)
		}
	}
	return nil
}

// sequenceTable makes a table's description for its sequence: the first schema of the configuration that has the table says where that is, so that
// all users have the same.
func (p *Plans) sequenceTable(cfg *config.Config, t *router.Table) *sequence.Table {
	made := &sequence.Table{DB: t.DB, Name: t.Name, Node: p.first, Step: idStep}
	configured := config.Sequence{}
	same := func(one config.Shard) bool {
		return strings.EqualFold(one.DB, t.DB) && strings.EqualFold(one.Table, t.Name)
	}
	for _, sc := range cfg.SchemaList {
		if slices.ContainsFunc(sc.Shard, func(one config.Shard) bool { return one.DB == t.DB && one.Table == t.Name }) {
			same = func(one config.Shard) bool { return one.DB == t.DB && one.Table == t.Name }
		}
	}
	for _, sc := range cfg.SchemaList {
		if k := slices.IndexFunc(sc.Shard, same); k >= 0 && p.nodes[sc.Default] != nil {
			made.DB, made.Name, made.Node, configured = sc.Shard[k].DB, sc.Shard[k].Table, p.nodes[sc.Default], sc.Shard[k].Sequence
			break
		}
	}
	if configured.Step > 0 {
		made.Step = uint64(configured.Step)
	}
	made.Snowflake = configured.Snowflake()
	if node := p.nodes[configured.Node]; node != nil {
		made.Node, made.Placed = node, true
	}
	for _, shard := range t.Shards {
		made.Shards = append(made.Shards, sequence.Shard{Node: p.nodes[shard.Node], DB: shard.DB, Table: shard.Table})
	}
	return made
}

// ForgetPlans drops what all schemas know of their tables' columns: users may share tables.
func (s *Snapshot) ForgetPlans() {
	for _, schema := range s.Schemas {
		if schema.Plans != nil {
			schema.Plans.forget()
		}
	}
}

// InOrder returns the nodes in the order of the configuration.
func (s *Snapshot) InOrder() []*backend.Node {
	nodes := make([]*backend.Node, 0, len(s.Nodes))
	for _, n := range s.Config.Nodes {
		if node := s.Nodes[n.Name]; node != nil {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// Shared is what all sessions of a server use.
type Shared struct {
	Snapshot atomic.Pointer[Snapshot]
	Sessions process.List
	Stats    observe.Stats
	Ends     EndCounts
	Pins     txn.PinCounts
	// Failures are the logins that failed, those of the HTTP administration too.
	Failures account.Failures
	// DDL are the statements on sharded tables that run or are not done everywhere.
	DDL ddl.Journal
	// HalfDone are the changes of several nodes that are not known to be whole.
	HalfDone halfdone.Book
	Log      *slog.Logger
	// Sequences are those of the sharded tables with AUTO_INCREMENT.
	Sequences sequence.Sequences
	// HotKeys are the keys of sharded tables that have the most statements.
	HotKeys hotkeys.Tables
	// Indexes are how far the keys over shards are.
	Indexes indexes.States
	// Atomic ends the changes of several nodes that all of them keep or none. Set before the first session begins.
	Atomic *driver.Driver
	// Queries takes what statements did.
	Queries querylog.Log
	// Spans sends those of traced statements.
	Spans   tracing.Exporter
	Started time.Time
	// Draining is set when the server shuts down: sessions end at their next safe point.
	Draining atomic.Bool
	// Pause holds new statements up.
	Pause Pause
	// Labels says whether goroutines carry labels for profiles.
	Labels observe.Labels
	// Own answers the proxy's own statements, ADMIN and KS; set before the first session begins. nil: there are none.
	Own Own

	// Lanes, if set, are where sessions wait that need no goroutine. Set before the first session begins.
	Lanes *Lanes

	// Processors is how many the proxy runs on now.
	Processors atomic.Int32

	// mover, if set, takes the sessions that can move to another process.
	mover atomic.Pointer[Mover]
	// Mirror takes statements that are to be sent to another node, too. Set before the first session begins.
	Mirror *mirror.Mirror

	// Asker asks questions that any of several nodes can answer.
	Asker backend.Asker

	// Packets bounds what clients' long packets take together.
	Packets mysql.Memory
	// Statements bounds what the prepared statements of all clients take together.
	Statements mysql.Memory

	// connWaits finds sessions that wait for each other's connections.
	connWaits txn.Detector
	// LockWaits finds changes of several nodes that wait for each other's rows.
	LockWaits lockwaits.Watch
}

// MoveBy has sessions move to another process at their next idle point, by m; nil ends that.
func (s *Shared) MoveBy(m Mover) {
	if m == nil {
		s.mover.Store(nil)
		return
	}
	s.mover.Store(&m)
}
