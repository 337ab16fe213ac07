package remote

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is a pseudo-terminal: what a program writes to its screen is kept, keys can be typed.
type terminal struct {
	screen
	master *os.File
	mu     sync.Mutex
	shown  strings.Builder
	read   chan struct{}
}

func openTerminal(t *testing.T, width, height uint16) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		t.Fatal(err)
	}
	x := &terminal{screen: screen{slave, slave}, master: master, read: make(chan struct{})}
	go func() {
		defer close(x.read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			x.mu.Lock()
			x.shown.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = slave.Close()
		_, _ = master.WriteString("\n") // ends the read of keys that is under way: nobody has the terminal then
		<-x.read                        // so the master's read fails
		_ = master.Close()
	})
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown.String()
}

// key types a key and waits for what the screen shows then, and has not shown before.
func (x *terminal) key(t *testing.T, key, shows string) {
	t.Helper()
	before := strings.Count(x.text(), shows)
	if _, err := x.master.WriteString(key); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); strings.Count(x.text(), shows) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("behind %q no %q in %q", key, shows, x.text())
		}
	}
}

// Keys change the list and end the view, and the terminal is as it was before.
func TestLive(t *testing.T) {
	t.Setenv(passwordVariable, "canary-root")
	l := login{addr: startProxy(t), user: "root"}
	l.tls.Mode = "disabled"
	db, err := l.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, quit := range []string{"q", "\x03", ""} {
		x := openTerminal(t, 90, 12)
		fd := int(x.in.Fd())
		was, err := term.GetState(fd)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- live(ctx, db, time.Hour, viewDigests, x.screen) }()
		x.key(t, "", "count/s")
		x.key(t, "n", "127.0.0.1:2")
		x.key(t, "s", "transaction")
		x.key(t, "x", "transaction") // no key of ours: the same again
		x.key(t, "d", "count/s")
		if quit == "" {
			cancel()
		} else {
			x.key(t, quit, leaveScreen)
		}
		if err := <-ended; err != nil {
			t.Errorf("%q: %v", quit, err)
		}
		cancel()
		now, err := term.GetState(fd)
		if err != nil || *now != *was {
			t.Errorf("%q: the terminal is not as it was: %v, %v", quit, now, err)
		}
		if text := x.text(); !strings.HasPrefix(text, enterScreen+cursorHome+"kingshard online") {
			t.Errorf("%q: %q", quit, text)
		}
	}
}
