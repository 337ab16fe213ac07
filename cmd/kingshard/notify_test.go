package main

import (
	"net"
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

// While a reload waits for a server that does not answer, the supervisor has its signs of life, and the end of the proxy does not wait.
func TestEndDuringReload(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts, nor greets
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dir := t.TempDir()
	systemd := mysqltest.ListenNotify(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "")
	file := filepath.Join(dir, "ks.yaml")
	text := planConfig + "connect_timeout: 10m\nlog_path: " + dir + "\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	ended := make(chan int, 1)
	go func() { ended <- run([]string{"-config", file}) }()
	systemd.Hear("READY=1\nSTATUS=serving")
	write(strings.Replace(text, "192.0.2.2:3306", silent.Addr().String(), 1))
	for _, step := range []struct {
		signal syscall.Signal
		hear   []string
	}{{syscall.SIGHUP, []string{"RELOADING=1\n.*", "WATCHDOG=1", "WATCHDOG=1"}}, {syscall.SIGUSR1, []string{"WATCHDOG=1"}}, {syscall.SIGTERM, []string{"STOPPING=1"}}} {
		if err := syscall.Kill(os.Getpid(), step.signal); err != nil {
			t.Fatal(err)
		}
		for _, want := range step.hear {
			systemd.Hear(want)
		}
	}
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
