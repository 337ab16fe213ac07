package mysqltest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
)

// ScriptCapabilities are what a scripted server offers unless told otherwise: all that changes the form of a response,
// without TLS and compression.
const ScriptCapabilities = mysql.ClientLongPassword | mysql.ClientFoundRows | mysql.ClientLongFlag | mysql.ClientConnectWithDB |
	mysql.ClientProtocol41 | mysql.ClientTransactions | mysql.ClientReserved | mysql.ClientSecureConnection | mysql.ClientMultiStatements |
	mysql.ClientMultiResults | mysql.ClientPSMultiResults | mysql.ClientPluginAuth | mysql.ClientConnectAttrs |
	mysql.ClientPluginAuthLenencClientData | mysql.ClientSessionTrack | mysql.ClientDeprecateEOF

// scriptPayloadMax is the longest payload either scripted side accepts, in bytes.
const scriptPayloadMax = 1 << 30

// Handler answers one command. payload is what follows the command byte; it is the handler's to keep. What the handler
// queues on c is sent when it returns; a handler that queues nothing answers nothing.
type Handler func(c *ScriptConn, cmd mysql.Command, payload []byte)

// ScriptConfig says what a scripted server is like. The zero value is a MySQL 8 that lets everybody in and answers OK
// to every command.
type ScriptConfig struct {
	Version      string           // of the greeting; default "8.4.0-script"
	Capabilities mysql.Capability // default ScriptCapabilities
	TLS          *tls.Config      // offers ClientSSL as well
	Collation    uint8            // of the greeting; default 45, utf8mb4_general_ci
	// Plugin is the authentication plugin of the greeting, default mysql_native_password. Salt lengths do not allow
	// client_ed25519 there: use SwitchTo.
	Plugin string
	// SwitchTo, if set, is asked for by an AuthSwitchRequest whatever the client answered.
	SwitchTo string
	// Passwords are by user. Nil lets anybody in with any answer to the greeting.
	Passwords map[string]string
	// Refuse, if set, is sent in place of the greeting.
	Refuse *mysql.SQLError
	// Handler answers commands other than COM_QUIT and COM_CHANGE_USER, which the server does itself.
	Handler Handler
}

// ScriptCommand is a command that a scripted server received.
type ScriptCommand struct {
	Conn    uint32 // ScriptConn.ID
	Command mysql.Command
	Payload []byte // behind the command byte
}

// ScriptServer is a MySQL server whose answers a test writes. All methods may be called from any goroutine.
type ScriptServer struct {
	Addr string // host:port

	listener net.Listener
	wg       sync.WaitGroup
	closed   chan struct{}

	mu       sync.Mutex
	config   ScriptConfig
	commands []ScriptCommand
	conns    map[*ScriptConn]string // by what user they are logged in; "" before that
	nextID   uint32
}

// StartScript listens on a free loopback port. The server is closed when the test ends.
func StartScript(tb testing.TB, c ScriptConfig) *ScriptServer {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &ScriptServer{Addr: l.Addr().String(), listener: l, closed: make(chan struct{}), conns: map[*ScriptConn]string{}, config: c.withDefaults()}
	s.wg.Go(s.accept)
	tb.Cleanup(func() {
		closed := make(chan struct{})
		go func() { s.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(waitForMax): // of a test that ended ahead of what its handlers wait for; it would hang, and not say why it ended
			tb.Errorf("handlers of the server at %s never return", s.Addr)
		}
	})
	return s
}

func (c ScriptConfig) withDefaults() ScriptConfig {
	if c.Version == "" {
		c.Version = "8.4.0-script"
	}
	if c.Capabilities == 0 {
		c.Capabilities = ScriptCapabilities
	}
	if c.TLS != nil {
		c.Capabilities |= mysql.ClientSSL
	}
	if c.Collation == 0 {
		c.Collation = 45
	}
	if c.Plugin == "" {
		c.Plugin = auth.NativePassword
	}
	if c.Handler == nil {
		c.Handler = func(c *ScriptConn, _ mysql.Command, _ []byte) { c.OK() }
	}
	return c
}

