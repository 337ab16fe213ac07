package proxy

import (
	"context"
	"maps"
	"slices"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/session"
)

// replicasSeen is what the servers of a snapshot said of themselves, and which replicas have been told of.
type replicasSeen struct {
	of   *session.Snapshot
	all  map[*backend.Instance]*server
	told map[string]bool
}

// tellOfReplicas tells in the log of replicas that are servers of other nodes, from which reads would get those nodes' rows, and of tables
// that rules have twice since the primaries of nodes are one server; complete says that all servers were asked. It asks none where neither
// can be.
func (s *Server) tellOfReplicas(ctx context.Context, seen *replicasSeen) (complete bool) {
	snap := s.shared.Snapshot.Load()
	if seen.of != snap {
		seen.of, seen.all = snap, map[*backend.Instance]*server{}
	}
	candidates := candidatesOf(&config.Config{}, snap.Config)
	if !slices.ContainsFunc(candidates, func(c *candidate) bool { return c.replica }) && doubled(snap.Config, allOne(snap.Config)) == nil {
		return true
	}
	complete = true
	var all []*server
	for _, name := range slices.Sorted(maps.Keys(snap.Nodes)) {
		for _, i := range snap.Nodes[name].Instances() {
			if seen.all[i] == nil {
				asking, cancel := context.WithTimeout(ctx, snap.Config.ConnectTimeout.Duration())
				found, err := i.Inspect(asking)
				cancel()
				if err != nil {
					complete = false
					continue // which the health check tells of
				}
				seen.all[i] = &server{i.Node, i.Addr, found}
			}
			all = append(all, seen.all[i])
		}
	}
	for _, c := range candidates {
		if k := slices.IndexFunc(all, func(one *server) bool { return one.node == c.node && one.addr == c.addr }); k >= 0 {
			c.found = all[k].found
		}
	}
	for _, u := range judge(snap.Config, candidates, nil) {
		if text := u.String(); u.Replica && !seen.told[text] {
			seen.told[text] = true
			s.log.Warn("a replica is another node's server: reads from it find that node's rows", "node", u.Node, "replica", u.Addr, "finding", text)
		}
	}
	servers := map[string]string{}
	for _, n := range snap.Config.Nodes {
		if one := primaryOf(snap.Config, all, n.Name); one != nil && one.found.Server != "" {
			servers[n.Name] = one.found.Server
		}
	}
	if err := doubled(snap.Config, servers); err != nil && !seen.told[err.Error()] {
		seen.told[err.Error()] = true
		s.log.Error("a rule has a table twice: changes of it wait for their own row locks", "finding", err)
	}
	return complete
}

// allOne has all nodes on one server.
func allOne(cfg *config.Config) map[string]string {
	servers := map[string]string{}
	for _, n := range cfg.Nodes {
		servers[n.Name] = ""
	}
	return servers
}
