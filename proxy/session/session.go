package session

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/tracing"
)

// preAuthCap bounds every packet before the login is complete, in bytes.
const preAuthCap = 64 << 10

// Session is one client. Its goroutine owns all fields but those under mu.
type Session struct {
	// LoggedIn, if set before Serve, is called once: when the login succeeded or the session ended without one.
	LoggedIn func()
	// AdminOnly, set before Serve, makes it a session of the admin port: it has no schema and no backend, and takes the
	// proxy's own statements only.
	AdminOnly bool

	shared *Shared
	conn   *mysql.Conn
	stats  *statsCell
	tally  *account.Tally // the user's; nil before the login
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
	work     work      // what the command under way did

	state state
	stmts stmts
	// sink, while it is set, takes answers in the client's place.
	sink *sink
	// tasked is for the command under way; nil between commands, and before one needs it.
	tasked *task
	// labels are those of the goroutine while a statement runs; nil: none are wanted.
	labels context.Context
	// rules are those of the set ruled that can match what this user sends.
	rules *queryrule.View
	ruled *queryrule.Set
	lane  laned
	// spares are those of the loop that has the session; nil on a goroutine.
	spares *spares
	// template is the one of the text that was recognized last; nil before.
	template *sqltext.Template
	// trace is that of the command under way; nil if it is not traced. Traced commands run on goroutines only.
	trace *tracing.Statement
	// textStmts are the names given by PREPARE and not yet deallocated.
	textStmts map[string]textStmt
	patchFn   func(*mysql.OKPacket)
	// serverStatus is what the backend's last OK or end packet said, before the session's own flags went into it.
	serverStatus mysql.Status
	// more is set while a further statement of the same text follows, so that OK and end packets must say so.
	more bool
	// followedDB says that the statement changed the current database by itself.
	followedDB bool

	// unlearned says that the server is to be asked, on held, for what a statement has set unseen.
	unlearned bool
	// pins are the reasons why held is kept.
	pins pinSet
	// held is the backend connection that the session keeps between commands, for its transaction or a pin; its Conn
	// is nil when there is none.
	held backend.Pooled
	// others are connections to further nodes that the open transaction reads from, by node.
	others map[string]backend.Pooled
	// openCursors counts statements with a cursor on held.
	openCursors int32
	// mixedStmts counts those that pinParameterTypes is for.
	mixedStmts int32
	// heldLast says that the statement before this one ran on held, so its diagnostics are there.
	heldLast bool
	// passed says that the statement has been through the gate.
	passed bool
	// heldNames are the names in those diagnostics that a client must not see, with the logical ones.
	heldNames []mysql.TableName

	// wants is the instance that the session waits for a connection to, or asks for one; nil: none.
	wants atomic.Pointer[backend.Instance]
	waits atomic.Uint32 // whether it waits for its client; see await

	mu sync.Mutex
	// Under mu: what others may see or do while the session works.
	started  int64          // nanoseconds since 1970
	since    time.Time      // when the command, or the idleness, began
	text     string         // of the running statement; aliases the read buffer
	running  backend.Pooled // the backend connection that the statement runs on
	parallel []loan         // those of a statement on several shards
	rowWait  *rowWait       // that of a statement that may wait for row locks on several nodes; else nil
	expiry   *expiry        // the limit of the running statement; nil without one
	db       string
	cancel   chan struct{}     // what cancelled gives; nil before somebody asks
	kept     *backend.Instance // the one it keeps; nil when there is none
	// keptOthers are those that its transaction reads from.
	keptOthers []*backend.Instance
	command    mysql.Command
	ended      EndReason // why somebody else closed the session, valid if closing
	keeps      pinSet    // why it keeps a backend connection between commands
	wasKill    bool      // a KILL was sent to running
	busy       bool
	closing    bool
	inTx       bool
	loggedIn   bool
	heldUp     bool // it waits for the end of a pause
	// uploading says that the client is sending a file.
	uploading bool
	// stays says that the session cannot move to another process, or could not when it tried last.
	stays bool
	// moved says that another process has the session.
	moved  bool
	goesOn bool // the statement does though the client has gone
	// stalledAt and stalledFor watch a client that does not read: what its connection had moved so many seconds ago.
	stalledAt   uint32
	waitTimeout uint32 // the client's own wait_timeout in seconds; 0: none
	stalledFor  uint32
}

