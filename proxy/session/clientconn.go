package session

import (
	"time"

	"kingshard/mysql"
	"kingshard/proxy/fastlane"
)

// clientConn is a session's connection as the process list sees it.
type clientConn mysql.Conn

func (c *clientConn) conn() *mysql.Conn { return (*mysql.Conn)(c) }

// Close implements process.Client.
func (c *clientConn) Close() error { return c.conn().Close() }

// PeerGone implements process.Client.
func (c *clientConn) PeerGone() bool { return c.conn().Net.PeerGone() }

// Progress implements process.Client.
func (c *clientConn) Progress() (moved uint32, writing bool) {
	writing = c.conn().Net.Writing()
	return c.conn().Net.Activity(), writing
}

// longAgo as a deadline ends every read.
var longAgo = time.Unix(1, 0)

// CallAway implements process.Client.
func (c *clientConn) CallAway(reads bool) {
	if reads {
		_ = c.conn().Net.SetReadDeadline(longAgo)
	} else if l, ok := c.conn().Net.Bare().(*fastlane.Conn); ok {
		l.Wake()
	}
}
