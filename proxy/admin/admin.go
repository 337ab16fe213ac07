package admin

import (
	"log/slog"
	"sync/atomic"

	"kingshard/config"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/login"
	"kingshard/proxy/admin/predecessor"
	"kingshard/proxy/cpuprofile"
	"kingshard/proxy/session"
)

// Options are what an Admin works on.
type Options struct {
	Shared *session.Shared
	Server change.Server
	Log    *slog.Logger
	// File is the configuration's file; its path is "" where there is none, and reload and save are refused.
	File config.File
}

// Admin answers and acts. Any goroutine may use it.
type Admin struct {
	// Logins checks who sends requests over HTTP.
	Logins *login.Logins
	// Trail is where changes leave lines.
	Trail *change.Trail
	// Configuration is changed, read and written through this.
	Configuration *change.Configuration

	shared      *session.Shared
	server      change.Server
	instances   *change.Instances
	predecessor *predecessor.Admin
	// offline is what an operator says to load balancers; clients are served all the same.
	offline atomic.Bool
	history history
	// profiles keeps CPU profiles of what went by.
	profiles cpuprofile.Ring
}

// New returns the administration of a server.
func New(o Options) *Admin {
	trail, snapshot := change.NewTrail(o.Log, &o.Shared.Queries), &o.Shared.Snapshot
	a := &Admin{
		Logins:        login.New(func() *config.Config { return snapshot.Load().Config }, &o.Shared.Failures, o.Log),
		Trail:         trail,
		Configuration: change.NewConfiguration(snapshot, o.Server, trail, o.Log, o.File),
		shared:        o.Shared, server: o.Server, instances: change.NewInstances(snapshot, o.Server, trail),
	}
	a.predecessor = predecessor.New(predecessor.Options{
		Shared: o.Shared, Trail: trail, Configuration: a.Configuration, Instances: a.instances, Offline: &a.offline, CommandsPerSecond: a.history.commandsPerSecond,
	})
	return a
}

// Offline reports whether an operator has said that load balancers should pass over this proxy.
func (a *Admin) Offline() bool { return a.offline.Load() }

// SetOffline goes on with what an operator told the process before this one.
func (a *Admin) SetOffline(offline bool) { a.offline.Store(offline) }
