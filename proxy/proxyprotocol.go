package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// The PROXY protocol, versions 1 and 2, tells the client's address in front of a load balancer's connection. Its
// specification is HAProxy's "The PROXY protocol". Only peers listed in proxy_protocol may send a header, and they must.

// proxyV2Signature begins a header of version 2.
var proxyV2Signature = []byte("\r\n\r\n\x00\r\nQUIT\n")

const (
	proxyV1Max      = 107 // bytes of the longest line of version 1, with its CRLF
	proxyV2FixedLen = 16
	proxyV2BodyMax  = 4 << 10
)

var errProxyHeader = errors.New("malformed PROXY header")

// proxyHeader reads the PROXY header of a peer that sends one and gives the connection with the client's address.
func (s *Server) proxyHeader(nc net.Conn) (net.Conn, error) {
	peer := peerAddr(nc)
	if !slices.ContainsFunc(s.proxied, func(n netip.Prefix) bool { return n.Contains(peer) }) {
		return nc, nil
	}
	_ = nc.SetDeadline(time.Now().Add(s.shared.Snapshot.Load().Config.HandshakeTimeout.Duration()))
	addr, err := readProxyHeader(nc)
	if err != nil {
		return nil, err
	}
	_ = nc.SetDeadline(time.Time{})
	if !addr.IsValid() {
		return nc, nil // a health check of the load balancer itself
	}
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nc, nil
	}
	return &proxiedConn{TCPConn: tcp, client: net.TCPAddrFromAddrPort(addr)}, nil
}

// proxiedConn is a connection whose peer is the client that the load balancer named.
type proxiedConn struct {
	*net.TCPConn
	client *net.TCPAddr
}

func (c *proxiedConn) RemoteAddr() net.Addr { return c.client }

// readProxyHeader reads exactly one header, no byte more. An invalid address says that the balancer speaks for itself.
func readProxyHeader(r io.Reader) (netip.AddrPort, error) {
	head := make([]byte, len(proxyV2Signature), proxyV1Max)
	if _, err := io.ReadFull(r, head); err != nil {
		return netip.AddrPort{}, err
	}
	if bytes.Equal(head, proxyV2Signature) {
		return readProxyV2(r)
	}
	if !bytes.HasPrefix(head, []byte("PROXY ")) {
		return netip.AddrPort{}, errProxyHeader
	}
	for !bytes.HasSuffix(head, []byte("\r\n")) {
		if len(head) == proxyV1Max {
			return netip.AddrPort{}, errProxyHeader
		}
		head = head[:len(head)+1]
		if _, err := io.ReadFull(r, head[len(head)-1:]); err != nil {
			return netip.AddrPort{}, err
		}
	}
	return parseProxyV1(strings.TrimSuffix(string(head), "\r\n"))
}

func parseProxyV1(line string) (netip.AddrPort, error) {
	f := strings.Split(line, " ")
	if len(f) >= 2 && f[1] == "UNKNOWN" {
		return netip.AddrPort{}, nil
	}
	if len(f) != 6 || f[1] != "TCP4" && f[1] != "TCP6" {
		return netip.AddrPort{}, errProxyHeader
	}
	addr, err := netip.ParseAddr(f[2])
	if err != nil || addr.Is4() != (f[1] == "TCP4") {
		return netip.AddrPort{}, errProxyHeader
	}
	var port uint16
	if _, err := fmt.Sscanf(f[4], "%d", &port); err != nil {
		return netip.AddrPort{}, errProxyHeader
	}
	return netip.AddrPortFrom(addr, port), nil
}

func readProxyV2(r io.Reader) (netip.AddrPort, error) {
	fixed := make([]byte, proxyV2FixedLen-len(proxyV2Signature))
	if _, err := io.ReadFull(r, fixed); err != nil {
		return netip.AddrPort{}, err
	}
	command, family, length := fixed[0], fixed[1], int(binary.BigEndian.Uint16(fixed[2:]))
	if command>>4 != 2 || command&15 > 1 || length > proxyV2BodyMax {
		return netip.AddrPort{}, errProxyHeader
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return netip.AddrPort{}, err
	}
	if command&15 == 0 { // LOCAL
		return netip.AddrPort{}, nil
	}
	switch {
	case family == 0x11 && length >= 12:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(body[:4])), binary.BigEndian.Uint16(body[8:])), nil
	case family == 0x21 && length >= 36:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(body[:16])), binary.BigEndian.Uint16(body[32:])), nil
	case family>>4 == 0 || family>>4 == 3: // unspecified, or a unix socket at the balancer
		return netip.AddrPort{}, nil
	}
	return netip.AddrPort{}, errProxyHeader
}
