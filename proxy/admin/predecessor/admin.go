// Package predecessor answers the statements ADMIN SERVER and ADMIN NODE and the calls of /api/v1 as the kingshard before this one did,
// misspellings too. What they change is changed by package change.
package predecessor

import (
	"sync/atomic"

	"kingshard/config"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

// Options are what an Admin works on.
type Options struct {
	Shared        *session.Shared
	Trail         *change.Trail
	Configuration *change.Configuration
	Instances     *change.Instances
	// Offline is what an operator says to load balancers.
	Offline *atomic.Bool
	// CommandsPerSecond returns the rate of the last second.
	CommandsPerSecond func() uint64
}

// Admin is the predecessor's administration. Any goroutine may use it.
type Admin struct{ o Options }

// New returns the predecessor's administration of a server.
func New(o Options) *Admin { return &Admin{o} }

// config returns the configuration in force.
func (a *Admin) config() *config.Config { return a.o.Shared.Snapshot.Load().Config }
