package session

import (
	"sync"

	"kingshard/backend"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session/state"
	"kingshard/proxy/tracing"
	"kingshard/proxy/txn"
)

// task is what a session needs for the command under way. It has none between commands: most clients say nothing most of the
// time, and those that do take turns with the same memory.
type task struct {
	query     query
	execution execution
	// x is the exchange of a statement that began in a loop.
	x exchange
	// merging is such a statement on several shards, instead.
	merging *merging
	looking looking
	// place is where such a statement waits for a connection, placed the instance that has answered it with what a goroutine is to take.
	place  backend.Place
	placed *backend.Instance
	ahead  ahead
	// loans are the connections that publish was called with last.
	loans []txn.Lease
	// fallen are the nodes on whose primaries the statement reads because no replica can serve, with what ends that; see fallBack.
	fallen map[*backend.Node]func()
	// repeatable is the query on several shards under way, if it may be sent again; see onShards.
	repeatable *query
	// own says that the session is in a transaction of the proxy's own, which ends with the command.
	own bool
	// held are rows that the proxy has read to carry the client's statement out.
	held heldBytes
	// moved is what the command's statements have moved.
	moved moved
	// composed says that the query is one of those that a statement of the client's is carried out by.
	composed bool
	// verdict is what query rules say of the text of such a statement, until they are counted.
	verdict    queryrule.Decision
	recognized recognized
	// changed says that a server said that the state of its session changed; visited that the server went to another database, which it does
	// for a moment when it reads a routine there for the first time.
	changed, visited bool
	// warned are the warnings of the variables that SET STATEMENT has set for the statement under way, which count as its own.
	warned []state.Warning
	// told are the changes of the session's state that a server told last, those for the proxy alone among them; valid until the next read.
	told []byte
	// analysis measures the statement under way; nil but under EXPLAIN ANALYZE.
	analysis *analysis
	// choice is whether the command is traced. It is made once, though a command may pass from a loop to a goroutine.
	choice tracing.Choice
	// found is for plans of statements on sharded tables, and query rules; looked says that something is in it. See client.lookup.
	found  lookup
	looked bool
}

// moved is how many rows went from one server to another, or into the proxy, for statements to be finished there, and their bytes.
type moved struct{ rows, bytes uint64 }

// add counts more of them.
func (m *moved) add(rows, bytes uint64) {
	m.rows += rows
	m.bytes += bytes
}

// taskPool keeps the tasks of sessions that run nothing.
var taskPool = sync.Pool{New: func() any { return new(task) }}

// task gives the session's task, which it has from the first use in a command to the command's end.
func (c *client) task() *task {
	if c.tasked == nil {
		if c.scratch != nil {
			c.tasked = c.scratch.take()
		} else {
			c.tasked = taskPool.Get().(*task)
		}
	}
	return c.tasked
}

// lookup gives the lookup of the session's task. It is long, and most statements have no use for it: these do not even touch it.
func (c *client) lookup() *lookup {
	t := c.task()
	t.looked = true
	return &t.found
}

// releaseTask lets go of what the command was about: texts in the read buffer, plans, names and bound values.
func (c *client) releaseTask() {
	t := c.tasked
	if t == nil {
		return
	}
	t.endFallback()
	t.query, t.execution, t.x, t.verdict, t.ahead = query{}, execution{}, exchange{}, queryrule.Decision{}, ahead{}
	t.recognized, t.choice, t.merging, t.looking, t.loans = recognized{}, tracing.Choice{}, nil, looking{}, nil
	if t.held.n > 0 {
		t.held.set(0)
	}
	t.moved = moved{}
	t.repeatable, t.own, t.composed, t.changed, t.visited, t.told, t.warned = nil, false, false, false, false, nil, nil
	t.analysis = nil
	if t.looked {
		t.found.release()
		t.looked = false
	}
	c.tasked = nil
	if c.scratch != nil {
		c.scratch.put(t)
		return
	}
	taskPool.Put(t)
}