// Configure changes the configuration for logins and commands from now on.
func (s *ScriptServer) Configure(change func(*ScriptConfig)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.config)
	s.config = s.config.withDefaults()
}

// SetHandler changes the handler for commands from now on.
func (s *ScriptServer) SetHandler(h Handler) {
	s.Configure(func(c *ScriptConfig) { c.Handler = h })
}

// Commands gives all commands received so far, of all connections in the order of their coming.
func (s *ScriptServer) Commands() []ScriptCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ScriptCommand(nil), s.commands...)
}

// Queries gives the texts of all COM_QUERY received so far.
func (s *ScriptServer) Queries() []string {
	var q []string
	for _, c := range s.Commands() {
		if c.Command == mysql.ComQuery {
			q = append(q, string(c.Payload))
		}
	}
	return q
}

// Forget empties what Commands and Queries give.
func (s *ScriptServer) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = nil
}

// Accepted is the number of connections since the start.
func (s *ScriptServer) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.nextID)
}

// Open is the number of connections that are open now, logged in or not.
func (s *ScriptServer) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// OpenBy gives the ids of the connections that are open now and on which user has logged in, ascending.
func (s *ScriptServer) OpenBy(user string) (ids []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, by := range s.conns {
		if by == user {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// CutAll closes all connections; new ones are still accepted.
func (s *ScriptServer) CutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Conn.Close()
	}
}

// Close stops listening, closes all connections and waits for their handlers.
func (s *ScriptServer) Close() {
	s.mu.Lock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
		s.listener.Close()
	}
	s.mu.Unlock()
	s.CutAll()
	s.wg.Wait()
}

func (s *ScriptServer) accept() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.nextID++
		c := &ScriptConn{Conn: mysql.NewConn(nc, mysql.ClientSide, scriptPayloadMax), ID: s.nextID, Status: mysql.ServerStatusAutocommit, server: s}
		s.conns[c] = ""
		select {
		case <-s.closed:
			c.Conn.Close()
		default:
		}
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(c) })
	}
}

func (s *ScriptServer) serve(c *ScriptConn) {
	defer func() {
		c.Conn.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	if err := c.login(s.snapshot()); err != nil {
		return
	}
	s.mu.Lock()
	s.conns[c] = c.User
	s.mu.Unlock()
	for {
		c.Conn.Release()
		c.Conn.ResetSequence()
		p, err := c.Conn.ReadPacket()
		if err != nil || len(p) == 0 {
			return
		}
		cmd, payload := mysql.Command(p[0]), append([]byte(nil), p[1:]...)
		if cmd == mysql.ComQuery && bytes.Contains(payload, []byte(storedObjects)) {
			if err := c.noStoredObjects(string(payload)); err != nil {
				return
			}
			continue
		}
		s.mu.Lock()
		s.commands = append(s.commands, ScriptCommand{c.ID, cmd, payload})
		config := s.config
		s.mu.Unlock()
		switch cmd {
		case mysql.ComQuit:
			return
		case mysql.ComChangeUser:
			err = c.changeUser(config, payload)
		default:
			config.Handler(c, cmd, payload)
			err = c.Conn.Flush()
		}
		if err != nil {
			return
		}
	}
}

// storedObjects marks the proxy's questions for stored objects. A scripted server has none, says so itself and does not count them.
const storedObjects = "/* kingshard: stored objects */"

func (c *ScriptConn) noStoredObjects(question string) error {
	columns := 5
	switch {
	case strings.Contains(question, storedObjects+" SHOW"):
		columns = 2
	case strings.Contains(question, storedObjects+" SELECT CONCAT("), strings.Contains(question, storedObjects+" SELECT COUNT("):
		columns = 1
	}
	c.Rows(make([]string, columns))
	return c.Conn.Flush()
}

func (s *ScriptServer) snapshot() ScriptConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// errRefused ends a login that was answered with an error.
var errRefused = errors.New("login refused")
