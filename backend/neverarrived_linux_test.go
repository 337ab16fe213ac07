package backend

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sockopt"
)

// stream is a connection of TCP or a unix socket.
type stream interface {
	net.Conn
	syscall.Conn
}

// streams gives the two ends of a connection.
func streams(t *testing.T, network string) (near, far stream) {
	if network == "tcp" {
		one, other := mysqltest.TCPPair(t)
		return one, other
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	one, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close(); other.Close() })
	return one.(stream), other.(stream)
}

// What never arrived, by how and when the server's side ended. The far end of each case reads what it has carried out.
func TestNeverArrived(t *testing.T) {
	all := make([]byte, 1000)
	readAll := func(far stream) { _, _ = far.Read(all) }
	reset := func(far stream) {
		if tcp, ok := far.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		far.Close()
	}
	for name, c := range map[string]struct {
		before, after func(far stream)
		tcp, unix     bool
	}{
		"closed before":                {before: func(far stream) { far.Close() }, tcp: true, unix: true},
		"reset before":                 {before: reset, tcp: true, unix: true},
		"said something and closed":    {before: func(far stream) { _, _ = far.Write([]byte("\x03\x00\x00\x00\xff\xbf\x0f")); far.Close() }, tcp: true, unix: true},
		"read it and closed":           {after: func(far stream) { readAll(far); far.Close() }},
		"read it and reset":            {after: func(far stream) { readAll(far); reset(far) }}, // carried out, and maybe not acknowledged
		"closed without reading it":    {after: func(far stream) { far.Close() }, unix: true},  // of TCP it is like the one above
		"read a part of it and closed": {after: func(far stream) { _, _ = far.Read(all[:5]); far.Close() }, unix: true},
	} {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(name+", "+network, func(t *testing.T) {
				near, far := streams(t, network)
				raw, err := near.SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				for range 10 { // who answers at once acknowledges late
					for _, way := range [][2]stream{{near, far}, {far, near}} {
						_, _ = way[0].Write(all[:1])
						_, _ = way[1].Read(all)
					}
				}
				conn := &Conn{Conn: mysql.NewConn(near, mysql.BackendSide, 1<<20), raw: raw}
				if c.before != nil {
					c.before(far)
				}
				conn.Command(mysql.ComQuery, "INSERT INTO t VALUES (1)")
				err = conn.Flush()
				if c.after != nil {
					c.after(far)
				}
				if err == nil {
					_ = conn.Net.SetReadDeadline(time.Now().Add(time.Second))
					_, err = conn.ReadPacket()
				}
				if err == nil {
					t.Fatal("an answer")
				}
				want := c.tcp
				if network == "unix" {
					want = c.unix
				}
				got := conn.NeverArrived()
				d, _ := sockopt.Delivered(raw)
				t.Logf("%v: %v, %+v", err, got, d)
				if got != want {
					t.Errorf("%v, want %v", got, want)
				}
			})
		}
	}
}

// What the health checks have cut off may have arrived.
func TestCutOffMayHaveArrived(t *testing.T) {
	near, far := streams(t, "tcp")
	raw, err := near.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	conn := &Conn{Conn: mysql.NewConn(near, mysql.BackendSide, 1<<20), raw: raw}
	conn.watch(raw)
	i := &Instance{open: newOpenConns()}
	i.open.add(conn)
	conn.Command(mysql.ComQuery, "INSERT INTO t VALUES (1)")
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := i.EndConns(); n != 1 {
		t.Fatal(n)
	}
	if _, err := conn.ReadPacket(); err == nil || conn.NeverArrived() {
		t.Errorf("%v, and it never arrived", err)
	}
	far.Close()
}

// Bytes that are still to be sent may be sent later, whoever closed what on the near side: a server that stands still for a while has them
// all in the end.
func TestUnsentMayStillBeSent(t *testing.T) {
	for _, cut := range []bool{true, false} {
		near, far := streams(t, "tcp")
		if err := errors.Join(near.(*net.TCPConn).SetWriteBuffer(4<<20), far.(*net.TCPConn).SetReadBuffer(64<<10)); err != nil {
			t.Fatal(err)
		}
		raw, err := near.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		conn := &Conn{Conn: mysql.NewConn(near, mysql.BackendSide, 1<<20), raw: raw}
		conn.watch(raw)
		i := &Instance{open: newOpenConns()}
		i.open.add(conn)
		text := "INSERT INTO t VALUES ('" + strings.Repeat("x", 1<<20) + "')"
		conn.Command(mysql.ComQuery, text)
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
		if d, _ := sockopt.Delivered(raw); d.Unsent == 0 {
			t.Fatal("everything was sent, so nothing is tested")
		}
		if cut {
			i.EndConns()
		}
		_ = conn.Net.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := conn.ReadPacket(); err == nil || conn.NeverArrived() {
			t.Errorf("cut off %v: %v, and it never arrived", cut, err)
		}
		near.Close()
		_ = far.SetReadDeadline(time.Now().Add(10 * time.Second))
		if n, err := io.Copy(io.Discard, far); n != int64(4+1+len(text)) {
			t.Errorf("cut off %v: %d bytes of %d arrived, %v", cut, n, 4+1+len(text), err)
		}
	}
}
