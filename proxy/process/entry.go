package process

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// Entry is a session's row of the process list. It must not be copied.
//
// It is in one of these states:
//
//   - login, from Connect to LoggedIn: a command under way, of which nothing is shown but that somebody logs in. Adopt, for a session of
//     another process, begins behind it.
//   - idle, from Finish to Begin: it keeps what Kept says on servers. Tick ends it when it idles for too long, CloseIfIdle if it keeps no
//     transaction.
//   - running, from Begin to Finish. Between SetRunning and TakeRunning, or Publish and Unpublish, servers work for it. Interrupt, an Expiry and
//     whoever has it give way end its waits and tell these servers; from then on it is killed, until Finish.
//   - waiting for KS RESUME, between two calls of HoldUp while it runs.
//   - moved: Move gave the session to another process. Nobody here can end it.
//   - closing, from any of the others but moved, and for good: by whoever ends the session, which closes the client's connection, or by End of
//     the session itself. Begin, SetRunning and Publish say no from then on.
//
// Methods of which the comment says that they are the session's are called by one goroutine at a time, that which has the session now. All
// others may be called by any.
type Entry struct {
	client Client
	log    *slog.Logger
	// wants is the instance that the session waits for a connection to, or asks for one; nil: none.
	wants atomic.Pointer[backend.Instance]
	reads atomic.Uint32 // whether it waits for its client; see BeginAwait
	id    uint32        // set by the list

	mu sync.Mutex
	// Under mu, but for host, admin and started, which are set once.
	user    string
	host    string
	admin   bool           // of the admin port
	started int64          // nanoseconds since 1970
	since   time.Time      // when the command, or the idleness, began
	text    string         // of the running statement; aliases the read buffer
	running backend.Pooled // the backend connection that the statement runs on
	several *several       // nil before the session has used several connections at a time
	expiry  *Expiry        // the limit of the running statement; nil without one
	cancel  chan struct{}  // what Cancelled gives; nil before somebody asks
	kept    kept
	stall   stall
	// waitTimeout is the client's own wait_timeout in seconds; 0: none.
	waitTimeout uint32
	command     mysql.Command
	reason      EndReason // why somebody else closed the session, valid if closing
	killed      bool      // the servers were told to end the statement, or it is to end before they are asked
	busy        bool
	closing     bool
	loggedIn    bool
	heldUp      bool // it waits for the end of a pause
	uploading   bool // the client is sending a file
	stays       bool // it cannot move to another process, or could not when it tried last
	moved       bool // another process has the session
}

// kept is what a session keeps between two commands.
type kept struct {
	db       string
	instance *backend.Instance // of its connection; nil when it keeps none
	pins     uint32
	inTx     bool
	engaged  bool
}

// Client is the client's connection, as far as others touch it. Its methods are called under the entry's lock.
type Client interface {
	Close() error
	// PeerGone reports whether the client has closed its end.
	PeerGone() bool
	// Progress returns a number that grows with the bytes that pass, and whether a write is under way.
	Progress() (moved uint32, writing bool)
	// CallAway ends the wait for the client's next command: that of a goroutine that reads, or else that of an event loop.
	CallAway(reads bool)
}

// Who says whose session an entry is.
type Who struct {
	User string
	// Host is where the client is, as USER() shows it.
	Host string
	// Admin says that it came to the admin port.
	Admin bool
}

// Connect makes e the entry of a client that has connected now and is about to log in. A KILL that a server does not take is told to log.
func (e *Entry) Connect(c Client, who Who, log *slog.Logger) {
	now := time.Now()
	e.client, e.log, e.user, e.host, e.admin = c, log, who.User, who.Host, who.Admin
	e.started, e.since, e.command, e.busy = now.UnixNano(), now, mysql.ComConnect, true
}

// Adopt makes e the entry of a session that comes from another process, where it was started at that many nanoseconds since 1970 and has idled
// in db since that time.
func (e *Entry) Adopt(c Client, who Who, log *slog.Logger, db string, started int64, since time.Time) {
	e.client, e.log, e.user, e.host, e.admin = c, log, who.User, who.Host, who.Admin
	e.kept.db, e.started, e.since, e.command, e.loggedIn = db, started, since, mysql.ComSleep, true
}

// ID is the connection id that the client sees.
func (e *Entry) ID() uint32 { return e.id }

// AdminOnly reports whether the client came to the admin port.
func (e *Entry) AdminOnly() bool { return e.admin }

// User returns the name that the client gave.
func (e *Entry) User() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.user
}

