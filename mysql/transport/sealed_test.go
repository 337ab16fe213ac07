package transport

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// wire is what a peer's tls.Conn lies on: the handshake goes over the connection, and then all goes through a poller in memory.
type wire struct {
	net.Conn
	p *poller
}

func (w *wire) Read(b []byte) (int, error) {
	if w.p == nil {
		return w.Conn.Read(b)
	}
	if w.p.out.Len() == 0 {
		return 0, syscall.EAGAIN
	}
	return w.p.out.Read(b)
}

func (w *wire) Write(b []byte) (int, error) {
	if w.p == nil {
		return w.Conn.Write(b)
	}
	return w.p.in.Write(b)
}

func (w *wire) Close() error { return nil }

// certificate gives one that proves nothing.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// sealedOver gives a Conn with TLS over p, and its peer. Config is that of the peer.
func sealedOver(t *testing.T, p *poller, version uint16, config *tls.Config) (*Conn, *tls.Conn) {
	t.Helper()
	a, b := socketPair(t)
	w := &wire{Conn: b}
	config.InsecureSkipVerify = true
	peer := tls.Client(w, config)
	shaken := make(chan error, 1)
	go func() { shaken <- peer.Handshake() }()
	c := new(Conn)
	c.Open(a)
	server := &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MaxVersion: version, SessionTicketsDisabled: true}
	err := c.StartTLS(nil, func(nc net.Conn) *tls.Conn { return tls.Server(nc, server) })
	if err := errors.Join(err, <-shaken); err != nil {
		t.Fatal(err)
	}
	if c.Bare() != nil || c.Pollable() != a || c.Seals() || c.Kept() != 0 {
		t.Error("a Poller cannot take the place of the socket")
	}
	p.Conn, w.p = a, p
	c.Rebase(p)
	if c.Poller() == nil || c.Bare() != nil || c.Pollable() != p || !c.Secure() || !c.Seals() || c.NetConn() == p {
		t.Error("it is not TLS over the poller")
	}
	return c, peer
}

// bothVersions runs f with each version of TLS.
func bothVersions(t *testing.T, f func(t *testing.T, version uint16)) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) { f(t, version) })
	}
}

func write(t *testing.T, w io.Writer, b []byte) {
	t.Helper()
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
}

// A record may come in any pieces: until it is whole nothing has arrived, and nothing is lost.
func TestSealedReadsPieces(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		b := make([]byte, 100)
		for _, size := range []int{1, 2, 4, 5, 6, 20, 1000} {
			write(t, peer, []byte("hello"))
			record := bytes.Clone(p.in.Bytes())
			p.in.Reset()
			for len(record) > 0 {
				if n, err := c.TryRead(b); n != 0 || err != syscall.EAGAIN || c.Broken() {
					t.Fatalf("%d bytes left to come: %q, %v", len(record), b[:n], err)
				}
				k := min(size, len(record))
				p.in.Write(record[:k])
				record = record[k:]
			}
			if n, err := c.TryRead(b); err != nil || string(b[:n]) != "hello" {
				t.Fatalf("%q, %v", b[:n], err)
			}
		}
		if p.again {
			t.Error("something is left to be read")
		}
	})
}

// One read gives all that has arrived, as there is no event for what TLS has read; where there is no room for it, the next wait is told.
func TestSealedReadsAllThatArrived(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		for _, s := range []string{"one", "", "two", "three"} {
			write(t, peer, []byte(s))
		}
		b := make([]byte, 100)
		if n, err := c.TryRead(b); err != nil || string(b[:n]) != "onetwothree" || p.again {
			t.Errorf("%q, %v, %t", b[:n], err, p.again)
		}
		write(t, peer, []byte("12345"))
		write(t, peer, []byte("678"))
		got := ""
		for got != "12345678" {
			p.again = false
			n, err := c.TryRead(b[:2])
			if got += string(b[:n]); err != nil || !p.again {
				t.Fatalf("%q, %v, to be read again: %t", got, err, p.again)
			}
		}
		p.again = false
		if n, err := c.TryRead(b); n != 0 || err != syscall.EAGAIN || p.again {
			t.Errorf("%d bytes, %v, %t", n, err, p.again)
		}
	})
}

