package transport

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
)

// TestLayers: what is above the connection is what bytes go through, and the connection is no longer bare.
func TestLayers(t *testing.T) {
	a, b := socketPair(t)
	c := new(Conn)
	c.Open(a)
	if c.Bare() != a || c.NetConn() != a || c.Raw() == nil || c.Secure() || c.Poller() != nil || c.RemoteAddr().String() != b.LocalAddr().String() {
		t.Error("a fresh connection is not bare")
	}
	l := &layer{under: c.Stream()}
	c.Wrap(l)
	if c.Bare() != nil || c.NetConn() != a || c.Raw() != nil || c.Secure() {
		t.Error("a connection under a layer is bare")
	}
	c.Send([]byte("ab"))
	c.SendBoth([]byte("c"), []byte("d"))
	if moved := c.Activity(); moved != 4 || string(l.gathered) != "abcd" {
		t.Errorf("the layer has %q, activity %d", l.gathered, moved)
	}
	c.FlushLayer(4)
	got := make([]byte, 4)
	if _, err := io.ReadFull(b, got); err != nil || string(got) != "bcde" || c.WriteError() != nil {
		t.Errorf("the peer has %q, %v, %v", got, err, c.WriteError())
	}
	if _, err := b.Write([]byte("xyz")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(got); err != nil || string(got[:n]) != "wxy" || c.Received() != 3 {
		t.Errorf("%q comes, %d bytes received, %v", got[:n], c.Received(), err)
	}
	l.broken = errors.New("broken")
	if c.FlushLayer(1); !errors.Is(c.WriteError(), l.broken) {
		t.Errorf("the layer's failure is %v", c.WriteError())
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := a.Write(got); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// layer makes each byte the next one on its way out, and the one before on its way in.
type layer struct {
	under    io.ReadWriter
	gathered []byte
	broken   error
}

func (l *layer) Read(b []byte) (int, error) {
	n, err := l.under.Read(b)
	for k := range b[:n] {
		b[k]--
	}
	return n, err
}

func (l *layer) Write(b []byte) (int, error) {
	l.gathered = append(l.gathered, b...)
	return len(b), nil
}

func (l *layer) Flush() error {
	for k := range l.gathered {
		l.gathered[k]++
	}
	_, err := l.under.Write(l.gathered)
	l.gathered = nil
	return errors.Join(err, l.broken)
}

// TestStartTLS has the first bytes of the handshake come before it is known that it is one, and a Layer on top.
func TestStartTLS(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	a, b := socketPair(t)
	sent := make(chan error, 1)
	go func() {
		_, err := tls.Client(b, &tls.Config{InsecureSkipVerify: true}).Write([]byte("hello"))
		sent <- err
	}()
	c := new(Conn)
	c.Open(a)
	prefix := make([]byte, 10)
	if _, err := c.Read(prefix); err != nil {
		t.Fatal(err)
	}
	err = c.StartTLS(prefix, func(nc net.Conn) *tls.Conn {
		clear(prefix) // which is the caller's again
		return tls.Server(nc, config)
	})
	if err := errors.Join(err, <-sent); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.NetConn().(*tls.Conn); !ok || !c.Secure() || c.Bare() != nil || c.Raw() != nil {
		t.Error("TLS is not seen")
	}
	if c.Stream() != io.ReadWriter(c.NetConn().(*tls.Conn)) {
		t.Error("a layer would go under TLS")
	}
	got := make([]byte, 8)
	if n, err := c.Read(got); err != nil || string(got[:n]) != "hello" {
		t.Errorf("%q, %v", got[:n], err)
	}
}

// TestStartTLSFails: a connection on which the handshake fails is not secure.
func TestStartTLSFails(t *testing.T) {
	a, _ := socketPair(t)
	c := new(Conn)
	c.Open(a)
	err := c.StartTLS([]byte("\x03DROP TABLE t"), func(nc net.Conn) *tls.Conn { return tls.Server(nc, &tls.Config{}) })
	if header := (tls.RecordHeaderError{}); !errors.As(err, &header) || c.Secure() {
		t.Errorf("%v, secure %t", err, c.Secure())
	}
}

func TestUnixIsSecure(t *testing.T) {
	a, _ := sockets(t, "unix")
	c := new(Conn)
	c.Open(a)
	if !c.Secure() {
		t.Error("bytes of a unix socket can be read on the way")
	}
}

// TestSendBoth has sockets that keep the writes apart.
func TestSendBoth(t *testing.T) {
	a, b := sockets(t, "unixpacket")
	c := new(Conn)
	c.Open(a)
	long := bytes.Repeat([]byte("x"), 20_000)
	c.SendBoth([]byte("head"), long)
	got := make([]byte, 64<<10)
	n, err := b.Read(got)
	if err != nil || c.WriteError() != nil || string(got[:n]) != "head"+string(long) || c.Activity() != uint32(n) || c.Writing() {
		t.Errorf("%d bytes in the first write, activity %d, %v, %v", n, c.Activity(), err, c.WriteError())
	}
}

// TestWriteError: the first failure is kept, and nothing is written after it.
func TestWriteError(t *testing.T) {
	for name, send := range map[string]func(c *Conn, b []byte){
		"send":  (*Conn).Send,
		"both":  func(c *Conn, b []byte) { c.SendBoth(b[:1], b[1:]) },
		"other": func(c *Conn, b []byte) { c.Sent(0, io.ErrShortWrite) },
		"raw": func(c *Conn, b []byte) {
			_ = c.Raw().Write(func(fd uintptr) bool { c.SendRaw(fd, b); return true })
		},
	} {
		a, b := sockets(t, "unix")
		c := new(Conn)
		c.Open(a)
		if send(c, []byte("ab")); name != "other" && c.WriteError() != nil {
			t.Fatal(name, c.WriteError())
		}
		_ = b.Close()
		send(c, []byte("ab"))
		first := c.WriteError()
		if first == nil || !c.Broken() || c.Ending() != NotEnded {
			t.Fatalf("%s: %v, broken %t, ending %d", name, first, c.Broken(), c.Ending())
		}
		active := c.Activity()
		c.Send([]byte("ab"))
		c.SendBoth([]byte("a"), []byte("b"))
		if c.Sent(0, io.ErrClosedPipe); c.WriteError() != first || c.Activity() != active {
			t.Errorf("%s: %v became %v", name, first, c.WriteError())
		}
	}
}
