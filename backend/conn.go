package backend

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/sockopt"
	"kingshard/mysql/transport"
)

// DialConfig says how to reach and log in to one instance.
type DialConfig struct {
	Addr     string // host:port, or the path of a unix socket
	User     string
	Password string
	TLS      *tls.Config // nil: no TLS
	// TLSPreferred falls back to plain text where the server has no TLS; without it that is an error.
	TLSPreferred    bool
	ServerPublicKey *rsa.PublicKey
	// Unverified tells that TLS proves nothing about the server; see auth.ClientOptions.
	Unverified              bool
	AllowPublicKeyRetrieval bool
	AllowedAuthPlugins      []string // nil: all that are safe
	MaxAllowedPacket        int      // bytes
	PreparedStmts           int      // prepared statements kept per connection
}

// backendCapabilities are asked of every server that has them. Multi-statements are not among them: the proxy splits
// texts itself, so a second statement in what it sends is a syntax error and never runs.
const backendCapabilities = mysql.ClientLongPassword | mysql.ClientLongFlag | mysql.ClientProtocol41 | mysql.ClientTransactions |
	mysql.ClientSecureConnection | mysql.ClientMultiResults | mysql.ClientPSMultiResults | mysql.ClientPluginAuth |
	mysql.ClientPluginAuthLenencClientData | mysql.ClientSessionTrack | mysql.ClientDeprecateEOF | mysql.ClientLocalFiles |
	mysql.ClientOptionalResultsetMetadata | mysql.ClientQueryAttributes

// A server that was cut off without a word is given up within ten seconds: by keep-alive where it owes an answer, by the system's
// patience where it owes an acknowledgement.
var dialer = net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 2}}

const userTimeout = 8 * time.Second

// handshakeCap bounds the packets of a login, in bytes.
const handshakeCap = 64 << 10

// defaultCollation is the collation of fresh connections: utf8mb4_general_ci, which every server has. Sessions set
// their own before the first statement.
const defaultCollation = 45

// Conn is one authenticated connection to an instance. One goroutine at a time uses it.
type Conn struct {
	*mysql.Conn
	Info     *Info
	ThreadID uint32
	Peer     net.Addr // that the connection was opened to
	// Diagnosed is the id of the session of which a statement has left something in the diagnostics area since the pool gave the connection
	// away; 0: of none. MariaDB keeps there what an earlier statement left, another session's as well, until one uses a table or fails.
	Diagnosed uint32
	// Status is what the server said last; the owner stores it after each response.
	Status mysql.Status
	// Marked says that a statement may have left state in the server's session that nobody keeps account of: the connection is reset
	// before anybody else has it.
	Marked   bool
	insertID insertID
	// XID names the XA transaction that its session began last, as the client wrote it.
	XID string
	// Stmts are the statements prepared on this connection.
	Stmts stmtCache

	cfg   *DialConfig
	raw   syscall.RawConn
	flags mysql.Capability
	gtids *GTIDs // of the server; nil: of no instance
	watchedConn
}

// Dial connects and logs in before ctx ends, which must have a deadline.
func Dial(ctx context.Context, cfg *DialConfig, flags mysql.Capability) (*Conn, error) {
	network := "tcp"
	if strings.HasPrefix(cfg.Addr, "/") {
		network = "unix"
	}
	nc, err := dialer.DialContext(ctx, network, cfg.Addr)
	if err != nil {
		return nil, err
	}
	return logIn(ctx, nc, cfg, flags, nil, nil)
}

// logIn makes a connection of nc, which it closes after an error, for an instance that watches its connections by home, and what they change by gtids; nil for
// none.
func logIn(ctx context.Context, nc net.Conn, cfg *DialConfig, flags mysql.Capability, home *openConns, gtids *GTIDs) (*Conn, error) {
	c := &Conn{Conn: mysql.NewConn(nc, mysql.BackendSide, handshakeCap), cfg: cfg, Peer: nc.RemoteAddr(), flags: flags & SettingFlags}
	if sc, ok := nc.(syscall.Conn); ok {
		c.raw, _ = sc.SyscallConn()
		sockopt.UserTimeout(c.raw, userTimeout)
		c.watch(c.raw)
	}
	c.home, c.gtids = home, gtids
	deadline, _ := ctx.Deadline()
	c.Net.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	err := c.login()
	if err == nil {
		err = c.gtids.Track(c)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("log in to %s as %s: %w", cfg.Addr, cfg.User, err)
	}
	c.Net.SetDeadline(time.Time{})
	c.SetPayloadCap(max(cfg.MaxAllowedPacket, 1<<20) + 1<<20)
	c.Stmts.max = cfg.PreparedStmts
	c.Release()
	if c.home != nil {
		c.home.add(c)
	}
	return c, nil
}

