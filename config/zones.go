package config

import (
	"slices"
	"strings"
)

// Zones are the zones of servers by their addresses.
type Zones map[string]string

// MarshalText gives the zones as they stand in the file, in the order of the addresses.
func (z Zones) MarshalText() ([]byte, error) { return mappingText(z), nil }

// The values of replica_choice of a node.
const (
	choiceWeight  = "weight"
	choiceLatency = "latency"
)

// ChoosesByLatency reports whether reads choose among the node's replicas by latency.
func (n Node) ChoosesByLatency() bool { return n.ReplicaChoice == choiceLatency }

// checkZones checks the zones of a node's servers. Those of servers that the node has not now are for a server that comes and goes, or mistyped.
func (n *Node) checkZones(r *report, path string) {
	replicas, err := n.Replicas()
	at := path + ".zones"
	for _, addr := range sortedKeys(n.Zones) {
		switch bad := checkDial(addr); {
		case bad != nil:
			r.fault(at, "%q: the address %v", addr, bad)
		case strings.TrimSpace(n.Zones[addr]) == "":
			r.fault(at, "%q: the zone is empty", addr)
		case err == nil && !n.Discovers() && addr != n.Master && !slices.ContainsFunc(replicas, func(one Replica) bool { return one.Addr == addr }):
			r.warn(at, "%s is no server of the node", addr)
		}
	}
}

// checkZone checks that the proxy's zone has servers.
func (c *Config) checkZone(r *report) {
	if c.Zone == "" {
		return
	}
	for _, n := range c.Nodes {
		for _, zone := range n.Zones {
			if zone == c.Zone {
				return
			}
		}
	}
	r.warn("zone", "no server of a node is in it: reads go to replicas of all zones")
}
