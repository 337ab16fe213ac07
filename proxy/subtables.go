package proxy

import (
	"context"
	"sync"

	"kingshard/proxy/subtables"
)

// makeSubTables makes the missing sub-tables of date rules with auto_create, until the server stops.
func (s *Server) makeSubTables() {
	ctx, cancel := context.WithCancel(context.Background())
	var making sync.WaitGroup
	making.Go(func() { s.subTables.Run(ctx, s.installed, s.autoCreated) })
	<-s.stop
	cancel()
	making.Wait()
}

// autoCreated lists the tables of all schemas, those that several users see more than once: what is there is not made again.
func (s *Server) autoCreated() (jobs []subtables.Job) {
	snap := s.shared.Snapshot.Load()
	for _, schema := range snap.Schemas {
		for _, t := range schema.Plans.AutoCreated() {
			jobs = append(jobs, subtables.Job{Table: t, Nodes: snap.Nodes})
		}
	}
	return jobs
}