// login runs the connection phase. MySQL manual: "Connection Phase".
func (c *Conn) login() error {
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == mysql.ErrHeader {
		return decodeError(p)
	}
	var hello mysql.HandshakeV10
	if err := hello.Decode(p); err != nil {
		return err
	}
	if !hello.Capabilities.Has(mysql.ClientProtocol41 | mysql.ClientSecureConnection) {
		return errors.New("the server is older than MySQL 5.5, which is not supported")
	}
	c.Info = parseVersion(hello.ServerVersion)
	c.Info.Collation = hello.Collation
	c.ThreadID = hello.ConnectionID
	caps := (backendCapabilities|c.flags)&hello.Capabilities | mysql.ClientLongPassword
	resp := mysql.HandshakeResponse41{MaxPacketSize: 1<<30 - 1, Collation: defaultCollation, User: c.cfg.User}
	if caps, err = c.startTLS(&resp, caps, hello.Capabilities); err != nil {
		return err
	}
	client := c.authClient()
	resp.Capabilities, resp.AuthPlugin = caps, hello.AuthPlugin
	if resp.AuthPlugin == "" {
		resp.AuthPlugin = auth.NativePassword
	}
	if client.Supports(resp.AuthPlugin) {
		if resp.AuthResponse, err = client.Start(resp.AuthPlugin, hello.Salt); err != nil {
			return err
		}
	} else {
		// The account may use another plugin than the server's default: offer one of ours and let the server switch.
		resp.AuthPlugin = auth.NativePassword
		if resp.AuthResponse, err = client.Start(resp.AuthPlugin, hello.Salt); err != nil {
			resp.AuthResponse = nil
		}
	}
	c.EndPacket(resp.AppendTo(c.StartPacket()))
	if err := c.Flush(); err != nil {
		return err
	}
	c.Capabilities = caps
	return c.finishAuth(client)
}

func (c *Conn) startTLS(resp *mysql.HandshakeResponse41, caps, server mysql.Capability) (mysql.Capability, error) {
	if c.cfg.TLS == nil {
		return caps, nil
	}
	if !server.Has(mysql.ClientSSL) {
		if c.cfg.TLSPreferred {
			return caps, nil
		}
		return 0, errors.New("tls is required by the node's configuration and the server does not offer it")
	}
	caps |= mysql.ClientSSL
	resp.Capabilities = caps
	c.EndPacket(resp.AppendSSLRequest(c.StartPacket()))
	if err := c.Flush(); err != nil {
		return 0, err
	}
	t := c.cfg.TLS
	if t.ServerName == "" {
		t = t.Clone()
		t.ServerName, _, _ = net.SplitHostPort(c.cfg.Addr)
	}
	return caps, c.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Client(nc, t) })
}

func (c *Conn) authClient() *auth.Client {
	_, isTLS := c.Net.NetConn().(*tls.Conn)
	return auth.NewClient(auth.ClientOptions{
		Password: c.cfg.Password, Secure: c.Net.Secure(), UnixSocket: c.Net.Secure() && !isTLS, Unverified: isTLS && c.cfg.Unverified && !strings.HasPrefix(c.cfg.Addr, "/"),
		AllowedPlugins: c.cfg.AllowedAuthPlugins, ServerPublicKey: c.cfg.ServerPublicKey, AllowPublicKeyRetrieval: c.cfg.AllowPublicKeyRetrieval,
	})
}

// authRounds bounds how often a server may ask again during one login.
const authRounds = 10

// finishAuth answers the server until it says OK or ERR.
func (c *Conn) finishAuth(client *auth.Client) error {
	for range authRounds {
		p, err := c.ReadPacket()
		if err != nil {
			return err
		}
		if len(p) == 0 {
			return mysql.ErrMalformedPacket
		}
		var answer []byte
		send := true
		switch p[0] {
		case mysql.OKHeader:
			var ok mysql.OKPacket
			if err := ok.Decode(p, c.Capabilities); err != nil {
				return err
			}
			c.Status = ok.Status
			return nil
		case mysql.ErrHeader:
			return decodeError(p)
		case mysql.AuthSwitchHeader:
			var sw mysql.AuthSwitchRequest
			if err := sw.Decode(p); err != nil {
				return err
			}
			answer, err = client.Start(sw.Plugin, sw.Data)
		case mysql.AuthMoreDataHeader:
			answer, send, err = client.Next(p[1:])
		default:
			return mysql.ErrMalformedPacket
		}
		if err != nil {
			return err
		}
		if send {
			c.WritePacket(answer)
			if err := c.Flush(); err != nil {
				return err
			}
		}
	}
	return errors.New("the server asks without end during the login")
}

func decodeError(p []byte) error {
	e := new(mysql.SQLError)
	if err := e.Decode(p); err != nil {
		return err
	}
	return e
}

// Alive tells without a round trip whether the server still holds the connection open and silent: between statements
// nothing may have arrived. Bytes that did are an error message of a server going down, or a protocol fault.
func (c *Conn) Alive() bool {
	if c.Buffered() > 0 {
		return false
	}
	if c.raw == nil {
		return true
	}
	alive := false
	err := c.raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		alive = n <= 0 && err == syscall.EAGAIN
		return true
	})
	return err == nil && alive
}

