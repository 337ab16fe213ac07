package config

import (
	"cmp"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Validate gives everything wrong with the configuration as far as it can be told without reading files, in the order
// of the fields; the lines are unknown.
func (c *Config) Validate() []Fault {
	var r report
	c.validate(&r)
	return r.faults
}

func (c *Config) validate(r *report) {
	c.checkListeners(r)
	c.checkWebLogin(r)
	c.checkWebTokens(r)
	c.checkUsers(r)
	c.checkNodes(r)
	c.checkZone(r)
	c.checkSchemas(r)
	c.checkQueryRules(r)
	c.checkTracing(r)
	c.checkLogs(r)
	c.checkGreeting(r)
	c.checkLimits(r)
	c.checkTimes(r)
}

func (c *Config) checkListeners(r *report) {
	if c.Addr == "" && c.Socket == "" {
		r.fault("addr", "is required unless socket is set")
	}
	if c.Socket != "" {
		if err := checkSocket(c.Socket); err != nil {
			r.fault("socket", "%v", err)
		}
	}
	taken := map[string]string{}
	for _, l := range []struct{ path, addr string }{
		{"addr", c.Addr}, {"prometheus_addr", c.PrometheusAddr}, {"web_addr", c.WebAddr}, {"admin_addr", c.AdminAddr},
	} {
		if l.addr == "" {
			continue
		}
		if err := checkListen(l.addr); err != nil {
			r.fault(l.path, "%v", err)
			continue
		}
		if other := taken[l.addr]; other != "" && !anyPort(l.addr) {
			r.fault(l.path, "is the same address as %s", other)
		}
		taken[l.addr] = l.path
	}
	for _, l := range []struct{ path, list string }{{"allow_ips", c.AllowIPs}, {"proxy_protocol", c.ProxyProtocol}} {
		if _, err := ParseNets(l.list); err != nil {
			r.fault(l.path, "%v", err)
		}
	}
}

func anyPort(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	return err == nil && port == "0"
}

func (c *Config) checkWebLogin(r *report) {
	if (c.WebTLSCert == "") != (c.WebTLSKey == "") {
		r.fault("web_tls_cert", "web_tls_cert and web_tls_key must be set together")
	}
	switch {
	case c.WebUser != "" && c.WebPassword == "":
		r.fault("web_password", "is required with web_user")
	case c.WebUser == "" && c.WebPassword != "":
		r.fault("web_user", "is required with web_password")
	case c.WebAddr != "" && c.WebUser == "" && checkListen(c.WebAddr) == nil && !loopback(c.WebAddr):
		r.fault("web_addr", "needs web_user and web_password, as others than this host can reach it")
	case c.WebPassword == "admin":
		r.warn("web_password", "is the one of the old sample file, which everybody knows: choose another")
	}
}

func (c *Config) checkLogs(r *report) {
	r.oneOf("log_level", c.LogLevel, "debug", "info", "warn", "error")
	r.oneOf("log_format", c.LogFormat, "text", "json")
	r.oneOf("transaction_mode", c.TransactionMode, TransactionModes...)
	r.oneOf("read_consistency", c.ReadConsistency, ReadConsistencies...)
	r.oneOf("replica_consistency", c.ReplicaConsistency, ReplicaConsistencies...)
	if c.LogSQL != "on" && c.LogSQL != "off" && c.LogSQL != "" {
		r.warn("log_sql", "is neither on nor off: taken as on")
	}
	if c.LogSQLFormat != "" {
		r.oneOf("log_sql_format", c.LogSQLFormat, "text", "json", "kingshard")
	}
	r.between("slow_log_time", c.SlowLogTime, 0, math.MaxInt32)
	if c.LogMaxSize != 0 && c.LogMaxSize < 64<<10 {
		r.fault("log_max_size", "must be 0 or at least 64K, not %v", c.LogMaxSize)
	}
	if age := c.LogMaxAge.Duration(); age != 0 && (age < time.Minute || age > durationMax) {
		r.fault("log_max_age", "must be 0 or %v to %v, not %v", Duration(time.Minute), Duration(durationMax), c.LogMaxAge)
	}
	r.between("log_keep", c.LogKeep, 0, 100_000)
	if c.StatePath != "" && !filepath.IsAbs(c.StatePath) {
		r.fault("state_path", "must be an absolute path such as /var/lib/kingshard, not %q", c.StatePath)
	}
	r.between("digests", c.Digests, 0, 100_000)
	if kept := c.ContinuousProfile.Duration(); kept != 0 && (kept < 10*time.Second || kept > 10*time.Minute) {
		r.fault("continuous_profile", "must be 0 or %v to %v, not %v", Duration(10*time.Second), Duration(10*time.Minute), c.ContinuousProfile)
	}
}

// StateDir is the directory of what outlives the proxy; empty: there is none.
func (c *Config) StateDir() string { return cmp.Or(c.StatePath, c.LogPath) }

// The values of transaction_mode.
const (
	TransactionAuto       = "auto"
	TransactionSingle     = "single"
	TransactionBestEffort = "best_effort"
	TransactionAtomic     = "atomic"
)

// TransactionModes are the values of transaction_mode.
var TransactionModes = []string{TransactionAuto, TransactionSingle, TransactionBestEffort, TransactionAtomic}

// The values of read_consistency.
const (
	ReadNode   = "node"
	ReadAtomic = "atomic"
)

// ReadConsistencies are the values of read_consistency.
var ReadConsistencies = []string{ReadNode, ReadAtomic}

// The values of replica_consistency.
const (
	ReplicaEventual = "eventual"
	ReplicaSession  = "session"
	ReplicaGlobal   = "global"
	ReplicaPrimary  = "primary"
)

// ReplicaConsistencies are the values of replica_consistency.
var ReplicaConsistencies = []string{ReplicaEventual, ReplicaSession, ReplicaGlobal, ReplicaPrimary}

// TracksGTIDs reports whether servers are to tell what is committed on them, as some level of replica_consistency asks for it.
func (c *Config) TracksGTIDs() bool {
	tracks := func(level string) bool { return level == ReplicaSession || level == ReplicaGlobal }
	return tracks(c.ReplicaConsistency) || slices.ContainsFunc(c.UserList, func(u User) bool { return tracks(u.ReplicaConsistency) })
}

// The values of cross_shard, from the most to the least that they allow.
const (
	CrossShardAllow = "allow"
	CrossShardWarn  = "warn"
	CrossShardDeny  = "deny"
)

// CrossShards are the values of cross_shard, in that order.
var CrossShards = []string{CrossShardAllow, CrossShardWarn, CrossShardDeny}

// HasTransactionMode reports whether a transaction_mode is that of all, or of a user.
func (c *Config) HasTransactionMode(mode string) bool {
	return c.TransactionMode == mode || slices.ContainsFunc(c.UserList, func(u User) bool { return u.TransactionMode == mode })
}

// LogsStatements tells whether statements are logged.
func (c *Config) LogsStatements() bool {
	return c.LogSQL != "off" && (c.LogSQL != "" || c.LogPath != "")
}

func (c *Config) checkGreeting(r *report) {
	if !knownCharset(c.ProxyCharset) {
		r.fault("proxy_charset", "%q is not a character set that MySQL clients may use, such as utf8mb4", c.ProxyCharset)
	}
	if len(c.ServerVersion) > 64 || strings.ContainsFunc(c.ServerVersion, func(b rune) bool { return b <= ' ' || b > '~' }) {
		r.fault("server_version", "must be at most 64 printable ASCII characters without blanks, such as 8.0.36")
	}
	r.oneOf("auth_plugin", c.AuthPlugin, nativePassword, cachingSHA2, ed25519)
	t := c.TLS
	if (t.Cert == "") != (t.Key == "") {
		r.fault("tls", "cert and key must be set together")
	}
	if t.Cert == "" && t.RequireTLS {
		r.fault("tls.require_tls", "needs tls.cert and tls.key")
	}
	if t.Cert == "" && t.CA != "" {
		r.fault("tls.ca", "needs tls.cert and tls.key")
	}
	if t.CA != "" && !t.RequireTLS {
		r.warn("tls.ca", "a client without TLS needs no certificate: set tls.require_tls")
	}
	r.oneOf("tls.min_version", t.MinVersion, "1.2", "1.3")
}

func (c *Config) checkLimits(r *report) {
	r.between("max_client_conns", c.MaxClientConns, 0, math.MaxInt32)
	if c.MaxAllowedPacket < 1<<20 || c.MaxAllowedPacket > 1<<30 {
		r.fault("max_allowed_packet", "must be 1M to 1G, not %v", c.MaxAllowedPacket)
	}
	if c.PacketMemory != 0 && c.PacketMemory < 2*c.MaxAllowedPacket {
		r.fault("packet_memory", "must be 0 or at least twice max_allowed_packet, %v, not %v", 2*c.MaxAllowedPacket, c.PacketMemory)
	}
	r.between("max_prepared_stmts", c.MaxPreparedStmts, 1, 1<<20)
	r.between("primary_waiters", c.PrimaryWaiters, 1, 1_000_000)
	r.between("backend_prepared_stmts", c.BackendPreparedStmts, 1, 1<<14)
	if !finishBytes(c.FinishMaxBytes) {
		r.fault("finish_max_bytes", "must be 1M to 1T, not %v", c.FinishMaxBytes)
	}
	r.between("finish_max_rows", c.FinishMaxRows, 0, 1_000_000_000_000)
	switch total := c.FinishTotalBytes; {
	case total == 0:
	case total < 1<<20:
		r.fault("finish_total_bytes", "must be 0 or at least 1M, not %v", total)
	case total < c.FinishMaxBytes:
		r.warn("finish_total_bytes", "is less than finish_max_bytes, %v, which no statement comes to then", c.FinishMaxBytes)
	}
	r.between("finish_max_join_size", c.FinishMaxJoinSize, 0, 1<<31-1)
}

// finishBytes reports whether a finish_max_bytes is one.
func finishBytes(b ByteSize) bool { return b >= 1<<20 && b <= 1<<40 }

func (c *Config) checkTimes(r *report) {
	if d := c.MaxLoginDelay.Duration(); d < 0 || d > time.Minute {
		r.fault("max_login_delay", "must be 0s to %v, not %v", Duration(time.Minute), c.MaxLoginDelay)
	}
	for _, t := range []struct {
		path  string
		value Duration
		least time.Duration
	}{
		{"handshake_timeout", c.HandshakeTimeout, time.Millisecond},
		{"connect_timeout", c.ConnectTimeout, time.Millisecond},
		{"pool_wait_timeout", c.PoolWaitTimeout, time.Millisecond},
		{"primary_wait_timeout", c.PrimaryWaitTimeout, 0},
		{"client_write_timeout", c.ClientWriteTimeout, time.Second},
		{"finish_timeout", c.FinishTimeout, 0},
		{"idle_timeout", c.IdleTimeout, 0},
		{"idle_transaction_timeout", c.IdleTransactionTimeout, 0},
		{"drain_timeout", c.DrainTimeout, 0},
		{"upgrade_timeout", c.UpgradeTimeout, time.Second},
		{"health_timeout", c.HealthTimeout, 100 * time.Millisecond},
		{"health_interval", c.HealthInterval, 100 * time.Millisecond},
		{"conn_idle_timeout", c.ConnIdleTimeout, 0},
		{"conn_max_lifetime", c.ConnMaxLifetime, 0},
	} {
		if t.value.Duration() < t.least || t.value.Duration() > durationMax {
			r.fault(t.path, "must be %v to %v, not %v", Duration(t.least), Duration(durationMax), t.value)
		}
	}
}
