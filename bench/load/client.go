package load

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Login is where to connect, and as whom.
type Login struct {
	Addr, User, Password, DB string
	TLS                      *tls.Config // nil is without
	LocalIP                  string      // address to connect from; "" is any. One address has some 28,000 ports.
}

// Client is one connection that sends commands one after another. It is one goroutine's.
type Client struct {
	conn     *mysql.Conn
	commands [][]byte // shared with others, unless prepared
	keys     uint64
	prepared bool
	next     uint64         // random state
	serial   *atomic.Uint64 // the last key of all clients; nil where keys are random
	made     []byte         // the last command with a serial key
	closed   bool
}

const dialTimeout = 10 * time.Second

// Dial connects and logs in. A server's refusal is a *mysql.SQLError.
func Dial(l Login) (*Client, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	if l.LocalIP != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(l.LocalIP)}
	}
	nc, err := dialer.Dial("tcp", l.Addr)
	if err != nil {
		return nil, err
	}
	raw, err := mysqltest.LoginRaw(nc, mysqltest.ClientConfig{User: l.User, Password: l.Password, DB: l.DB, TLS: l.TLS})
	if err != nil {
		nc.Close()
		return nil, err
	}
	if err := raw.Conn.Net.SetDeadline(time.Time{}); err != nil {
		nc.Close()
		return nil, err
	}
	raw.Conn.Release()
	return &Client{conn: raw.Conn, next: 1}, nil
}

// Close says COM_QUIT and closes the connection. Only the first of several calls does.
func (c *Client) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.conn.ResetSequence()
	c.conn.WritePacket([]byte{byte(mysql.ComQuit)})
	_ = c.conn.Flush()
	return c.conn.Close()
}

// Do sends one command and reads its whole response, several results included. It gives the number of rows. What the
// server refuses is a *mysql.SQLError, after which the connection goes on; any other error ends it.
func (c *Client) Do(command []byte) (rows uint64, err error) {
	return c.DoSlowly(command, 0)
}

// DoSlowly is Do for a client that reads no faster than so many rows a second; 0 is as fast as it can.
func (c *Client) DoSlowly(command []byte, rowsPerSecond int) (rows uint64, err error) {
	c.conn.ResetSequence()
	c.conn.WritePacket(command)
	if err := c.conn.Flush(); err != nil {
		return 0, err
	}
	r := reader{conn: c.conn, pace: rowsPerSecond}
	for {
		more, err := r.response()
		if err != nil || !more {
			c.conn.Release()
			return r.rows, err
		}
	}
}

// Query sends a text and reads the answer.
func (c *Client) Query(text string) (rows uint64, err error) { return c.Do(queryCommand(text)) }

func queryCommand(text string) []byte {
	return append([]byte{byte(mysql.ComQuery)}, text...)
}

// prepare runs COM_STMT_PREPARE and gives the statement's id.
func (c *Client) prepare(text string) (mysql.StmtPrepareOK, error) {
	var ok mysql.StmtPrepareOK
	c.conn.ResetSequence()
	c.conn.WritePacketParts([]byte{byte(mysql.ComStmtPrepare)}, text)
	if err := c.conn.Flush(); err != nil {
		return ok, err
	}
	p, err := c.conn.ReadPacket()
	if err != nil {
		return ok, err
	}
	if len(p) > 0 && p[0] == mysql.ErrHeader {
		return ok, sqlError(p)
	}
	if err := ok.Decode(p, c.conn.Capabilities); err != nil {
		return ok, err
	}
	r := reader{conn: c.conn}
	for _, n := range []uint16{ok.Params, ok.Columns} {
		if n > 0 {
			if err := r.definitions(uint64(n)); err != nil {
				return ok, err
			}
		}
	}
	c.conn.Release()
	return ok, nil
}