// The peer's end behind its last bytes is not lost.
func TestSealedEnds(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{room: 1 << 10}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		write(t, peer, []byte("last"))
		if err := peer.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		if n, err := c.TryRead(b); err != nil || string(b[:n]) != "last" || !p.again {
			t.Errorf("%q, %v, to be read again: %t", b[:n], err, p.again)
		}
		if _, err := c.TryRead(b); err != io.EOF || c.Ending() != EndedInOrder {
			t.Errorf("%v, ending %d", err, c.Ending())
		}
		if _, err := c.Read(b); err != io.EOF {
			t.Error(err)
		}
	})
}

// A record that was tampered with ends the connection.
func TestSealedRefusesForgedRecords(t *testing.T) {
	p := &poller{room: 1 << 10}
	c, peer := sealedOver(t, p, tls.VersionTLS13, &tls.Config{})
	write(t, peer, []byte("hello"))
	p.in.Bytes()[10] ^= 1
	b := make([]byte, 100)
	if n, err := c.TryRead(b); n != 0 || err == nil || err == syscall.EAGAIN || c.Ending() != EndedOtherwise {
		t.Errorf("%q, %v", b[:n], err)
	}
	if p.out.Len() == 0 {
		t.Error("the peer is not told")
	}
}

// received is what the peer has of what was sent.
func received(t *testing.T, peer *tls.Conn) []byte {
	t.Helper()
	got, err := io.ReadAll(peer)
	if err != syscall.EAGAIN {
		t.Fatal(err)
	}
	return got
}

// What the connection below does not take of a record is kept and sent first, once.
func TestSealedKeepsWhatIsNotTaken(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		want := ""
		for room := range 60 {
			p.room = room
			if n := c.TrySend([]byte("hello")); n != 5 || c.WriteError() != nil {
				t.Fatalf("room for %d: %d taken, %v", room, n, c.WriteError())
			}
			want += "hello"
			for c.Kept() > 0 {
				if n := c.TrySend([]byte("x")); n != 0 {
					t.Fatal("taken ahead of what is kept")
				}
				kept := c.Kept()
				p.room = 7
				if c.TrySend(nil); c.Kept() != max(0, kept-7) {
					t.Fatalf("%d bytes of %d are kept", c.Kept(), kept)
				}
			}
			if got := received(t, peer); string(got) != "hello" {
				t.Fatalf("room for %d: the peer has %q", room, got)
			}
		}
		if p.waits > 0 {
			t.Errorf("%d waits", p.waits)
		}
	})
}

// Send waits until all is out, and shows it moving.
func TestSealedSendWaits(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{room: 1000}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		long := bytes.Repeat([]byte("0123456789abcdef"), 3000)
		c.TrySend(long[:20_000])
		if c.Kept() == 0 || p.waits != 0 {
			t.Errorf("%d bytes kept, %d waits", c.Kept(), p.waits)
		}
		taken := received(t, peer)
		p.room = 1000
		active := c.Activity()
		c.Send(long[:10])
		if c.WriteError() != nil || c.Kept() != 0 || p.waits < 100 || c.Writing() {
			t.Errorf("%v, %d bytes kept, %d waits", c.WriteError(), c.Kept(), p.waits)
		}
		if moved := c.Activity() - active; moved < 15<<10 {
			t.Errorf("an activity of %d", moved)
		}
		c.Send(long)
		if n := len(taken) + len(received(t, peer)); n != 16<<10+10+len(long) {
			t.Errorf("the peer has %d bytes", n)
		}
		p.err = errors.New("broken")
		if c.Send(long); c.WriteError() == nil {
			t.Error("all is sent over a broken connection")
		}
		c.Send(long) // and does not try again
	})
}

