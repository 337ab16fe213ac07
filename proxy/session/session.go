package session

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// preAuthCap bounds every packet before the login is complete, in bytes.
const preAuthCap = 64 << 10

// Session is one client. Its goroutine owns all fields but the entry.
type Session struct {
	// LoggedIn, if set before Serve, is called once: when the login succeeded or the session ended without one.
	LoggedIn func()

	shared *Shared
	conn   *mysql.Conn
	id     uint32
	salt   []byte

	// Who it is, from the login.
	addr     netip.Addr // invalid over a unix socket
	account  *account.Account
	user     string
	schema   *Schema
	snap     *Snapshot // that of the command under way
	schemaOf *Snapshot // one that schema is known to be of
	client   string    // address with port, for logs

	// observed is what is counted, labelled and traced of the command under way.
	observed observe.Command

	state state.State
	stmts stmts
	// sink, while it is set, takes answers in the client's place.
	sink *sink
	// tasked is for the command under way; nil between commands, and before one needs it.
	tasked *task
	// rules are those of the set ruled that can match what this user sends.
	rules *queryrule.View
	ruled *queryrule.Set
	lane  laned
	// spares are those of the loop that has the session; nil on a goroutine.
	spares *spares
	// template is the one of the text that was recognized last; nil before.
	template *sqltext.Template
	// textStmts are the names given by PREPARE and not yet deallocated.
	textStmts map[string]textStmt
	patchFn   func(*mysql.OKPacket)
	// more is set while a further statement of the same text follows, so that OK and end packets must say so.
	more bool
	// passed says that the statement has been through the gate.
	passed bool

	// txn has the connections that the session keeps between commands, and why.
	txn txn.Connections

	// entry is what others may see of the session and do to it.
	entry process.Entry
}

// New wraps an accepted connection, which the session owns from here on. With adminOnly it is a session of the admin port: it has no schema
// and no backend, and takes the proxy's own statements only.
func New(nc net.Conn, shared *Shared, adminOnly bool) *Session {
	s := &Session{shared: shared, conn: mysql.NewConn(nc, mysql.ClientSide, preAuthCap), client: "localhost"}
	s.conn.SetMemory(&shared.Packets)
	s.patchFn = s.patchOK
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		from := a.AddrPort()
		s.comesFrom(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
	s.txn.Init(&shared.Pins)
	s.entry.Connect((*clientConn)(s.conn), process.Who{Host: s.host(), Admin: adminOnly}, shared.Log)
	shared.Sessions.Add(&s.entry)
	s.id = s.entry.ID()
	s.observed = observe.New(&shared.Stats, s.id)
	return s
}

// comesFrom notes the client's address.
func (s *Session) comesFrom(a netip.AddrPort) {
	s.addr, s.client = a.Addr(), a.String()
}

// host is where the client is, as USER() shows it: all that its address has before the port, without brackets.
func (s *Session) host() string {
	if !s.addr.IsValid() {
		return s.client
	}
	return strings.Trim(s.client[:strings.LastIndexByte(s.client, ':')], "[]")
}

// loginOver tells the owner that the login succeeded or will not any more.
func (s *Session) loginOver() {
	if s.LoggedIn != nil {
		s.LoggedIn()
		s.LoggedIn = nil
	}
}

// newSalt gives the greeting's random bytes.
func (s *Session) newSalt() error {
	var err error
	s.salt, err = auth.NewSalt()
	return err
}

// mode is how the text of this session's statements is to be read.
func (s *Session) mode() sqltext.Mode { return s.state.Mode }

// patchOK changes the OK packets of a backend into the session's own.
func (s *Session) patchOK(ok *mysql.OKPacket) {
	if len(ok.StateChanges) > 0 {
		t := s.task()
		changed, visited := s.state.HideStateChange(ok)
		t.changed, t.visited = t.changed || changed, t.visited || visited
	}
	s.state.ServerStatus = ok.Status
	if s.txn.HasOthers() && !ok.Status.Has(mysql.ServerStatusAutocommit) && (s.txn.InTransaction() || s.txn.ReadsInTransaction(s.state.Autocommit)) && !endsTransaction(s.observed.Class) {
		ok.Status |= mysql.ServerStatusInTrans
	}
	if s.more {
		ok.Status |= mysql.ServerMoreResultsExists
	}
}

// status is what the proxy's own OK packets say.
func (s *Session) status() mysql.Status {
	var st mysql.Status
	if s.state.Autocommit {
		st |= mysql.ServerStatusAutocommit
	}
	if (s.txn.InTransaction() || s.txn.ReadsInTransaction(s.state.Autocommit)) && (s.tasked == nil || !s.tasked.own) {
		st |= mysql.ServerStatusInTrans
	}
	if s.more {
		st |= mysql.ServerMoreResultsExists
	}
	if s.state.Mode.NoBackslashEscapes {
		st |= mysql.ServerStatusNoBackslashEscapes
	}
	return st
}

// writeOK queues an OK of the proxy's own.
func (s *Session) writeOK() {
	s.state.Diagnostics.RowCount = 0
	s.noWarnings()
	s.conn.WriteOK(&mysql.OKPacket{Status: s.status()})
}

// writeError queues an error and counts it by its origin.
func (s *Session) writeError(e *mysql.SQLError, o observe.Origin) {
	s.heard(e, o)
	s.conn.WriteError(e)
}

// heard notes and counts an error that the client hears.
func (s *Session) heard(e *mysql.SQLError, o observe.Origin) {
	s.observed.Fail(e.Code, o)
	s.state.Diagnostics.SetError(e)
	if mysql.MissingPart(e) {
		s.shared.Log.Error("a sub-table is missing", "conn", s.id, "user", s.user, "error", e.Message)
	}
}

// userAtHost is what USER() shows.
func (s *Session) userAtHost() string { return s.user + "@" + s.host() }

// begin notes what the session is about to do, for others to see. It fails when somebody closed the session meanwhile.
func (s *Session) begin(cmd mysql.Command, text string) bool {
	now := time.Now()
	if !s.lane.since.IsZero() {
		now = s.lane.since // it was in line since
	}
	s.observed.Begin()
	s.passed = false
	return s.entry.Begin(cmd, text, now)
}

// finishCommand notes that the command is over and returns how long it took.
func (s *Session) finishCommand() time.Duration {
	return s.entry.Finish(process.Kept{
		DB: s.state.DB(), Instance: s.txn.Held().Instance, Others: s.txn.Others(), Pins: uint32(s.txn.Pins),
		InTransaction: s.txn.InTransaction(), Engaged: s.txn.Pins.Has(txn.PinXA) || s.txn.Pins.Has(txn.PinLockTables),
	})
}
