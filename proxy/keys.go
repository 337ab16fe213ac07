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

// lookAtKeys looks after a start and after each reload whether the servers compare keys of text as the rules place them, until
// the server stops. What it finds is told in the log: the rows of a rule that is in force stay where they are.
func (s *Server) lookAtKeys() {
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() {
		told := map[placement.Finding]bool{}
		var again <-chan time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.placed:
			case <-again:
			}
			if again = nil; !s.tellOfKeys(ctx, told) {
				again = time.After(keysAgain)
			}
		}
	})
	<-s.stop
	cancel()
	looking.Wait()
}

// keysAgain is after how long nodes are asked again of which some could not be asked.
const keysAgain = time.Minute

// tellOfKeys tells what has not been told of before; complete says that all nodes were asked. One that cannot be is the health
// check's to tell of.
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
