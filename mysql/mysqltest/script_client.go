package mysqltest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sort"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
)

// ClientConfig says how DialRaw logs in.
type ClientConfig struct {
	User, Password, DB string
	// Capabilities to ask for, default ScriptCapabilities without ClientConnectWithDB; those that the server lacks are
	// left out. The flags that DB, TLS, Compression and ConnectAttrs need are added.
	Capabilities mysql.Capability
	Without      mysql.Capability // flags taken from the default
	Collation    uint8            // default 45, utf8mb4_general_ci
	TLS          *tls.Config      // log in over TLS, or fail
	Compression  mysql.Compression
	Plugin       string // answer the greeting by this plugin, whatever it names; "" is the greeting's
	ConnectAttrs map[string]string
	Timeout      time.Duration // of every read and write of the client, default 30 s
}

// RawClient is a client that shows packets. Its methods return a *mysql.ConnError where the connection fails; what the
// server answers is never an error of the method, except in DialRaw.
type RawClient struct {
	Conn     *mysql.Conn // Capabilities are those agreed on
	Greeting mysql.HandshakeV10
	LoginOK  mysql.OKPacket // the packet that ended the login

	timeout time.Duration
}

// DialRaw connects to host:port, or to a unix socket's path, and logs in. An ERR packet of the server is returned as a
// *mysql.SQLError.
func DialRaw(addr string, c ClientConfig) (*RawClient, error) {
	network := "tcp"
	if strings.Contains(addr, "/") {
		network = "unix"
	}
	nc, err := net.DialTimeout(network, addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	r, err := LoginRaw(nc, c)
	if err != nil {
		nc.Close()
	}
	return r, err
}

// LoginRaw logs in over a connection that is there already. It is closed by RawClient.Close.
func LoginRaw(nc net.Conn, c ClientConfig) (*RawClient, error) {
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Collation == 0 {
		c.Collation = 45
	}
	r := &RawClient{Conn: mysql.NewConn(nc, mysql.BackendSide, scriptPayloadMax), timeout: c.Timeout}
	p, err := r.Read()
	if err != nil {
		return nil, err
	}
	if p[0] == mysql.ErrHeader {
		return nil, asError(p)
	}
	if err := r.Greeting.Decode(p); err != nil {
		return nil, err
	}
	response := mysql.HandshakeResponse41{
		Capabilities: c.wanted() & r.Greeting.Capabilities, MaxPacketSize: 1 << 30, Collation: c.Collation, User: c.User, Database: c.DB,
		AuthPlugin: r.Greeting.AuthPlugin, ConnectAttrs: attrs(c.ConnectAttrs), ZstdLevel: 3,
	}
	if c.Plugin != "" {
		response.AuthPlugin = c.Plugin
	}
	if c.TLS != nil {
		if !response.Capabilities.Has(mysql.ClientSSL) {
			return nil, errors.New("the server offers no TLS")
		}
		r.Conn.EndPacket(response.AppendSSLRequest(r.Conn.StartPacket()))
		if err := r.Conn.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Client(nc, c.TLS) }); err != nil {
			return nil, err
		}
	}
	if err := r.authenticate(c, &response); err != nil {
		return nil, err
	}
	return r, r.compress(c.Compression)
}

func (c *ClientConfig) wanted() mysql.Capability {
	want := c.Capabilities
	if want == 0 {
		want = (ScriptCapabilities | mysql.ClientMultiStatements) &^ mysql.ClientConnectWithDB
	}
	want &^= c.Without
	for flag, set := range map[mysql.Capability]bool{
		mysql.ClientConnectWithDB:            c.DB != "",
		mysql.ClientSSL:                      c.TLS != nil,
		mysql.ClientConnectAttrs:             c.ConnectAttrs != nil,
		mysql.ClientCompress:                 c.Compression == mysql.Zlib,
		mysql.ClientZstdCompressionAlgorithm: c.Compression == mysql.Zstd,
	} {
		if set {
			want |= flag
		}
	}
	return want
}

func attrs(m map[string]string) []byte {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	var b []byte
	for _, name := range names {
		b = mysql.AppendLenencString(mysql.AppendLenencString(b, name), m[name])
	}
	return b
}