// SetUser notes who the client says it is.
func (e *Entry) SetUser(user string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.user = user
}

// LoggedIn ends the login; Finish follows. stays says that the session cannot move to another process.
func (e *Entry) LoggedIn(stays bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loggedIn, e.stays = true, stays
}

// Begin notes what the session is about to do, since now. It is false when somebody has closed the session. The text may alias a buffer: it
// is not looked at after the next Finish or End.
func (e *Entry) Begin(cmd mysql.Command, text string, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return false
	}
	e.busy, e.command, e.text, e.since = true, cmd, text, now
	return true
}

// Command is the one under way. It is the session's, as are Text, Name, Since, Now and Started.
func (e *Entry) Command() mysql.Command { return e.command }

// Text returns the text of the statement under way.
func (e *Entry) Text() string { return e.text }

// Name is the user that the client gave last, for the session itself, where User is for others.
func (e *Entry) Name() string { return e.user }

// Host is where the client is, as USER() shows it.
func (e *Entry) Host() string { return e.host }

// Since is when the command under way, or the idleness, began.
func (e *Entry) Since() time.Time { return e.since }

// Started is when the client connected, in nanoseconds since 1970.
func (e *Entry) Started() int64 { return e.started }

// Now is time.Now during a command, by one reading of the clock where that takes two.
func (e *Entry) Now() time.Time { return e.since.Add(time.Since(e.since)) }

// ShowText puts another text in the place of that of the statement under way, on the terms of Begin.
func (e *Entry) ShowText(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = text
}

// Kept is what a session keeps between two commands.
type Kept struct {
	DB string
	// Instance is that of the connection that it keeps; nil when it keeps none.
	Instance *backend.Instance
	// Others are further ones, by their nodes, that its transaction reads from; they are read before Finish returns.
	Others map[string]backend.Pooled
	// Whole are all connections of a transaction over several nodes, which ends as a whole; nil for another one.
	Whole []backend.Pooled
	// Pins are the reasons, each a bit, for which it keeps its connection beyond a transaction.
	Pins uint32
	// InTransaction says that the client has a transaction open. Engaged says that others may wait for what one of the pins stands for.
	InTransaction, Engaged bool
}

// Finish notes that the command is over, and what the session keeps now, and returns how long it took. A KILL QUERY that came too late for its
// statement ends with it. It is the session's.
func (e *Entry) Finish(k Kept) time.Duration {
	now := e.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	took := now.Sub(e.since)
	e.busy, e.command, e.text, e.since = false, mysql.ComSleep, "", now
	e.kept = kept{k.DB, k.Instance, k.Pins, k.InTransaction, k.Engaged}
	if len(k.Others) > 0 || len(k.Whole) > 0 || e.several != nil {
		e.severalLocked().keep(k.Others, k.Whole)
	}
	if e.killed {
		e.killed = false
		if !e.closing {
			e.cancel = nil
		}
	}
	return took
}

// TransactionOver notes that the command under way has ended the client's transaction: a client that goes away now ends nothing.
func (e *Entry) TransactionOver() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept.inTx = false
}

// Upload notes that the client begins to send a file, or has sent it. The statement's own text is where the file's bytes go, so that another
// one is shown.
func (e *Entry) Upload(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.uploading, e.text = on, "LOAD DATA LOCAL"
}

// HoldUp notes that the session begins to wait for the end of a pause, or waits no more.
func (e *Entry) HoldUp(up bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heldUp = up
}

// Wants notes the instance that the session asks for a connection to, and may wait for; nil: none.
func (e *Entry) Wants(i *backend.Instance) { e.wants.Store(i) }

// End closes the entry of a session that ends by itself, for the reason given, and returns why it ended: somebody else may have closed it
// before.
func (e *Entry) End(reason EndReason) EndReason {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		reason = e.reason
	}
	e.closing, e.text = true, "" // a command that was cut off left its text, which is in a buffer that others get
	return reason
}

// closeLocked ends the session from outside, for the reason given.
func (e *Entry) closeLocked(reason EndReason) {
	if e.closing {
		return
	}
	e.closing, e.reason = true, reason
	e.interruptLocked()
	_ = e.client.Close()
}

// CloseIfIdle ends a session that is between commands and in no transaction, and reports whether the session is closing.
func (e *Entry) CloseIfIdle(reason EndReason) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closing && !e.busy && !e.kept.inTx {
		e.closeLocked(reason)
	}
	return e.closing
}
