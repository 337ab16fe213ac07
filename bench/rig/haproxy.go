package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// openHAProxy starts HAProxy as a relay that knows nothing but TCP.
func (r *Rig) openHAProxy(ctx context.Context, c *Contender) error {
	program, err := haproxyPath()
	if err != nil {
		return err
	}
	addrs, err := freeAddrs(1)
	if err != nil {
		return err
	}
	procs := c.Spec.Procs
	if procs == 0 {
		procs = runtime.NumCPU()
	}
	conns, err := haproxyConnsMax()
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`global
  nbthread %d
  maxconn %d
defaults
  mode tcp
  timeout connect 10s
  timeout client 1h
  timeout server 1h
listen mysql
  bind %s backlog 4096
  server mysql %s
`, procs, conns, addrs[0], c.Server.Addr)
	file := filepath.Join(r.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	login, err := c.serverLogin(addrs[0])
	if err != nil {
		return err
	}
	p, err := startProcess(exec.Command(program, "-db", "-f", file), filepath.Join(r.dir, "haproxy.log"), r.options.Apart)
	if err != nil {
		return err
	}
	return c.began(ctx, p, login)
}

// HAProxyVersion names the HAProxy of this machine, "" without one.
func HAProxyVersion() string {
	program, err := haproxyPath()
	if err != nil {
		return ""
	}
	out, err := exec.Command(program, "-v").Output()
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return ""
	}
	return "HAProxy " + fields[2]
}

// haproxyPath finds the program where Debian puts it even when PATH lacks that.
func haproxyPath() (string, error) {
	path, err := exec.LookPath("haproxy")
	if err == nil {
		return path, nil
	}
	if _, err := os.Stat("/usr/sbin/haproxy"); err == nil {
		return "/usr/sbin/haproxy", nil
	}
	return "", fmt.Errorf("there is no haproxy: run make install-servers: %w", err)
}

// haproxyConnsMax is what the limit of open files allows: two for each connection, and some for itself.
func haproxyConnsMax() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	return min(limit.Max, 250_000)/2 - 100, nil
}
