package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// supervisor is systemd, or whatever started the process and wants to hear how it is (sd_notify(3)). Zero is nobody.
type supervisor struct {
	conn *net.UnixConn
	// watchdog is how often it wants to hear that the process lives; 0: it does not.
	watchdog time.Duration
	// silent is set while another process is the one that it knows.
	silent *atomic.Bool
}

// findSupervisor follows the environment. A supervisor that cannot be reached is nobody: the proxy serves all the same.
func findSupervisor() supervisor {
	s := supervisor{silent: new(atomic.Bool)}
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" || path[0] != '/' && path[0] != '@' {
		return s
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return s
	}
	s.conn = conn
	if pid := os.Getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 {
			s.watchdog = time.Duration(usec) * time.Microsecond
		}
	}
	return s
}

// tellTimeout bounds the wait for a supervisor that does not read what it is told.
const tellTimeout = time.Second

// tell sends an assignment such as READY=1; nobody hears it where there is nobody.
func (s supervisor) tell(assignment string) {
	if s.conn != nil && !s.silent.Load() {
		_ = s.conn.SetWriteDeadline(time.Now().Add(tellTimeout))
		_, _ = s.conn.Write([]byte(assignment))
	}
}

// reloading says that a reload begins, which READY=1 ends. The time lets systemd tell it from an earlier one.
func (s supervisor) reloading() {
	var now unix.Timespec
	if s.conn != nil && unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		s.tell(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/1000))
	}
}

// ticks ask for a sign of life twice in the time that the supervisor waits for one; never where it waits for none. The caller
// calls stop.
func (s supervisor) ticks() (c <-chan time.Time, stop func()) {
	if s.watchdog == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(s.watchdog / 2)
	return t.C, t.Stop
}

func (s supervisor) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
}
