package session

import (
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/querylog"
	"kingshard/router/plan"
)

// work is what the command under way did, for statistics and the statement log. Times count from the command's begin; a command of
// several statements has the first one's connection and class, and the sums of all.
type work struct {
	asked     time.Duration     // when it asked for a connection; 0: it has not, or has one already
	got       time.Duration     // when the first exchange with a server began; 0: there was none
	instance  *backend.Instance // of the first server; nil: there was none
	counted   bool              // with the servers that it ran on, each with its part
	shards    int
	plan      querylog.Plan
	class     sqltext.Class
	errorCode uint16 // that the client heard last; 0: none
	origin    Origin // of that error
	rows      uint64
	bytes     uint64
}

// asking notes that the command waits for a connection from now on.
func (s *Session) asking(now time.Time) {
	if s.work.asked == 0 {
		s.work.asked = now.Sub(s.entry.Since())
	}
}

// exchanging notes that the command has its connections: to an instance, or to several of which that is the first.
func (s *Session) exchanging(i *backend.Instance) {
	w := &s.work
	if w.got == 0 {
		w.got, w.instance = time.Since(s.entry.Since()), i
		w.shards = max(w.shards, 1)
	}
	if w.plan == querylog.PlanLocal {
		w.plan = querylog.PlanForward
		s.labelPlan(w.plan)
	}
}

// planOf gives the kind of a way for several shards.
func planOf(m plan.Many) querylog.Plan {
	switch m {
	case plan.ManyRefuse:
		return querylog.PlanRefuse
	case plan.ManyMerge:
		return querylog.PlanMerge
	case plan.ManyFinish:
		return querylog.PlanFinish
	case plan.ManyEach:
		return querylog.PlanEach
	case plan.ManyFirst:
		return querylog.PlanForward
	}
	return querylog.PlanWrite
}

// spread notes that the command runs on several shards.
func (s *Session) spread(r *plan.Route) {
	s.work.plan, s.work.shards = planOf(r.Many), max(s.work.shards, len(r.Queries))
	s.labelPlan(s.work.plan)
}

// forwarded counts rows that went to the client.
func (s *Session) forwarded(rows, bytes uint64) {
	if rows > 0 {
		sums := s.stats.class(s.work.class)
		sums.rows.Add(rows)
		sums.bytes.Add(bytes)
	}
	s.work.rows += rows
	s.work.bytes += bytes
}

// count counts a command that took so long; end is what the session ends with, or nil.
func (s *Session) count(cmd mysql.Command, text string, took time.Duration, end *endError) {
	if k, ok := statementCommand(cmd); ok {
		s.record(k, text, took)
	} else if int(cmd) < mysql.CommandsMax {
		s.stats.commands[cmd].Add(1)
	}
	s.used(cmd, end)
}

// record counts a statement, and hands it to the statistics and the statement log. command is its place among those that run
// statements.
func (s *Session) record(command int, text string, took time.Duration) {
	w := &s.work
	var wait, exec time.Duration
	if w.got > 0 {
		exec = max(took-w.got, 0)
		if w.asked > 0 {
			wait = max(w.got-w.asked, 0)
		}
	} else if w.asked > 0 {
		wait = max(took-w.asked, 0) // in vain
	}
	took = max(took, wait+exec) // whatever the clock did
	s.stats.observe(command, w.class, took-wait-exec, wait, exec)
	addr := ""
	if w.instance != nil {
		addr = w.instance.Addr
		if !w.counted {
			w.instance.Count(s.id, exec, w.bytes, w.errorCode != 0 && w.origin == OriginBackend)
		}
	}
	if !s.shared.Queries.On() {
		return
	}
	normal, numbers := "", sqltext.Numbers{}
	if s.tasked != nil {
		normal, numbers = s.tasked.recognized.of(text)
	}
	s.shared.Queries.Statement(&querylog.Statement{
		Conn: s.id, User: s.user, DB: s.state.db, Client: s.client, Backend: addr, Text: text, Normal: normal, Numbers: numbers, Mode: s.mode(), Class: w.class,
		Start: s.entry.Since().Add(-took), Total: took, Wait: wait, Exec: exec,
		Rows: w.rows, Bytes: w.bytes, Shards: w.shards, Plan: w.plan, ErrorCode: w.errorCode,
	})
}
