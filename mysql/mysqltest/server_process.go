package mysqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
	pollInterval = 20 * time.Millisecond
	logLines     = 15 // of a server's log in an error
	crashLines   = 80 // of that of a server that died: it ends with the stack
)

// start runs the process and waits until it serves; after an error it is gone.
func (s *RealServer) start(ctx context.Context) error {
	return s.startAs(ctx, Password)
}

// startAs is start for a server whose root has this password.
func (s *RealServer) startAs(ctx context.Context, password string) error {
	if err := s.spawn(); err != nil {
		return err
	}
	if err := s.waitUp(ctx, password); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// spawn runs the process.
func (s *RealServer) spawn() error {
	owner, err := serverUser()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(s.Dir, "out.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(s.installation.Server, s.args...)
	cmd.SysProcAttr = processAttr(owner, s.ownSession)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, out, out
	cmd.Env = append(os.Environ(), s.env...)
	if s.owner != nil {
		cmd.ExtraFiles = []*os.File{s.owner} // the directory is in use until the server is gone, too
	}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		// A server dies with the thread that started it, so that thread stays until the server is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-ended
		return err
	}
	s.cmd, s.ended = cmd, ended
	s.sent.Store(false)
	return nil
}

// waitUp pings until the server answers. It asks by the socket, which is this server's for certain.
func (s *RealServer) waitUp(ctx context.Context, password string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := s.driverConfig("")
	c.Net, c.Addr, c.Passwd = "unix", s.Socket, password
	db, err := openDB(c)
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			if password != Password {
				return nil
			}
			// A proxy may be the first that logs in without TLS: caching_sha2_password takes that from accounts that it has seen since the start.
			return s.seen(ctx)
		}
		if _, ok := errors.AsType[*mysql.MySQLError](err); ok {
			return fmt.Errorf("the server does not let root in: %w", err)
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server ended while it started:\n%s", s.lastWords(logLines))
		case <-ctx.Done():
			return fmt.Errorf("the server did not come up (%w):\n%s", err, s.lastWords(logLines))
		case <-time.After(pollInterval):
		}
	}
}

// seen logs root in by TCP, if the server's settings let it.
func (s *RealServer) seen(ctx context.Context) error {
	db, err := s.DB("")
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.PingContext(ctx)
	if _, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return nil
	}
	return err
}

// lastWords are the last lines of what the server wrote.
func (s *RealServer) lastWords(n int) string {
	var text string
	for _, name := range []string{"out.log", "error.log"} {
		data, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			text += err.Error() + "\n"
		}
		text += string(data)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// PID is the process's id.
func (s *RealServer) PID() int { return s.cmd.Process.Pid }

// Kill ends the server at once, as a crash would, and returns when it is gone.
func (s *RealServer) Kill() {
	s.sent.Store(true)
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.ended
}

// Pause stops the server from running without closing anything: to its peers it is a black hole.
func (s *RealServer) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (s *RealServer) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// crash is nil while the server runs and after an end that it was sent, and otherwise says how it ended: errors that a test got of such a server
// are not the tested code's.
func (s *RealServer) crash() error {
	select {
	case <-s.ended:
	default:
		return nil
	}
	if s.sent.Load() {
		return nil
	}
	return fmt.Errorf("%s on %s ended by itself (%s):\n%s", s.Version, s.Addr, s.cmd.ProcessState, s.lastWords(crashLines))
}

// Restart ends the server in order if it still runs, and starts it with the same data, port and settings. One that crashed is not started: that
// is the error.
func (s *RealServer) Restart(ctx context.Context) error {
	if err := s.crash(); err != nil {
		return err
	}
	s.terminate()
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", s.Version, err)
	}
	return nil
}

// Stop ends the server in order, after 20 seconds at once, and removes its directory if that is a temporary one. It may
// be called again. That the server crashed before is an error, with the end of its log.
func (s *RealServer) Stop() error {
	var crashed error
	if s.cmd != nil {
		crashed = s.crash()
		s.terminate()
	}
	err := errors.Join(crashed, s.removeDir())
	if s.reserved != nil {
		_ = s.reserved.Close()
		s.reserved = nil
	}
	return err
}

// terminate ends the process and returns when it is gone.
func (s *RealServer) terminate() {
	s.sent.Store(true)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.Resume()
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		s.Kill()
	}
}