// Others may send what Seal gives, or a part of it; the rest goes out with the next write.
func TestSeal(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		for k := range 60 {
			p.room = 1 << 10
			all := c.Seal([]byte("hello"))
			if again := c.Seal(nil); !bytes.Equal(all, again) || c.Kept() != len(all) || p.out.Len() != 0 {
				t.Fatalf("%d bytes, then %d, %d sent", len(all), len(again), p.out.Len())
			}
			n := min(k, len(all))
			p.out.Write(all[:n])
			c.SentSealed(n)
			if c.TrySend([]byte(" you")); c.Kept() != 0 || c.WriteError() != nil {
				t.Fatal(c.Kept(), c.WriteError())
			}
			if got := received(t, peer); string(got) != "hello you" {
				t.Fatalf("%d bytes sent by others: the peer has %q", n, got)
			}
		}
		if c.Seal(nil) != nil {
			t.Error("something to send of nothing")
		}
	})
}

// Close says goodbye where that does not come into the middle of a record. Any goroutine may call it at any time.
func TestSealedCloses(t *testing.T) {
	bothVersions(t, func(t *testing.T, version uint16) {
		p := &poller{room: 1 << 10}
		c, peer := sealedOver(t, p, version, &tls.Config{})
		_ = c.Close()
		if _, err := io.ReadAll(peer); err != nil { // io.EOF
			t.Error(err)
		}
		p = &poller{room: 10}
		c, peer = sealedOver(t, p, version, &tls.Config{})
		c.TrySend([]byte("hello"))
		p.room = 1 << 10
		_ = c.Close()
		if p.out.Len() != 10 {
			t.Errorf("%d bytes behind those of a record that was not taken whole", p.out.Len()-10)
		}
		for range 50 {
			p := &poller{room: 1 << 20}
			c, _ := sealedOver(t, p, version, &tls.Config{})
			var closing sync.WaitGroup
			closing.Go(func() { _ = c.Close() })
			if out := c.Seal([]byte("hello")); len(out) > 0 {
				c.SentSealed(len(out))
			}
			closing.Wait()
		}
	})
}

// A session ticket that comes behind the handshake is no data: it is taken where it comes in pieces, too.
func TestSealedTakesTickets(t *testing.T) {
	a, b := socketPair(t)
	w := &wire{Conn: b}
	// A server that asks for a certificate sends tickets only when it has the client's last message of the handshake.
	peer := tls.Server(w, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, ClientAuth: tls.RequestClientCert})
	p := &poller{Conn: a, room: 1 << 10}
	c := new(Conn)
	c.Open(a)
	shaken := make(chan error, 1)
	go func() { shaken <- peer.Handshake() }()
	config := &tls.Config{InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1), ServerName: "server"}
	err := c.StartTLS(nil, func(nc net.Conn) *tls.Conn { return tls.Client(nc, config) })
	if err := errors.Join(err, <-shaken); err != nil {
		t.Fatal(err)
	}
	ticket := make([]byte, 4096)
	n, err := a.Read(ticket)
	if err != nil {
		t.Fatal(err)
	}
	w.p = p
	c.Rebase(p)
	got := make([]byte, 100)
	for k := range n {
		if k, err := c.TryRead(got); k != 0 || err != syscall.EAGAIN {
			t.Fatalf("%d bytes, %v", k, err)
		}
		p.in.WriteByte(ticket[k])
	}
	write(t, peer, []byte("hello"))
	if n, err := c.TryRead(got); err != nil || string(got[:n]) != "hello" {
		t.Errorf("%q, %v", got[:n], err)
	}
	if s, ok := config.ClientSessionCache.Get("server"); !ok || s == nil {
		t.Error("no ticket was taken")
	}
}

// sender makes records of TLS 1.3 as a client does that changes its keys, which crypto/tls never does by itself.
type sender struct {
	hash   func() hash.Hash
	keyLen int
	secret []byte
	seq    uint64
}

// senderOf goes by what the client's log of keys says.
func senderOf(t *testing.T, suite uint16, log string) *sender {
	t.Helper()
	for line := range strings.Lines(log) {
		if f := strings.Fields(line); f[0] == "CLIENT_TRAFFIC_SECRET_0" {
			secret, err := hex.DecodeString(f[2])
			if err != nil {
				t.Fatal(err)
			}
			switch suite {
			case tls.TLS_AES_128_GCM_SHA256:
				return &sender{hash: sha256.New, keyLen: 16, secret: secret}
			case tls.TLS_AES_256_GCM_SHA384:
				return &sender{hash: sha512.New384, keyLen: 32, secret: secret}
			}
		}
	}
	t.Fatalf("no AES in use, which processors without instructions for it do not choose, but %s", tls.CipherSuiteName(suite))
	return nil
}

