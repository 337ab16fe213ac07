package proxy

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"kingshard/proxy/placement"
	"kingshard/router"
)

// lookAtServers looks after a start and after each reload, until the server stops, whether the servers compare keys of text as the rules
// place them, and whether a replica is a server of another node. What it finds is told in the log: the rows of a rule that is in force stay
// where they are, and a start is not refused.
func (s *Server) lookAtServers() {
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() {
		told := map[placement.Finding]bool{}
		replicas := replicasSeen{told: map[string]bool{}}
		var again <-chan time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.placed:
			case <-again:
			}
			again = nil
			keys, all := s.tellOfKeys(ctx, told), s.tellOfReplicas(ctx, &replicas)
			if !keys || !all {
				again = time.After(lookAgain)
			}
		}
	})
	<-s.stop
	cancel()
	looking.Wait()
}

// lookAgain is after how long servers are asked again of which some could not be asked.
const lookAgain = time.Minute

// tellOfKeys tells what has not been told of before; complete says that all nodes were asked to the end.
func (s *Server) tellOfKeys(ctx context.Context, told map[placement.Finding]bool) (complete bool) {
	complete = true
	snap := s.shared.Snapshot.Load()
	var tables []*router.Table
	for _, user := range slices.Sorted(maps.Keys(snap.Schemas)) {
		tables = append(tables, snap.Schemas[user].Plans.Tables()...)
	}
	for _, node := range slices.Sorted(maps.Keys(snap.Nodes)) {
		select {
		case <-snap.Nodes[node].Primary.Known():
		case <-ctx.Done():
			return false
		case <-time.After(time.Second):
			complete = false
			continue
		}
		for _, f := range placement.Keys(ctx, tables, snap.Nodes, node) {
			if f.Table == "" {
				complete = false
				if unasked := (placement.Finding{Node: f.Node}); !told[unasked] {
					told[unasked] = true
					s.log.Warn("whether keys of text are compared as their rules place them is not known, it is asked again until it is", "node", f.Node, "finding", f.What)
				}
				continue
			}
			if told[f] {
				continue
			}
			told[f] = true
			s.log.Warn("a key of text is compared otherwise than its rule places it: equal keys may be on several shards, and a primary key there twice",
				"node", f.Node, "table", f.Table, "finding", f.What)
		}
	}
	return complete
}
