package admin

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"kingshard/config"
	"kingshard/proxy/admin/login"
	"kingshard/proxy/cpuprofile"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session"
)

// Server is what changes are made through. Each method serialises with reloads; after an error nothing has changed. Changed
// fields go to the audit log.
type Server interface {
	// Reload brings a configuration into force; one that places rows elsewhere, or has primaries that are not fit, only where forced is set.
	Reload(by querylog.By, cfg *config.Config, forced bool) error
	// Moves lists those of the changes from the configuration in force that place rows elsewhere, by their paths.
	Moves(cfg *config.Config) (fields []string, err error)
	// Unfit lists the primaries of a configuration that are new, or reached otherwise than those in force, and not fit.
	Unfit(cfg *config.Config) Unfits
	// Edit changes a copy of the configuration in force, checks it and brings it into force. The black list stays. Unfits are one of
	// the errors; with forced only such as cannot be reached.
	Edit(by querylog.By, forced bool, change func(cfg *config.Config) error) error
	// EditBlacklist puts another black list in force.
	EditBlacklist(change func(b *queryrule.Blacklist) (*queryrule.Blacklist, error)) error
	// Steady runs f while no reload does, so that what it does to an instance is not lost in one.
	Steady(f func())
	// Upgrade hands over to the process of the binary's file, which may be a new one, and describes that process.
	Upgrade() (successor string, err error)
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
	// Logins checks who sends requests over HTTP.
	Logins *login.Logins

	shared *session.Shared
	server Server
	log    *slog.Logger
	file   atomic.Pointer[config.File]
	events events
	// offline is what an operator says to load balancers; clients are served all the same.
	offline atomic.Bool
	// filing is held from reading or writing the file to the end of what that is for.
	filing  sync.Mutex
	history history
	// profiles keeps CPU profiles of what went by.
	profiles cpuprofile.Ring
}

// New makes the administration of a server.
func New(o Options) *Admin {
	a := &Admin{shared: o.Shared, server: o.Server, log: o.Log}
	a.Logins = login.New(func() *config.Config { return o.Shared.Snapshot.Load().Config }, &o.Shared.Failures, o.Log)
	a.file.Store(&o.File)
	return a
}

// SetFile names the file that reload reads and save writes.
func (a *Admin) SetFile(f config.File) { a.file.Store(&f) }

// Offline tells whether an operator has said that load balancers should pass over this proxy.
func (a *Admin) Offline() bool { return a.offline.Load() }

// SetOffline goes on with what an operator told the process before this one.
func (a *Admin) SetOffline(offline bool) { a.offline.Store(offline) }
