package observe

import (
	"context"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/querylog"
	"kingshard/proxy/tracing"
)

// A Command is what is observed of a session's commands, one after another. New makes it. Its methods belong to the goroutine, or the
// loop, that runs the command, but those that begin spans, which any may call until EndTrace.
type Command struct {
	Work
	// Counters are the share of a Stats that the session adds to.
	Counters *Counters
	tally    *account.Tally     // the user's; nil before the login
	labels   context.Context    // of the goroutine while a statement runs; nil: none are wanted
	trace    *tracing.Statement // nil: the command is not traced
	id       uint32             // the session's
}

// Work is what the command under way did so far. Times count from the command's begin; a command of several statements has the first
// one's connection, the last one's class and error, and the sums of all.
type Work struct {
	asked time.Duration // when it asked for a connection; 0: it has not, or has one already
	got   time.Duration // when the first exchange with a server began; 0: there was none
	// Instance is that of the first server; nil: there was none.
	Instance    *backend.Instance
	Rows, Bytes uint64 // that went to the client; packet headers count as mysql.Response has them
	Shards      int
	ErrorCode   uint16 // that the client heard last; 0: none
	Origin      Origin // of that error
	Plan        querylog.Plan
	Class       sqltext.Class // of the statement; set by the session
	// EachCounted says that the servers were told of their parts by Instance.Count; else End tells Instance.
	EachCounted bool
	shared      bool  // its connection ran others' statements ahead of it
	cut         uint8 // the origin, from 1 on, of what cut the command off; 0: nothing did
}

// New returns the Command of the session with this number, which adds to s.
func New(s *Stats, session uint32) Command {
	return Command{Counters: &s.shares[session%shares], id: session}
}

// SetAccount has commands count for the user of a: after a login, and after a reload, which hands counts on from the account before.
func (c *Command) SetAccount(a *account.Account) { c.tally = a.Tally(c.id) }

// Begin forgets what the command before did.
func (c *Command) Begin() { c.Work = Work{} }

// Ask notes that the command waits for a connection from now on, so long after its begin. Only the first time counts.
func (c *Command) Ask(after time.Duration) {
	if c.asked == 0 {
		c.asked = after
	}
}

// Exchange notes that the command, which began at begin, has its connections: to i, or to several of which that is the first.
func (c *Command) Exchange(i *backend.Instance, begin time.Time) {
	if c.got == 0 {
		c.got, c.Instance = time.Since(begin), i
		c.Shards = max(c.Shards, 1)
	}
	if c.Plan == querylog.PlanLocal {
		c.Plan = querylog.PlanForward
		c.labelPlan()
	}
}

// Spread notes that the command runs on so many shards.
func (c *Command) Spread(p querylog.Plan, shards int) {
	c.Plan, c.Shards = p, max(c.Shards, shards)
	c.labelPlan()
}

// Forward counts rows that went to the client.
func (c *Command) Forward(rows, bytes uint64) {
	if rows > 0 {
		sums := c.class()
		sums.rows.Add(rows)
		sums.bytes.Add(bytes)
	}
	c.Rows += rows
	c.Bytes += bytes
}

// Fail counts an error that the client hears.
func (c *Command) Fail(code uint16, o Origin) {
	c.Counters.errors[o].Add(1)
	c.ErrorCode, c.Origin = code, o
}

// CutOff notes that the session's end cuts the command off. An error that the client heard says more.
func (c *Command) CutOff(o Origin) { c.cut = 1 + uint8(o) }

// CountLooped counts a statement that began in a loop.
func (c *Command) CountLooped() { c.class().looped.Add(1) }

// CountShared counts a statement that a loop sent on a connection with others'.
func (c *Command) CountShared() {
	c.class().shared.Add(1)
	c.shared = true
}

// CountFresh counts a read that had to find what was changed.
func (c *Command) CountFresh(f Fresh) { c.Counters.Fresh[f].Add(1) }

// CountReplica counts a statement that was sent to a replica.
func (c *Command) CountReplica() { c.class().replicas.Add(1) }

// class returns the sums of the statement's class.
func (c *Command) class() *classSums { return &c.Counters.classes[classOf(c.Class)] }

// Parts are the parts of a statement's time.
type Parts struct {
	Proxy   time.Duration
	Wait    time.Duration // for a connection
	Backend time.Duration // from the first exchange with a server on
}

// parts takes apart the time of a command that took so long. Whatever the clock did, none is below zero.
func (w *Work) parts(took time.Duration) (p Parts) {
	if w.got > 0 {
		p.Backend = max(took-w.got, 0)
		if w.asked > 0 {
			p.Wait = max(w.got-w.asked, 0)
		}
	} else if w.asked > 0 {
		p.Wait = max(took-w.asked, 0) // in vain
	}
	p.Proxy = max(took-p.Wait-p.Backend, 0)
	return p
}

// End counts the command, which took so long: for all, for its user and, if a statement ran, for its server. statement is false for
// commands that run none; they have no parts.
func (c *Command) End(cmd mysql.Command, took time.Duration) (p Parts, statement bool) {
	k, statement := statementCommand(cmd)
	if statement {
		p = c.parts(took)
		c.Counters.observe(k, c.Class, p)
		if c.Instance != nil && !c.EachCounted {
			failed := c.ErrorCode != 0 && c.Origin == OriginBackend
			c.Instance.Count(c.id, p.Backend, c.Bytes, failed)
			if !failed && !c.shared {
				c.Instance.Latency.Took(c.id, p.Backend)
			}
		}
	} else if int(cmd) < mysql.CommandsMax {
		c.Counters.commands[cmd].Add(1)
	}
	if c.tally != nil {
		outcome := int(c.cut)
		if c.ErrorCode != 0 {
			outcome = 1 + int(c.Origin)
		}
		c.tally[usagePlace(cmd, c.Plan, outcome)].Add(1)
	}
	return p, statement
}