// New wraps an accepted connection, which the session owns from here on.
func New(nc net.Conn, shared *Shared) *Session {
	now := time.Now()
	s := &Session{
		shared: shared, conn: mysql.NewConn(nc, mysql.ClientSide, preAuthCap),
		started: now.UnixNano(), since: now, command: mysql.ComConnect, busy: true,
	}
	s.conn.SetMemory(&shared.Packets)
	s.patchFn = s.patchOK
	s.client = "localhost"
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		from := a.AddrPort()
		s.comesFrom(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
	shared.Sessions.add(s)
	s.stats = shared.Stats.cell(s.id)
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

// ID is the connection id that the client sees.
func (s *Session) ID() uint32 { return s.id }

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
func (s *Session) mode() sqltext.Mode { return s.state.mode }

// patchOK changes the OK packets of a backend into the session's own.
func (s *Session) patchOK(ok *mysql.OKPacket) {
	if len(ok.StateChanges) > 0 {
		s.hideStateChange(ok)
	}
	s.serverStatus = ok.Status
	if len(s.others) > 0 && !ok.Status.Has(mysql.ServerStatusAutocommit) && (s.inTransaction() || s.readsInTransaction()) && !endsTransaction(s.work.class) {
		ok.Status |= mysql.ServerStatusInTrans
	}
	if s.more {
		ok.Status |= mysql.ServerMoreResultsExists
	}
}

// status is what the proxy's own OK packets say.
func (s *Session) status() mysql.Status {
	var st mysql.Status
	if s.state.autocommit {
		st |= mysql.ServerStatusAutocommit
	}
	if (s.inTransaction() || s.readsInTransaction()) && (s.tasked == nil || !s.tasked.own) {
		st |= mysql.ServerStatusInTrans
	}
	if s.more {
		st |= mysql.ServerMoreResultsExists
	}
	if s.state.mode.NoBackslashEscapes {
		st |= mysql.ServerStatusNoBackslashEscapes
	}
	return st
}

// writeOK queues an OK of the proxy's own.
func (s *Session) writeOK() {
	s.state.result = lastResult{}
	s.noWarnings()
	s.conn.WriteOK(&mysql.OKPacket{Status: s.status()})
}

// writeError queues an error and counts it by its origin.
func (s *Session) writeError(e *mysql.SQLError, o Origin) {
	s.heard(e, o)
	s.conn.WriteError(e)
}

// heard notes and counts an error that the client hears.
func (s *Session) heard(e *mysql.SQLError, o Origin) {
	s.stats.errors[o].Add(1)
	s.work.errorCode, s.work.origin = e.Code, o
	s.state.setError(e)
	if mysql.MissingPart(e) {
		s.shared.Log.Error("a sub-table is missing", "conn", s.id, "user", s.user, "error", e.Message)
	}
}

// setUser notes who the client says it is.
func (s *Session) setUser(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = user
}

// userAtHost is what USER() shows.
func (s *Session) userAtHost() string { return s.user + "@" + s.host() }

// begin notes what the session is about to do, for others to see. It fails when somebody closed the session meanwhile.
func (s *Session) begin(cmd mysql.Command, text string) bool {
	now := time.Now()
	if !s.lane.since.IsZero() {
		now = s.lane.since // it was in line since
	}
	s.work, s.passed = work{}, false
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.busy, s.command, s.text, s.since = true, cmd, text, now
	return true
}

// now is time.Now during a command, by one reading of the clock where that takes two.
func (s *Session) now() time.Time { return s.since.Add(time.Since(s.since)) }

// finishCommand notes that the command is over and returns how long it took.
func (s *Session) finishCommand() time.Duration {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	d := now.Sub(s.since)
	s.busy, s.command, s.text, s.since = false, mysql.ComSleep, "", now
	s.db, s.inTx = s.state.db, s.inTransaction()
	s.keeps, s.kept = s.pins, s.held.Instance
	s.keptOthers = s.keptOthers[:0]
	for _, p := range s.others {
		s.keptOthers = append(s.keptOthers, p.Instance)
	}
	if s.wasKill {
		// A KILL QUERY that came too late for its statement ends with it.
		s.wasKill = false
		if !s.closing {
			s.cancel = nil
		}
	}
	return d
}

// closeLocked ends the session from outside, for the reason given.
func (s *Session) closeLocked(reason EndReason) {
	if s.closing {
		return
	}
	s.closing, s.ended = true, reason
	s.interruptLocked()
	s.conn.Close()
}

// interruptLocked ends a wait for a backend connection.
func (s *Session) interruptLocked() {
	switch {
	case s.cancel == nil:
		s.cancel = interruptedBefore
	case !isClosed(s.cancel):
		close(s.cancel)
	}
}

// interruptedBefore is what cancelled gives those who ask too late.
var interruptedBefore = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// isCancelled tells whether cancelled is closed.
func (s *Session) isCancelled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancel != nil && isClosed(s.cancel)
}

// cancelled is closed to end the session's wait for a connection.
func (s *Session) cancelled() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil {
		s.cancel = make(chan struct{})
	}
	return s.cancel
}

