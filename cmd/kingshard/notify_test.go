package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// Systemd hears when the proxy is ready, that it lives, when it reloads, with what outcome, and that it stops.
func TestNotify(t *testing.T) {
	dir := t.TempDir()
	systemd := mysqltest.ListenNotify(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "")
	file := filepath.Join(dir, "ks.yaml")
	text := planConfig + "log_path: " + dir + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- run([]string{"-config", file}) }()
	signal := func(s syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	systemd.Hear("READY=1\nSTATUS=serving")
	systemd.Hear("WATCHDOG=1")
	systemd.Hear("WATCHDOG=1")
	signal(syscall.SIGHUP)
	systemd.Hear("RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+")
	systemd.Hear("READY=1\nSTATUS=serving")
	if err := os.WriteFile(file, []byte(text+"no_such_key: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	signal(syscall.SIGUSR1)
	systemd.Hear("RELOADING=1\n.*")
	systemd.Hear("READY=1\nSTATUS=serving; the last reload was refused, see the log")
	signal(syscall.SIGTERM)
	systemd.Hear("STOPPING=1")
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Without a supervisor, or with one that is not there, nothing happens.
func TestNobodyToNotify(t *testing.T) {
	for _, socket := range []string{"", "no path", filepath.Join(t.TempDir(), "gone"), "/" + strings.Repeat("x", 200)} {
		t.Setenv("NOTIFY_SOCKET", socket)
		t.Setenv("WATCHDOG_USEC", "1000")
		s := findSupervisor()
		s.tell("READY=1")
		s.reloading()
		if ticks, stop := s.ticks(); ticks != nil {
			t.Errorf("%q: signs of life for nobody", socket)
		} else {
			stop()
		}
		s.close()
	}
	mysqltest.ListenNotify(t)
	for pid, want := range map[string]time.Duration{"1": 0, "": time.Millisecond} {
		t.Setenv("WATCHDOG_PID", pid)
		s := findSupervisor()
		if s.watchdog != want {
			t.Errorf("WATCHDOG_PID %q: %v, want %v", pid, s.watchdog, want)
		}
		s.close()
	}
}
