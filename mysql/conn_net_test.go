package mysql

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// socketPair gives the two ends of a loopback connection.
func socketPair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestOverSockets(t *testing.T) {
	a, b := socketPair(t)
	client, server := NewConn(a, BackendSide, testCap), NewConn(b, ClientSide, testCap)
	sizes := payloadSizes[:len(payloadSizes)-2]
	done := make(chan error, 1)
	go func() {
		for _, n := range sizes {
			client.ResetSequence()
			client.WritePacket(payload(n))
			if err := client.Flush(); err != nil {
				done <- err
				return
			}
			if _, err := client.ReadPacket(); err != nil {
				done <- err
				return
			}
			client.Release()
		}
		done <- client.Close()
	}()
	for _, n := range sizes {
		server.ResetSequence()
		p, err := server.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "over a socket", p, payload(n))
		server.WriteOK(&OKPacket{})
		if err := server.Flush(); err != nil {
			t.Fatal(err)
		}
		server.Release()
	}
	if _, err := server.ReadPacket(); !errors.Is(err, io.EOF) || server.rbuf != nil {
		t.Errorf("at the end: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDeadlineWhileParked(t *testing.T) {
	_, b := socketPair(t)
	c := NewConn(b, ClientSide, testCap)
	c.Net.SetDeadline(time.Now().Add(-time.Second))
	_, err := c.ReadPacket()
	wantConnError(t, err, ClientSide, "read", os.ErrDeadlineExceeded)
	c.Close()
	_, err = c.ReadPacket()
	wantConnError(t, err, ClientSide, "read", net.ErrClosed)
}

func TestStartTLS(t *testing.T) {
	cert, pool := testCertificate(t)
	a, b := socketPair(t)
	client, server := NewConn(a, BackendSide, testCap), NewConn(b, ClientSide, testCap)
	done := make(chan error, 1)
	go func() {
		client.WritePacket([]byte("ssl request"))
		err := client.StartTLS(func(nc net.Conn) *tls.Conn {
			return tls.Client(nc, &tls.Config{RootCAs: pool, ServerName: "test"})
		})
		client.WritePacket(payload(100000))
		done <- errors.Join(err, client.Flush())
	}()
	if p, err := server.ReadPacket(); err != nil || string(p) != "ssl request" {
		t.Fatal(p, err)
	}
	// The client's hello may be in the buffer already, or come later: wait until it is, to test the harder case.
	if err := server.fill(10); err != nil {
		t.Fatal(err)
	}
	if server.Net.Secure() {
		t.Error("secure too early")
	}
	err := server.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}}) })
	if err != nil {
		t.Fatal(err)
	}
	if p, err := server.ReadPacket(); err != nil || !bytes.Equal(p, payload(100000)) || !server.Net.Secure() {
		t.Errorf("%d bytes, %v", len(p), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, ok := server.Net.NetConn().(*tls.Conn); !ok {
		t.Error("NetConn is not the TLS layer")
	}
}

// TestStartTLSRefusesInjectedBytes: what a man in the middle puts behind the request for TLS is never read as a packet.
func TestStartTLSRefusesInjectedBytes(t *testing.T) {
	cert, _ := testCertificate(t)
	mem := &memConn{in: frames(0, []byte("ssl request"), []byte("\x03DROP TABLE t"))}
	c := NewConn(mem, ClientSide, testCap)
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	err := c.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{cert}}) })
	var ce *ConnError
	if !errors.As(err, &ce) || c.Net.Secure() || c.Buffered() != 0 {
		t.Errorf("%v, %d bytes left to read", err, c.Buffered())
	}
}

// TestLongCommandIsOneWrite has sockets that keep the writes apart.
func TestLongCommandIsOneWrite(t *testing.T) {
	a, b := sockets(t, "unixpacket")
	c := NewConn(a, BackendSide, testCap)
	text := payload(20_000)
	for name, write := range map[string]func(){
		"packet": func() { c.WritePacket(text) },
		"parts":  func() { c.WritePacketParts(text[:1], string(text[1:])) },
		"run":    func() { c.WriteOK(&OKPacket{}); c.writeRaw(text) },
	} {
		write()
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 64<<10)
		n, err := b.Read(got)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(got[:n], text) || n < len(text)+headerLen {
			t.Errorf("%s: %d bytes in the first write, of a header and %d", name, n, len(text))
		}
	}
}

// TestLongCommandsComeInOneRead has commands longer than a small buffer, of which the first teaches the connection.
func TestLongCommandsComeInOneRead(t *testing.T) {
	a, b := sockets(t, "unix")
	server := NewConn(b, ClientSide, testCap)
	for k, test := range []struct {
		bytes int
		reads uint32
	}{{20_000, 2}, {20_000, 1}, {20_000, 1}, {100, 1}, {20_000, 2}} {
		if _, err := a.Write(frames(0, payload(test.bytes))); err != nil {
			t.Fatal(err)
		}
		before := server.Net.Activity()
		server.ResetSequence()
		p, err := server.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "a command", p, payload(test.bytes))
		server.Release()
		if reads := server.Net.Activity() - before; reads != test.reads {
			t.Errorf("command %d of %d bytes: %d reads, not %d", k, test.bytes, reads, test.reads)
		}
	}
}

// sockets gives both ends of a connection over a unix socket, which the test's end closes.
func sockets(t *testing.T, network string) (a, b net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen(network, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial(network, path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return a, b
}

// A read that sends the request first: answers come whole whatever of the request fits into the socket at once, and to a peer that is gone it
// is an error.
func TestFlushWithRead(t *testing.T) {
	for _, size := range []int{1, 100, 14_000} {
		a, b := socketPair(t)
		if err := a.(*net.TCPConn).SetWriteBuffer(1); err != nil {
			t.Fatal(err)
		}
		client, server := NewConn(a, BackendSide, testCap), NewConn(b, ClientSide, testCap)
		go func() {
			for {
				server.ResetSequence()
				p, err := server.ReadPacket()
				if err != nil {
					return
				}
				server.WritePacket(p)
				_ = server.Flush()
				server.Release()
			}
		}()
		for range 200 {
			client.ResetSequence()
			client.WritePacket(payload(size))
			if err := client.FlushWithRead(); err != nil {
				t.Fatal(err)
			}
			p, err := client.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			equalBytes(t, "the answer", p, payload(size))
			client.Release()
		}
		server.Close()
		failed := false
		for range 100 {
			client.ResetSequence()
			client.WritePacket(payload(size))
			if err := client.FlushWithRead(); err != nil {
				failed = true
				break
			}
			if _, err := client.ReadPacket(); err != nil {
				failed = true
				break
			}
		}
		if !failed {
			t.Error("a peer that is gone answers")
		}
	}
}