// authenticate sends the response and goes on until the server says OK or ERR.
func (c *RawClient) authenticate(config ClientConfig, response *mysql.HandshakeResponse41) error {
	login := auth.NewClient(auth.ClientOptions{
		Password: config.Password, Secure: c.Conn.Net.Secure(), AllowPublicKeyRetrieval: true, AllowClear: true,
	})
	var err error
	if response.AuthResponse, err = login.Start(response.AuthPlugin, c.Greeting.Salt); err != nil {
		return err
	}
	c.Conn.Capabilities = response.Capabilities
	c.Conn.EndPacket(response.AppendTo(c.Conn.StartPacket()))
	return c.finishAuth(login)
}

func (c *RawClient) finishAuth(login *auth.Client) error {
	for {
		if err := c.Conn.Flush(); err != nil {
			return err
		}
		p, err := c.Read()
		if err != nil {
			return err
		}
		var answer []byte
		send := true
		switch p[0] {
		case mysql.OKHeader:
			return c.LoginOK.Decode(p, c.Conn.Capabilities)
		case mysql.ErrHeader:
			return asError(p)
		case mysql.AuthSwitchHeader:
			var request mysql.AuthSwitchRequest
			if err := request.Decode(p); err != nil {
				return err
			}
			answer, err = login.Start(request.Plugin, request.Data)
		case mysql.AuthMoreDataHeader:
			answer, send, err = login.Next(p[1:])
		default:
			err = fmt.Errorf("packet %#02x during the login", p[0])
		}
		if err != nil {
			return err
		}
		if send {
			c.Conn.WritePacket(answer)
		}
	}
}

func (c *RawClient) compress(algorithm mysql.Compression) error {
	flag := map[mysql.Compression]mysql.Capability{mysql.Zlib: mysql.ClientCompress, mysql.Zstd: mysql.ClientZstdCompressionAlgorithm}[algorithm]
	if !c.Conn.Capabilities.Has(flag) {
		return errors.New("the server does not offer that compression")
	}
	return c.Conn.StartCompression(algorithm, 3)
}

// ChangeUser sends COM_CHANGE_USER and logs in again; an ERR packet is returned as a *mysql.SQLError.
func (c *RawClient) ChangeUser(user, password, db string) error {
	login := auth.NewClient(auth.ClientOptions{Password: password, Secure: c.Conn.Net.Secure(), AllowPublicKeyRetrieval: true, AllowClear: true})
	change := mysql.ChangeUser{User: user, Database: db, Collation: 45, AuthPlugin: c.Greeting.AuthPlugin}
	var err error
	if change.AuthResponse, err = login.Start(change.AuthPlugin, c.Greeting.Salt); err != nil {
		return err
	}
	c.Conn.ResetSequence()
	c.Conn.EndPacket(change.AppendTo(c.Conn.StartPacket(), c.Conn.Capabilities))
	return c.finishAuth(login)
}

// Close says COM_QUIT and closes the connection.
func (c *RawClient) Close() error {
	_ = c.Send(mysql.ComQuit, "")
	return c.Conn.Close()
}

// Send sends one command; body is what follows the command byte.
func (c *RawClient) Send(cmd mysql.Command, body string) error {
	c.arm()
	c.Conn.ResetSequence()
	c.Conn.WritePacketParts([]byte{byte(cmd)}, body)
	return c.Conn.Flush()
}

// Read reads one payload, continued packets joined. The slice is the caller's. An empty payload is an error here, since
// no server sends one outside a file transfer.
func (c *RawClient) Read() ([]byte, error) {
	c.arm()
	p, err := c.Conn.ReadPacket()
	if err == nil && len(p) == 0 {
		err = mysql.ErrMalformedPacket
	}
	return append([]byte(nil), p...), err
}

func (c *RawClient) arm() { _ = c.Conn.Net.SetDeadline(time.Now().Add(c.timeout)) }

// asError decodes an ERR packet.
func asError(p []byte) error {
	e := new(mysql.SQLError)
	if err := e.Decode(p); err != nil {
		return err
	}
	return e
}
