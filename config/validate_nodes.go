package config

import (
	"fmt"
	"math"
	"strings"
)

// connsLimitMax bounds max_conns_limit; one host has no more ports to one address.
const connsLimitMax = 100_000

func (c *Config) checkNodes(r *report) {
	if len(c.Nodes) == 0 {
		r.fault("nodes", "is required: at least one node")
	}
	first := map[string]int{}
	for k, n := range c.Nodes {
		path := fmt.Sprintf("nodes[%d]", k)
		n.check(r, path)
		if other, dup := first[n.Name]; dup {
			r.fault(path+".name", "node %q is also nodes[%d]", n.Name, other)
			continue
		}
		first[n.Name] = k
	}
}

func (n *Node) check(r *report, path string) {
	// A hint names the node in a comment, and lists of nodes are separated by commas.
	if n.Name == "" || strings.ContainsFunc(n.Name, func(c rune) bool { return c <= ' ' || strings.ContainsRune("*/,@", c) }) {
		r.fault(path+".name", "is required, without blanks or any of * / , @")
	}
	if n.MaxConnsLimit > connsLimitMax {
		r.fault(path+".max_conns_limit", "must be at most %d, not %d", connsLimitMax, n.MaxConnsLimit)
	}
	r.between(path+".adaptive_conns_limit", n.AdaptiveConnsLimit, 0, n.MaxConnsLimit)
	if n.User == "" {
		r.fault(path+".user", "is required: the account on the node's instances")
	}
	switch {
	case n.AdminUser == "" && (n.AdminPassword != "" || n.AdminPasswordFile != ""):
		r.fault(path+".admin_user", "is required with its password")
	case n.AdminUser != "" && strings.EqualFold(n.AdminUser, n.User):
		r.fault(path+".admin_user", "must be another account than user: what it may do no client may")
	}
	if n.ReplicationUser == "" && (n.ReplicationPassword != "" || n.ReplicationPasswordFile != "") {
		r.fault(path+".replication_user", "is required with its password")
	}
	if n.Master == "" {
		r.fault(path+".master", "is required: the address of the primary")
	} else if err := checkDial(n.Master); err != nil {
		r.fault(path+".master", "%v", err)
	}
	n.checkReplicas(r, path)
	n.checkZones(r, path)
	if n.ReplicaChoice != "" {
		r.oneOf(path+".replica_choice", n.ReplicaChoice, choiceWeight, choiceLatency)
	}
	if n.Roles != "" {
		r.oneOf(path+".roles", n.Roles, rolesAuto, rolesFixed)
	}
	if n.OnDiverged != "" {
		r.oneOf(path+".on_diverged", n.OnDiverged, divergedHold, divergedServe)
	}
	r.between(path+".down_after_noalive", n.DownAfterNoAlive, 0, math.MaxInt32)
	n.TLS.check(r, path+".tls")
	for k, plugin := range n.AllowedAuthPlugins {
		r.oneOf(fmt.Sprintf("%s.allowed_auth_plugins[%d]", path, k), plugin,
			nativePassword, cachingSHA2, ed25519, sha256Password, clearPassword)
	}
}

func (n *Node) checkReplicas(r *report, path string) {
	replicas, err := n.Replicas()
	if err != nil {
		r.fault(path+".slave", "%v", err)
		return
	}
	if n.Discovers() && n.Roles == rolesFixed {
		r.fault(path+".slave", "discover needs roles: auto, by which servers are known")
	}
	seen := map[string]bool{}
	for _, replica := range replicas {
		if seen[replica.Addr] {
			r.warn(path+".slave", "%s is listed twice: give it a weight instead", replica.Addr)
		}
		seen[replica.Addr] = true
	}
}

func (t *NodeTLS) check(r *report, path string) {
	if t.Mode == "" {
		if t.CA != "" || t.Cert != "" || t.Key != "" || t.ServerName != "" {
			r.fault(path+".mode", "is required with the other keys of tls: required, verify_ca, verify_identity, preferred or disabled")
		}
	} else {
		r.oneOf(path+".mode", t.Mode, tlsDisabled, tlsPreferred, tlsRequired, tlsVerifyCA, tlsVerifyIdentity)
	}
	if (t.Cert == "") != (t.Key == "") {
		r.fault(path, "cert and key must be set together")
	}
	if t.Mode == tlsVerifyCA && t.CA == "" {
		r.fault(path+".ca", "is required with mode verify_ca: any certificate of a public authority would do otherwise")
	}
}
