package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

func (c *Config) checkUsers(r *report) {
	if len(c.UserList) == 0 {
		r.fault("user_list", "is required: without a user nobody can log in")
	}
	owners := map[string]bool{}
	for _, s := range c.SchemaList {
		owners[s.User] = true
	}
	first := map[string]int{}
	for k, u := range c.UserList {
		path := fmt.Sprintf("user_list[%d]", k)
		u.check(r, path)
		if other, dup := first[u.User]; dup {
			r.fault(path+".user", "user %q is also user_list[%d]", u.User, other)
			continue
		}
		first[u.User] = k
		if u.User != "" && !owners[u.User] && (c.AdminAddr == "" || u.Rights == rightNone) {
			r.fault(path+".user", "user %q must have an entry in schema_list", u.User)
		}
		if u.RequireTLS && c.TLS.Cert == "" && c.Socket == "" {
			r.fault(path+".require_tls", "needs tls.cert and tls.key, as there is no TLS to use")
		}
	}
}

func (u *User) check(r *report, path string) {
	if u.User == "" || strings.ContainsRune(u.User, 0) {
		r.fault(path+".user", "is required and may not contain a NUL")
	}
	if len(u.Verifiers) > 0 {
		u.checkVerifiers(r, path)
	} else if u.Password == "" && u.PasswordFile == "" {
		r.warn(path+".password", "is empty: anybody who can connect may log in as %q", u.User)
	}
	if u.AuthPlugin != "" {
		r.oneOf(path+".auth_plugin", u.AuthPlugin, nativePassword, cachingSHA2, ed25519)
	}
	if _, err := ParseNets(u.Hosts); err != nil {
		r.fault(path+".hosts", "%v", err)
	}
	if u.TransactionMode != "" {
		r.oneOf(path+".transaction_mode", u.TransactionMode, TransactionModes...)
	}
	if u.ReadConsistency != "" {
		r.oneOf(path+".read_consistency", u.ReadConsistency, ReadConsistencies...)
	}
	if u.ReplicaConsistency != "" {
		r.oneOf(path+".replica_consistency", u.ReplicaConsistency, ReplicaConsistencies...)
	}
	if u.FinishMaxBytes != 0 && !finishBytes(u.FinishMaxBytes) {
		r.fault(path+".finish_max_bytes", "must be 0 or 1M to 1T, not %v", u.FinishMaxBytes)
	}
	r.oneOf(path+".cross_shard", u.CrossShard, CrossShards...)
	r.oneOf(path+".rights", u.Rights, rightNone, rightRead, rightOperate, rightAdmin)
	r.between(path+".max_conns", u.MaxConns, 0, math.MaxInt32)
	r.between(path+".max_concurrent", u.MaxConcurrent, 0, math.MaxInt32)
	r.between(path+".max_qps", u.MaxQPS, 0, 1_000_000)
	r.maxWait(path, u.MaxWait, u.MaxConcurrent, u.MaxQPS)
	r.between(path+".max_rows", u.MaxRows, 0, math.MaxInt32)
	r.between(path+".max_seconds", u.MaxSeconds, 0, int(durationMax/time.Second))
}

// waitMax is the longest max_wait.
const waitMax = 10 * time.Minute

// maxWait checks the time that statements wait for a place under max_concurrent and max_qps.
func (r *report) maxWait(path string, wait Duration, concurrent, perSecond int) {
	switch w := wait.Duration(); {
	case w < 0 || w > waitMax:
		r.fault(path+".max_wait", "must be 0s to 10m, not %v", wait)
	case w > 0 && concurrent == 0 && perSecond == 0:
		r.fault(path+".max_wait", "needs max_concurrent or max_qps, whose wait it bounds")
	}
}

func (u *User) checkVerifiers(r *report, path string) {
	if u.Password != "" || u.PasswordFile != "" {
		r.fault(path+".verifiers", "stand instead of password and password_file: remove one or the other")
	}
	plugins := []string{nativePassword, cachingSHA2, ed25519}
	for _, plugin := range sortedKeys(u.Verifiers) {
		at := join(path+".verifiers", plugin)
		if !slices.Contains(plugins, plugin) {
			r.fault(at, "is not an authentication plugin: they are %s", strings.Join(plugins, ", "))
		} else if u.Verifiers[plugin] == "" {
			r.fault(at, "is empty")
		}
	}
	if u.AuthPlugin != "" && u.Verifiers[u.AuthPlugin] == "" && slices.Contains(plugins, u.AuthPlugin) {
		r.fault(path+".auth_plugin", "has no entry in verifiers")
	}
}
