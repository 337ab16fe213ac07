package session

import (
	"net"
	"net/netip"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// client is what every part of a session knows of its client: who it is, what it has set, which connections are its own, and how to answer
// it. The session's goroutine, or loop, owns all fields but the entry.
type client struct {
	shared *Shared
	conn   *mysql.Conn
	id     uint32
	salt   [auth.SaltLen]byte // of the greeting
	port   uint16
	// transactionMode, readConsistency and replicaConsistency are what SET ks_transaction_mode and its like said.
	transactionMode, readConsistency, replicaConsistency choice
	// more is set while a further statement of the same text follows, so that OK and end packets must say so.
	more bool
	// passed says that the statement has been through the gate.
	passed bool

	// Who it is, from the login; its name is in the entry.
	addr     netip.Addr // invalid over a unix socket
	account  *account.Account
	schema   *Schema
	snap     *Snapshot // that of the command under way
	schemaOf *Snapshot // one that schema is known to be of

	// observed is what is counted, labelled and traced of the command under way.
	observed observe.Command

	state state.State
	// txn has the connections that the session keeps between commands, and why.
	txn txn.Connections
	// lastChanges are what replicas must have that serve the session; see freshness. It is nil before there were any.
	lastChanges *[]lastChange
	// spread is what the open transaction has, or would bring, on further nodes; nil without any.
	spread *spread
	// textStmts are the names given by PREPARE and not yet deallocated.
	textStmts textStmts
	// sink, while it is set, takes answers in the client's place.
	sink *sink
	// tasked is for the command under way; nil between commands, and before one needs it.
	tasked *task
	// scratch is that of the loop that has the session; nil on a goroutine.
	scratch *scratch
	// template is the one of the text that was recognized last; nil before.
	template *sqltext.Template
	patchFn  func(*mysql.OKPacket)

	// entry is what others may see of the session and do to it.
	entry process.Entry
}

// init makes c the client of an accepted connection, which it owns from here on.
func (c *client) init(nc net.Conn, shared *Shared) {
	c.shared, c.conn = shared, mysql.NewConn(nc, mysql.ClientSide, preAuthCap)
	c.conn.SetMemory(&shared.Packets)
	c.patchFn = c.patchOK
	c.txn.Init(&shared.Pins)
}

// identify gives the client its connection id.
func (c *client) identify(id uint32) {
	c.id = id
	c.observed = observe.New(&c.shared.Stats, id)
}

// comesFrom notes the client's address.
func (c *client) comesFrom(a netip.AddrPort) {
	c.addr, c.port = a.Addr(), a.Port()
}

// from is the client's address with its port; invalid over a unix socket.
func (c *client) from() netip.AddrPort { return netip.AddrPortFrom(c.addr, c.port) }

// hostOf is where a client is, as USER() shows it.
func hostOf(addr netip.Addr) string {
	if !addr.IsValid() {
		return "localhost"
	}
	return addr.String()
}

// mode is how the text of this session's statements is to be read.
func (c *client) mode() sqltext.Mode { return c.state.Mode }

// patchOK changes the OK packets of a backend into the session's own.
func (c *client) patchOK(ok *mysql.OKPacket) {
	if len(ok.StateChanges) > 0 {
		t := c.task()
		t.told = ok.StateChanges
		changed, visited := c.state.HideStateChange(ok, c.observed.Instance != nil && c.observed.Instance.GTIDs.Tracked.Load())
		t.changed, t.visited = t.changed || changed, t.visited || visited
	}
	if c.tasked != nil {
		c.tasked.query.ids.told(ok)
		c.tasked.countWarned(ok, c.mode())
	}
	c.state.ServerStatus = ok.Status
	if c.txn.HasOthers() && (c.txn.Branches || !ok.Status.Has(mysql.ServerStatusAutocommit)) && (c.txn.InTransaction() || c.txn.ReadsInTransaction(c.state.Autocommit)) && !endsTransaction(c.observed.Class) {
		ok.Status |= mysql.ServerStatusInTrans
	}
	if c.more {
		ok.Status |= mysql.ServerMoreResultsExists
	}
}

// status is what the proxy's own OK packets say.
func (c *client) status() mysql.Status {
	var st mysql.Status
	if c.state.Autocommit {
		st |= mysql.ServerStatusAutocommit
	}
	if (c.txn.InTransaction() || c.txn.ReadsInTransaction(c.state.Autocommit)) && (c.tasked == nil || !c.tasked.own) {
		st |= mysql.ServerStatusInTrans
	}
	if c.more {
		st |= mysql.ServerMoreResultsExists
	}
	if c.state.Mode.NoBackslashEscapes {
		st |= mysql.ServerStatusNoBackslashEscapes
	}
	return st
}

// writeOK queues an OK of the proxy's own.
func (c *client) writeOK() {
	c.state.Diagnostics.RowCount = 0
	keepWarnings(c)
	c.noWarnings()
	c.conn.WriteOK(&mysql.OKPacket{Status: c.status()})
}

// writeError queues an error and counts it by its origin.
func (c *client) writeError(e *mysql.SQLError, o observe.Origin) {
	c.heard(e, o)
	c.conn.WriteError(e)
}

// heard notes and counts an error that the client hears.
func (c *client) heard(e *mysql.SQLError, o observe.Origin) {
	if c.tasked == nil || !c.tasked.composed {
		c.observed.Fail(e.Code, o)
	}
	c.state.Diagnostics.SetError(e)
	freshness{c}.failed()
	if mysql.MissingPart(e) {
		c.shared.Log.Error("a sub-table is missing", "conn", c.id, "user", c.entry.Name(), "error", e.Message)
	}
}

// userAtHost is what USER() shows.
func (c *client) userAtHost() string { return c.entry.Name() + "@" + c.entry.Host() }
