package handover

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair gives the two ends of a hand-over within one process.
func pair(t *testing.T) (*Successor, *Predecessor) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends []*pipe
	for _, fd := range fds {
		p, err := newPipe(os.NewFile(uintptr(fd), "test"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.close() })
		ends = append(ends, p)
	}
	return &Successor{pipe: ends[0], waiting: make(map[uint32]chan<- error)}, &Predecessor{pipe: ends[1]}
}

func soon() time.Time { return time.Now().Add(10 * time.Second) }

func raw(t *testing.T, c syscall.Conn) syscall.RawConn {
	t.Helper()
	r, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A listener goes over and works there, whatever becomes of it here; then sessions do, one of them declined.
func TestHandOver(t *testing.T) {
	old, next := pair(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	name := ListenerName{"addr", "127.0.0.1:0"}
	var firstID uint32
	taken := make(map[string]net.Conn)
	var running sync.WaitGroup
	running.Go(func() {
		if err := next.Receive(soon()); err != nil {
			t.Error(err)
			return
		}
		var err error
		if firstID, err = next.Ready("v2", soon()); err != nil {
			t.Error(err)
		}
		if err := next.Serving(); err != nil {
			t.Error(err)
		}
		defer next.pipe.close()
		err = next.Sessions(func(state []byte, nc net.Conn) error {
			if string(state) == "unwanted" {
				nc.Close()
				return errors.New("not this one")
			}
			taken[string(state)] = nc
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	if err := old.Offer(Hello{PID: 7, Program: "v1", Offline: true}, []Listener{{name, l.(*net.TCPListener)}}, soon()); err != nil {
		t.Fatal(err)
	}
	if err := old.Serve(12345, soon()); err != nil || old.Program != "v2" {
		t.Fatalf("%v, %s", err, old.Program)
	}
	far, near := mysqltest.TCPPair(t)
	_, other := mysqltest.TCPPair(t)
	running.Go(func() { _ = old.Run() })
	if err := old.Move([]byte("wanted"), raw(t, near)); err != nil {
		t.Error(err)
	}
	if err := old.Move([]byte("unwanted"), raw(t, other)); err == nil || !strings.Contains(err.Error(), "not this one") {
		t.Errorf("a declined session: %v", err)
	}
	if err := old.Move(make([]byte, SessionMax), raw(t, other)); err == nil {
		t.Error("a session of any size moves")
	}
	near.Close()
	next.Stop()
	running.Wait()
	if err := old.Move([]byte("late"), raw(t, other)); err == nil || errors.Is(err, ErrUncertain) {
		t.Errorf("after the end: %v", err)
	}
	if firstID != 12345 || next.PID != 7 || next.Program != "v1" || !next.Offline {
		t.Errorf("id %d, hello %+v", firstID, next.Hello)
	}
	if _, err := taken["wanted"].Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	taken["wanted"].Close()
	if got, err := io.ReadAll(far); string(got) != "hello" {
		t.Errorf("the client read %q, %v", got, err)
	}
	l.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	accepted, err := next.Listeners[name].Accept()
	if err != nil {
		t.Fatal(err)
	}
	accepted.Close()
	next.Close()
}

// Many sessions at once each get their own answer, and descriptors are not left open.
func TestMovesAtOnce(t *testing.T) {
	old, next := pair(t)
	var running, moves sync.WaitGroup
	running.Go(func() { _ = old.Run() })
	running.Go(func() {
		defer next.Close()
		err := next.Sessions(func(state []byte, nc net.Conn) error {
			defer nc.Close()
			if state[0]%2 == 1 {
				return fmt.Errorf("session %d", state[0])
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	for k := range 100 {
		_, near := mysqltest.TCPPair(t)
		moves.Go(func() {
			err := old.Move(append([]byte{byte(k)}, make([]byte, 50000)...), raw(t, near))
			if want := fmt.Sprintf("session %d", k); k%2 == 1 && (err == nil || !strings.HasSuffix(err.Error(), want)) || k%2 == 0 && err != nil {
				t.Errorf("%d: %v", k, err)
			}
		})
	}
	moves.Wait()
	next.Stop()
	running.Wait()
}

// A process that dies leaves it open whose the session is that was on its way; later ones stay.
func TestNewProcessDies(t *testing.T) {
	old, next := pair(t)
	var running sync.WaitGroup
	running.Go(func() { _ = old.Run() })
	_, near := mysqltest.TCPPair(t)
	running.Go(func() {
		f, err := next.pipe.read(soon())
		if err != nil {
			t.Error(err)
		}
		f.close()
		_ = next.pipe.close()
	})
	if err := old.Move([]byte("a"), raw(t, near)); !errors.Is(err, ErrUncertain) {
		t.Errorf("on its way: %v", err)
	}
	running.Wait()
	if err := old.Move([]byte("b"), raw(t, near)); err == nil || errors.Is(err, ErrUncertain) {
		t.Errorf("later: %v", err)
	}
}

// The two do not hand over if they do not speak one language.
func TestVersionDiffers(t *testing.T) {
	b := (&Hello{PID: 1, Program: "v"}).appendTo(nil)
	binary.LittleEndian.PutUint32(b, Version+1)
	var h Hello
	if err := h.decode(b); !errors.Is(err, errVersion) || !strings.Contains(err.Error(), "restart") {
		t.Errorf("another version: %v", err)
	}
	if err := h.decode(b[:3]); !errors.Is(err, errFrame) {
		t.Errorf("no version: %v", err)
	}
	old, next := pair(t)
	var running sync.WaitGroup
	running.Go(func() {
		next.Refuse("speaks another protocol")
		next.Close()
	})
	err := old.Offer(Hello{}, nil, soon())
	if err == nil || !strings.Contains(err.Error(), "speaks another protocol") {
		t.Errorf("refused: %v", err)
	}
	running.Wait()
}

// A frame of an unknown length, or of a kind that is not expected, ends the hand-over; it takes no memory that has not come.
func TestMalformedFrames(t *testing.T) {
	for name, header := range map[string][]byte{
		"a control frame that is too long": {byte(KindHello), 0, 0, 0, 1, 0, 1, 0},
		"a session that is too long":       {byte(KindSession), 0, 0, 0, 255, 255, 255, 255},
		"two descriptors":                  {byte(KindSession), 2, 0, 0, 0, 0, 0, 0},
		"bytes that must be zero":          {byte(KindSession), 0, 1, 0, 0, 0, 0, 0},
		"a kind out of turn":               {byte(KindTaken), 0, 0, 0, 0, 0, 0, 0},
		"a cut header":                     {byte(KindHello), 0, 0},
		"a cut payload":                    {byte(KindHello), 0, 0, 0, 9, 0, 0, 0, 1},
	} {
		old, next := pair(t)
		if _, err := old.pipe.conn.Write(header); err != nil {
			t.Fatal(err)
		}
		_ = old.pipe.close()
		if err := next.Receive(soon()); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	old, next := pair(t)
	if err := old.pipe.write(KindSession, []byte{1, 0, 0, 0}, nil, time.Second); err != nil {
		t.Fatal(err)
	}
	_ = old.pipe.conn.CloseWrite()
	if err := next.Sessions(func([]byte, net.Conn) error { t.Error("taken without a connection"); return nil }); err != nil {
		t.Error(err)
	}
	if f, err := old.pipe.read(soon()); err != nil || f.Kind != KindDeclined {
		t.Errorf("a session without a descriptor: %v, %v", f, err)
	}
}

// What is inherited is closed for programs that this one starts, and its name is gone from the environment.
func TestInherited(t *testing.T) {
	for _, text := range []string{"x", "-1", "0", "1000000"} {
		t.Setenv(environment, text)
		if p, err := Inherited(); err == nil {
			t.Errorf("%s=%s: %v", environment, text, p)
		}
		if _, ok := os.LookupEnv(environment); ok {
			t.Error("the variable stays")
		}
	}
	if p, err := Inherited(); p != nil || err != nil {
		t.Errorf("nothing inherited: %v, %v", p, err)
	}
	if isOurs("PATH=/bin") || !isOurs(environment+"=3") || !isOurs("WATCHDOG_PID=1") || isOurs("WATCHDOG_USEC=1") {
		t.Error("the wrong variables are passed on")
	}
}

// FuzzHello: whatever comes is refused, or means what it says.
func FuzzHello(f *testing.F) {
	f.Add((&Hello{PID: 5, Program: "v1", Listeners: 3, Offline: true}).appendTo(nil))
	f.Add([]byte{Version, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Hello
		if h.decode(b) == nil {
			var again Hello
			if err := again.decode(h.appendTo(nil)); err != nil || again != h {
				t.Errorf("%+v became %+v: %v", h, again, err)
			}
		}
		var n ListenerName
		if n.decode(b) == nil {
			var again ListenerName
			if err := again.decode(n.appendTo(nil)); err != nil || again != n {
				t.Errorf("%+v became %+v: %v", n, again, err)
			}
		}
	})
}

// FuzzFrames: no bytes make the reader panic, wait for ever or take more than what came.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{byte(KindHello), 0, 0, 0, 1, 0, 0, 0, 9})
	f.Add(bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 64<<10 {
			return
		}
		old, next := pair(t)
		var running sync.WaitGroup
		running.Go(func() {
			_, _ = old.pipe.conn.Write(b)
			_ = old.pipe.close()
		})
		n := 0
		for {
			frame, err := next.pipe.read(soon())
			if err != nil {
				break
			}
			n += headerLen + len(frame.Payload)
		}
		_ = next.pipe.close()
		running.Wait()
		if n > len(b) {
			t.Errorf("%d bytes read of %d", n, len(b))
		}
	})
}