// expand is HKDF-Expand-Label without a context. RFC 8446, 7.1.
func (s *sender) expand(label string, n int) []byte {
	label = "tls13 " + label
	info := append([]byte{byte(n >> 8), byte(n), byte(len(label))}, label...)
	out, err := hkdf.Expand(s.hash, s.secret, string(append(info, 0)), n)
	if err != nil {
		panic(err)
	}
	return out
}

// record gives one of a content type.
func (s *sender) record(kind byte, content []byte) []byte {
	block, err := aes.NewCipher(s.expand("key", s.keyLen))
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	nonce := s.expand("iv", aead.NonceSize())
	var seq [8]byte
	binary.BigEndian.PutUint64(seq[:], s.seq)
	s.seq++
	for k := range seq {
		nonce[len(nonce)-8+k] ^= seq[k]
	}
	inner := append(bytes.Clone(content), kind)
	n := len(inner) + aead.Overhead()
	header := []byte{23, 3, 3, byte(n >> 8), byte(n)}
	return aead.Seal(header, nonce, inner, header)
}

// updateKey gives the message that changes the sender's key, and asks for a change of the peer's. RFC 8446, 4.6.3.
func (s *sender) updateKey() []byte {
	b := s.record(22, []byte{24, 0, 0, 1, 1})
	s.secret, s.seq = s.expand("traffic upd", len(s.secret)), 0
	return b
}

// The peer may change its key, and have the own one changed: that is no data, and needs an answer, which is kept where it does not fit in.
func TestSealedChangesKeys(t *testing.T) {
	for _, room := range []int{0, 10, 1000} {
		t.Run(fmt.Sprint("room for ", room), func(t *testing.T) {
			var log bytes.Buffer
			p := &poller{}
			c, peer := sealedOver(t, p, tls.VersionTLS13, &tls.Config{KeyLogWriter: &log})
			s := senderOf(t, peer.ConnectionState().CipherSuite, log.String())
			b := make([]byte, 100)
			for k := range 40 {
				p.room = room
				p.in.Write(s.updateKey())
				if n, err := c.TryRead(b); n != 0 || err != syscall.EAGAIN || c.Broken() {
					t.Fatalf("%d bytes, %v", n, err)
				}
				p.in.Write(s.record(23, []byte("with the next key")))
				if n, err := c.TryRead(b); err != nil || string(b[:n]) != "with the next key" {
					t.Fatalf("%q, %v", b[:n], err)
				}
				if kept := c.Kept(); kept > 0 != (room < 20) {
					t.Fatalf("%d bytes of the answer are kept", kept)
				}
				c.Send([]byte("hello"))
				if got := received(t, peer); string(got) != "hello" || c.Kept() > 0 {
					t.Fatalf("%d: the peer has %q", k, got)
				}
			}
		})
	}
}

// A peer that has TLS answer all the time, and reads nothing, does not have that kept without bound.
func TestSealedKeepsNoMore(t *testing.T) {
	var log bytes.Buffer
	p := &poller{}
	c, peer := sealedOver(t, p, tls.VersionTLS13, &tls.Config{KeyLogWriter: &log})
	s := senderOf(t, peer.ConnectionState().CipherSuite, log.String())
	b := make([]byte, 100)
	for range keptMax / 10 {
		p.in.Write(s.updateKey())
		p.in.Write(s.record(23, []byte("x")))
		if _, err := c.TryRead(b); err != nil {
			break
		}
	}
	if kept := c.Kept(); kept > keptMax || kept < keptMax/2 || !c.Broken() {
		t.Errorf("%d bytes are kept, broken: %t", kept, c.Broken())
	}
	p.room = 1 << 20
	if c.Send([]byte("hello")); c.WriteError() == nil {
		t.Error("it goes on")
	}
}