// CloseIfIdle ends a session that is between commands, in no transaction and holds no state on a backend; it tells
// whether the session is closing.
func (s *Session) CloseIfIdle(reason EndReason) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing && !s.busy && !s.inTx {
		s.closeLocked(reason)
	}
	return s.closing
}

// rateMin is what a client must take of its answer in bytes per second, over the time of a stall. One that takes a byte now and then holds a
// server's connection as one does that takes none.
const rateMin = 128

// Tick is called every second: it ends sessions that idle for longer than idle, or whose client takes less of its answer than
// rateMin, or sends nothing of its file, for longer than stall, and those whose client vanished during a statement of a transaction or over several shards.
func (s *Session) Tick(idle, stall time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing && s.busy && s.wasKill {
		go s.interruptAgain() // a statement over several shards sends many to the servers
	}
	if s.closing || !s.loggedIn {
		return
	}
	if !s.busy {
		s.stalledFor = 0
		if own := time.Duration(s.waitTimeout) * time.Second; own > 0 && (idle <= 0 || own < idle) {
			idle = own
		}
		if idle > 0 && time.Since(s.since) > idle {
			s.closeLocked(EndIdle)
		}
		return
	}
	if s.wasKill {
		// The server may not have begun the statement when it was told to end it: KILL QUERY does nothing to a connection
		// that waits for a command. On a goroutine of its own, as the server may be slow to listen.
		go s.interruptAgain()
	}
	if (s.inTx || len(s.parallel) > 0 && !s.goesOn) && s.conn.PeerGone() {
		// What the statement does would be rolled back in the end; until then its transaction keeps locks from others. A
		// statement of its own goes on to its end, as on a server; not one over several shards, which no server has.
		go s.abandon()
		return
	}
	writing, enough := s.conn.Writing(), uint64(rateMin*stall/time.Second)
	if s.uploading {
		enough = 1
	}
	if a := s.conn.Activity(); uint64(a-s.stalledAt) >= enough || !writing && !s.uploading {
		s.stalledAt, s.stalledFor = a, 0
		return
	}
	if s.stalledFor++; time.Duration(s.stalledFor)*time.Second > stall {
		s.closeLocked(EndStalled)
	}
}

// Process is a row of SHOW PROCESSLIST.
type Process struct {
	ID                   uint32
	User, Host, DB       string
	Command, State, Info string
	Seconds              int
	// Pins are the reasons, joined by commas, for which it keeps its connection to Instance; both are those of the last moment
	// between two commands, and may be empty.
	Pins, Instance string
	InTransaction  bool
	Started        time.Time
	// Admin tells a session of the admin port.
	Admin bool
}

// Process describes what the session does now.
func (s *Session) Process() Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Process{
		ID: s.id, User: s.user, Host: s.host(), DB: s.db, Seconds: int(time.Since(s.since).Seconds()), Pins: s.keeps.String(),
		InTransaction: s.inTx, Started: time.Unix(0, s.started), Admin: s.AdminOnly,
	}
	if s.kept != nil {
		p.Instance = s.kept.Addr
	}
	if !s.loggedIn {
		p.User, p.Command, p.State = "unauthenticated user", "Connect", "login"
		return p
	}
	p.Command = commandWord(s.command)
	p.Info = strings.Clone(s.text)
	if s.heldUp {
		p.State = "waiting for KS RESUME"
	} else if s.running.Pooled != nil {
		p.State = fmt.Sprintf("executing on %s", s.running.Instance.Addr)
	}
	return p
}

// commandWord spells a command as the server's process list does: COM_QUERY is "Query".
func commandWord(c mysql.Command) string {
	switch c {
	case mysql.ComSleep:
		return "Sleep"
	case mysql.ComQuery:
		return "Query"
	case mysql.ComStmtPrepare:
		return "Prepare"
	case mysql.ComStmtExecute:
		return "Execute"
	case mysql.ComStmtFetch:
		return "Fetch"
	case mysql.ComInitDB:
		return "Init DB"
	case mysql.ComChangeUser:
		return "Change user"
	}
	return strings.TrimPrefix(c.String(), "COM_")
}
