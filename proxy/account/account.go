// Package account holds the users of the proxy: how each proves who it is, from where it may come and what it may do.
// Start with [New]; a Store is immutable and belongs to one snapshot of the configuration.
package account

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync/atomic"

	"kingshard/config"
	"kingshard/mysql/auth"
)

// Account is one user.
type Account struct {
	User        string
	Credentials *auth.Credentials
	Plugin      string // the only plugin allowed; "" any that the credentials support
	RequireTLS  bool
	// Hints lets comments choose node and primary.
	Hints           bool
	MultiStatements bool
	LocalInfile     bool
	// ReadOnly keeps the user from everything that is not known to read only.
	ReadOnly bool
	// Process lets the user see and kill other users' sessions.
	Process bool
	// Rights are what the user may do to the proxy itself.
	Rights Rights
	// TransactionMode is the user's own; "" for that of all.
	TransactionMode string
	// ReadConsistency is the user's own; "" for that of all.
	ReadConsistency string
	// ReplicaConsistency is the user's own; "" for that of all.
	ReplicaConsistency string
	// FinishMaxBytes is the user's own; 0 for that of all.
	FinishMaxBytes config.ByteSize
	// CrossShard is what becomes of statements whose rows are brought together from several shards, as the configuration names it.
	CrossShard string

	cfg      *config.User   // by pointer: a printed account must not show the password
	hosts    []netip.Prefix // empty: any
	maxConns int            // 0: no limit
	conns    *atomic.Int64

	limits limits
	load   *load
}

// Store finds accounts by name.
type Store struct {
	byUser    map[string]*Account
	strangers strangers
	allowed   []netip.Prefix // empty: any
}

// New builds the accounts of a configuration. previous, which may be nil, hands its counts of open connections on.
func New(cfg *config.Config, previous *Store) (*Store, error) {
	s := &Store{byUser: make(map[string]*Account, len(cfg.UserList))}
	var err error
	if s.allowed, err = config.ParseNets(cfg.AllowIPs); err != nil {
		return nil, fmt.Errorf("allow_ips: %w", err)
	}
	for k, u := range cfg.UserList {
		var before *Account
		if previous != nil {
			before = previous.byUser[u.User]
		}
		a, err := newAccount(u, before)
		if err != nil {
			return nil, fmt.Errorf("user_list[%d] (%s): %w", k, u.User, err)
		}
		s.byUser[u.User] = a
	}
	s.strangers = newStrangers(cfg, s.byUser)
	if previous != nil {
		s.strangers.key = previous.strangers.key
	}
	return s, nil
}

// newAccount makes a user's account. What the one before learned is kept: its count of connections and, with the same
// password, what a first login proved.
func newAccount(u config.User, before *Account) (*Account, error) {
	a := &Account{
		cfg: &u,

		User: u.User, Plugin: u.AuthPlugin, RequireTLS: u.RequireTLS, Hints: u.Hints, MultiStatements: u.MultiStatements,
		LocalInfile: u.LocalInfile, ReadOnly: u.ReadOnly, Process: u.Process, TransactionMode: u.TransactionMode, ReadConsistency: u.ReadConsistency, ReplicaConsistency: u.ReplicaConsistency, FinishMaxBytes: u.FinishMaxBytes, CrossShard: u.CrossShard, maxConns: u.MaxConns, conns: new(atomic.Int64), limits: limitsOf(&u), load: new(load),
	}
	var err error
	if a.hosts, err = config.ParseNets(u.Hosts); err != nil {
		return nil, fmt.Errorf("hosts: %w", err)
	}
	if len(u.Verifiers) > 0 || u.Password != "" {
		a.Rights = ParseRights(u.Rights)
	}
	if before != nil {
		a.conns, a.load = before.conns, before.load
	}
	if before != nil && before.cfg.Password == u.Password && maps.Equal(before.cfg.Verifiers, u.Verifiers) {
		a.Credentials = before.Credentials
	} else if len(u.Verifiers) > 0 {
		a.Credentials, err = auth.FromVerifiers(u.Verifiers)
	} else {
		a.Credentials, err = auth.FromPassword(u.Password.Reveal())
	}
	if err != nil {
		return nil, err
	}
	if a.Plugin != "" && !a.Credentials.Supports(a.Plugin) {
		return nil, fmt.Errorf("auth_plugin %s has no verifier", a.Plugin)
	}
	return a, nil
}

// Lookup finds the account of a user who comes from addr. Where there is none it gives one that denies every password
// after the same work, in the steps of one of the users there are, so that a stranger cannot tell which names exist, and
// known is false.
func (s *Store) Lookup(user string, addr netip.Addr) (a *Account, known bool) {
	a = s.byUser[user]
	if a == nil || !within(a.hosts, addr) {
		return s.strangers.account(user), false
	}
	return a, true
}

// Allowed tells whether anybody may connect from addr at all. A connection without an address, over a unix socket, may.
func (s *Store) Allowed(addr netip.Addr) bool { return within(s.allowed, addr) }

func within(nets []netip.Prefix, addr netip.Addr) bool {
	if len(nets) == 0 || !addr.IsValid() {
		return true
	}
	addr = addr.Unmap()
	return slices.ContainsFunc(nets, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// Enter counts one more connection of the user; false means that the user's limit is reached. Each true is paired with Leave.
func (a *Account) Enter() bool {
	if n := a.conns.Add(1); a.maxConns > 0 && n > int64(a.maxConns) {
		a.conns.Add(-1)
		a.load.refused[LimitConns].Add(1)
		return false
	}
	return true
}

// Stay counts a connection that has entered in another process of the proxy, whatever the limit. It is paired with Leave.
func (a *Account) Stay() { a.conns.Add(1) }

// Leave ends what Enter or Stay began.
func (a *Account) Leave() { a.conns.Add(-1) }
