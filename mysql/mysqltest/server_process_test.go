package mysqltest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVariable makes the test binary a process that starts a server and waits to be killed, in place of the tests.
const childVariable = "MYSQLTEST_CHILD"

// child starts a server, says where, and waits.
func child() {
	s, err := StartServer(context.Background(), ServerConfig{Kind: MariaDB})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if os.Getenv(childVariable) == "pause" {
		s.Pause()
	}
	fmt.Println(s.PID(), s.Dir)
	select {}
}

// gone tells whether a process has ended.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestServerKillPauseRestart(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		s := start(t, ServerConfig{Kind: kind})
		db := open(t, s, "test")
		db.SetMaxIdleConns(0) // MySQL gives open connections two seconds when it stops
		exec1(t, db, "CREATE TABLE t (i INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
		pid := s.PID()
		s.Kill()
		if !gone(pid) {
			t.Fatal("the process is there after Kill")
		}
		if c, err := net.Dial("tcp", s.Addr); err == nil {
			_ = c.Close()
			t.Fatal("somebody listens after Kill")
		}
		for range 2 { // after a crash, and running
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := get(t, db, "SELECT COUNT(*) FROM t"); got != "1" {
				t.Errorf("%s rows after a restart", got)
			}
		}
		s.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := db.PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a paused server answers: %v", err)
		}
		s.Resume()
		if got := get(t, db, "SELECT COUNT(*) FROM t"); got != "1" {
			t.Errorf("%s rows after a pause", got)
		}
		s.Pause()
		if err := s.Stop(); err != nil || !gone(s.PID()) {
			t.Errorf("stop a paused server: %v", err)
		}
	})
}

// A server that died without a word from its test says so where the test ends, and not to one that killed it.
func TestServerCrashIsTold(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		s, err := StartServer(t.Context(), ServerConfig{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		pid := s.PID()
		if err := syscall.Kill(pid, syscall.SIGSEGV); err != nil {
			t.Fatal(err)
		}
		<-s.ended
		if err := s.Restart(t.Context()); err == nil || !gone(pid) {
			t.Errorf("a crashed server restarts: %v", err)
		}
		if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "ended by itself") || !strings.Contains(err.Error(), "signal 11") {
			t.Errorf("Stop after a crash: %v", err)
		}
		if err := s.Stop(); err != nil {
			t.Errorf("Stop again: %v", err)
		}
	})
}

// A killed test takes its server with it, and the next start of a server removes what it left.
func TestServerDiesWithItsProcess(t *testing.T) {
	// A place of its own: any other process that starts a server would remove what the killed one left, too.
	base, err := os.MkdirTemp("", "mysqltest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", base)
	living := start(t, ServerConfig{Kind: MariaDB})
	for _, mode := range []string{"run", "pause"} {
		t.Run(mode, func(t *testing.T) {
			pid, dir := killChild(t, mode)
			eventually(t, "the server dies with its process", func() bool { return gone(pid) })
			if _, err := os.Stat(dir); err != nil {
				t.Fatalf("the killed process's directory: %v", err)
			}
			start(t, ServerConfig{Kind: MariaDB})
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the killed process's directory is still there: %v", err)
			}
			if _, err := os.Stat(living.Dir); err != nil {
				t.Errorf("a living server's directory: %v", err)
			}
		})
	}
}

// killChild runs a process that starts a server, kills it, and gives the server's process id and directory.
func killChild(t *testing.T, mode string) (pid int, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+mode)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fscan(out, &pid, &dir)
	if kill := cmd.Process.Kill(); err != nil || kill != nil {
		t.Fatal(err, kill)
	}
	_ = cmd.Wait()
	return pid, dir
}