// Rebase goes on over p, which took the place of the network connection.
func (c *Conn) Rebase(p transport.Poller) {
	c.Net.Rebase(p)
	c.raw = nil
	if sc, ok := p.(syscall.Conn); ok {
		c.raw, _ = sc.SyscallConn()
		c.watch(c.raw)
	}
}

// Command starts a command: the packet with the command byte and its argument is queued, not sent.
func (c *Conn) Command(cmd mysql.Command, argument string) {
	c.ResetSequence()
	b := append(c.StartPacket(), byte(cmd))
	if cmd == mysql.ComQuery && c.Capabilities.Has(mysql.ClientQueryAttributes) {
		b = append(b, 0, 1) // no attributes, one set
	}
	c.EndPacket(append(b, argument...))
}

// Query queues a COM_QUERY with a client's query attributes, where the server knows them.
func (c *Conn) Query(attributes []byte, sql string) {
	if attributes == nil || !c.Capabilities.Has(mysql.ClientQueryAttributes) {
		c.Command(mysql.ComQuery, sql)
		return
	}
	c.ResetSequence()
	b := append(append(c.StartPacket(), byte(mysql.ComQuery)), attributes...)
	c.EndPacket(append(b, sql...))
}

// simple runs a command that answers with OK or ERR.
func (c *Conn) simple(cmd mysql.Command, argument string) error {
	c.Command(cmd, argument)
	return c.ReadOK()
}

// ReadOK sends what is queued, and reads the answer of a command that answers with OK or ERR.
func (c *Conn) ReadOK() error {
	if err := c.Flush(); err != nil {
		return err
	}
	if err := c.ReadAhead(); err != nil {
		return err
	}
	r := response{c: c}
	_, part, err := r.next()
	if err == nil && part != mysql.PartOK && part != mysql.PartEnd {
		err = broken(mysql.ErrMalformedPacket)
	}
	return err
}

// Exec runs a statement of the proxy's own that returns no rows.
func (c *Conn) Exec(sql string) error { return c.simple(mysql.ComQuery, sql) }

// Ping runs COM_PING.
func (c *Conn) Ping() error { return c.simple(mysql.ComPing, "") }

// InitDB makes db the current database.
func (c *Conn) InitDB(db string) error { return c.simple(mysql.ComInitDB, db) }

// Reset brings the connection to its fresh state but for the current database, which COM_RESET_CONNECTION keeps.
// Statements prepared on it are gone.
func (c *Conn) Reset() error {
	if !c.Info.ResetConnection {
		return c.relogin()
	}
	c.Stmts.clear()
	c.Marked = false
	c.NoteInsertID(0)
	if err := c.simple(mysql.ComResetConnection, ""); err != nil {
		return err
	}
	return c.gtids.Track(c)
}

// relogin is a reset that also leaves the current database, by COM_CHANGE_USER.
func (c *Conn) relogin() error {
	c.Stmts.clear()
	c.Marked = false
	c.NoteInsertID(0)
	client := c.authClient()
	c.ResetSequence()
	// An empty answer to no salt: the server always replies with a switch request that carries a fresh one.
	cu := mysql.ChangeUser{User: c.cfg.User, Collation: defaultCollation, AuthPlugin: "ks_switch"}
	c.EndPacket(cu.AppendTo(c.StartPacket(), c.Capabilities))
	if err := c.Flush(); err != nil {
		return err
	}
	if err := c.finishAuth(client); err != nil {
		return err
	}
	return c.gtids.Track(c)
}

// noDatabaseError is the server's refusal of a setting's database: the connection carries all of the setting but that.
type noDatabaseError struct{ *mysql.SQLError }

func (e *noDatabaseError) Unwrap() error { return e.SQLError }

// Apply makes a connection that carries have carry want, by as few commands as that takes: none when they are the same.
func (c *Conn) Apply(have, want *Setting) error {
	if have == want || want == nil {
		return nil
	}
	if want.DB == "" && have != nil && have.DB != "" {
		if err := c.relogin(); err != nil {
			return err
		}
		have = nil
	}
	for _, sql := range have.diff(want, c.Info) {
		if err := c.Exec(sql); err != nil {
			return err
		}
	}
	if have.OwnTrackers() && !want.OwnTrackers() {
		if err := c.gtids.Track(c); err != nil { // it is set to the server's default
			return err
		}
	}
	if want.DB == have.Database() {
		return nil
	}
	// After the character set: the name is in it.
	err := c.InitDB(want.DB)
	if e, ok := errors.AsType[*mysql.SQLError](err); ok && (e.Code == mysql.ERDBAccessDenied || e.Code == mysql.ERBadDB || e.Code == mysql.ERWrongDBName) {
		return &noDatabaseError{e}
	}
	return err
}
