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
	if err := c.Net.StartTLS(prefix, wrap); err != nil {
		return &ConnError{c.side, "read", err}
	}
	return nil
}
