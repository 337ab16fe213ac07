package admin

import (
	"log/slog"
	"sync/atomic"
	"time"

	"kingshard/config"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session"
)

// Server is what changes are made through. Each method serialises with reloads; after an error nothing has changed. Changed
// fields go to the audit log.
type Server interface {
	// Reload brings a configuration into force.
	Reload(by querylog.By, cfg *config.Config) error
	// Edit changes a copy of the configuration in force, checks it and brings it into force. The black list stays.
	Edit(by querylog.By, change func(cfg *config.Config) error) error
	// EditBlacklist puts another black list in force.
	EditBlacklist(change func(b *queryrule.Blacklist) (*queryrule.Blacklist, error)) error
	// Steady runs f while no reload does, so that what it does to an instance is not lost in one.
	Steady(f func())
}

// Options are what an Admin works on.
type Options struct {
	Shared *session.Shared
	Server Server
	Log    *slog.Logger
	// File is the configuration's file; its path is "" where there is none, and reload and save are refused.
	File config.File
}

// Admin answers and acts. Any goroutine may use it.
type Admin struct {
	shared *session.Shared
	server Server
	log    *slog.Logger
	file   atomic.Pointer[config.File]
	events events
	// offline is what an operator says to load balancers; clients are served all the same.
	offline atomic.Bool
	rate    rate
}

// New makes the administration of a server.
func New(o Options) *Admin {
	a := &Admin{shared: o.Shared, server: o.Server, log: o.Log}
	a.file.Store(&o.File)
	return a
}

// SetFile names the file that reload reads and save writes.
func (a *Admin) SetFile(f config.File) { a.file.Store(&f) }

// Offline tells whether an operator has said that load balancers should pass over this proxy.
func (a *Admin) Offline() bool { return a.offline.Load() }

// Tick is called about every second: it measures the rate of commands.
func (a *Admin) Tick() { a.rate.tick(time.Now(), commands(a.shared.Stats.Totals())) }

func commands(t session.Totals) (n uint64) {
	for _, c := range t.Commands {
		n += c
	}
	return n
}

// rate is the number of commands in the last whole second.
type rate struct {
	last  atomic.Int64 // nanoseconds since 1970
	count atomic.Uint64
	perS  atomic.Uint64
}

// tick is called by one goroutine.
func (r *rate) tick(now time.Time, count uint64) {
	before := r.last.Swap(now.UnixNano())
	grown := count - r.count.Swap(count)
	if passed := time.Duration(now.UnixNano() - before); before != 0 && passed > 0 {
		r.perS.Store(uint64(float64(grown)/passed.Seconds() + 0.5))
	}
}
