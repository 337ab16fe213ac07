package mysql

import (
	"crypto/tls"
	"net"
)

// StartTLS continues inside TLS: both sides call it right after the SSLRequest packet, wrap being tls.Server or tls.Client
// with a configuration. A client does not wait before it starts the TLS handshake, so bytes that came in one read with its
// request go to the handshake. Plain bytes injected there make it fail; they are never read as if they had been protected.
// MySQL manual: "Protocol::SSLRequest".
func (c *Conn) StartTLS(wrap func(net.Conn) *tls.Conn) error {
	if err := c.Flush(); err != nil {
		return err
	}
	var prefix []byte
	if c.start != c.end {
		prefix = c.rbuf.b[c.start:c.end]
		c.start, c.end = 0, 0
	}
	return c.startTLS(prefix, wrap)
}

// prefixConn gives bytes that were read too early before those of the connection.
type prefixConn struct {
	net.Conn
	prefix []byte
}

// Read gives the prefix first.
func (c *prefixConn) Read(p []byte) (int, error) {
	if len(c.prefix) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.prefix)
	if c.prefix = c.prefix[n:]; len(c.prefix) == 0 {
		c.prefix = nil
	}
	return n, nil
}
