package mysqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// User and Password are the account with all rights that every server has.
const (
	User     = "root"
	Password = "root"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// ServerConfig says what to start; the zero values but for Kind are fine.
type ServerConfig struct {
	Kind           Kind
	Dir            string      // "": a temporary one, removed by Stop
	Port           int         // 0: a free one
	ServerID       int         // 0: the port
	ReplicaOf      *RealServer // replicate from this one by GTID, read-only
	Binlog         bool
	TLS            bool              // make a certificate; CAFile of the server names its authority
	Settings       map[string]string // of the server, without leading dashes
	MaxConnections int               // 0: 2000
	Progress       func(string)      // told what is being done; may be nil
}

// RealServer is a server that this process started.
type RealServer struct {
	Kind    Kind
	Addr    string // host:port
	Port    int
	Dir     string
	Socket  string
	CAFile  string
	Version string

	installation Installation
	args         []string
	temporary    bool
	cmd          *exec.Cmd
	ended        chan struct{} // closed when the process is gone
}

// StartServer starts a server and waits until it serves. The first of a kind initialises a data directory that later
// ones copy.
func StartServer(ctx context.Context, c ServerConfig) (*RealServer, error) {
	installation, err := Find(c.Kind)
	if err != nil {
		return nil, err
	}
	s := &RealServer{Kind: c.Kind, Dir: c.Dir, Port: c.Port, Version: installation.Version, installation: installation}
	if s.Port == 0 {
		if s.Port, err = freePort(); err != nil {
			return nil, err
		}
	}
	s.Addr = fmt.Sprintf("127.0.0.1:%d", s.Port)
	if err := s.prepare(ctx, c); err != nil {
		s.removeDir()
		return nil, fmt.Errorf("%s: %w", c.Kind, err)
	}
	tell(c.Progress, "starting on "+s.Addr)
	if err := s.start(ctx); err != nil {
		s.removeDir()
		return nil, fmt.Errorf("%s: %w", c.Kind, err)
	}
	if c.ReplicaOf != nil {
		tell(c.Progress, "replicating from "+c.ReplicaOf.Addr)
		if err := s.replicate(ctx, c.ReplicaOf); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", c.Kind, err), s.Stop())
		}
	}
	return s, nil
}

func tell(progress func(string), text string) {
	if progress != nil {
		progress(text)
	}
}

// prepare makes the server's directory from the template and its arguments.
func (s *RealServer) prepare(ctx context.Context, c ServerConfig) error {
	if s.Dir == "" {
		dir, err := os.MkdirTemp("", "kingshard-server-")
		if err != nil {
			return err
		}
		s.Dir, s.temporary = dir, true
	}
	data := filepath.Join(s.Dir, "data")
	if err := os.MkdirAll(filepath.Join(s.Dir, "tmp"), 0o755); err != nil {
		return err
	}
	if err := os.Chmod(s.Dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		template, err := templateOf(ctx, s.installation, c.Progress)
		if err != nil {
			return err
		}
		if err := copyTree(template, data); err != nil {
			return err
		}
	}
	s.Socket = filepath.Join(s.Dir, "s.sock")
	settings := baseSettings(s.installation.Kind, s.Dir)
	settings["port"] = fmt.Sprint(s.Port)
	settings["socket"] = s.Socket
	settings["server-id"] = fmt.Sprint(c.ServerID)
	if c.ServerID == 0 {
		settings["server-id"] = fmt.Sprint(s.Port)
	}
	if c.MaxConnections > 0 {
		settings["max-connections"] = fmt.Sprint(c.MaxConnections)
	}
	if c.Binlog || c.ReplicaOf != nil {
		binlogSettings(s.installation.Kind, settings)
	}
	if c.TLS {
		if err := s.makeCertificates(settings); err != nil {
			return err
		}
	}
	for k, v := range c.Settings {
		settings[k] = v
	}
	s.args = append(append([]string{"--no-defaults"}, s.installation.args...), flatten(settings)...)
	owner, err := serverUser()
	if err != nil {
		return err
	}
	return giveTo(owner, s.Dir)
}

// baseSettings are those of every server: small, quick to start, on loopback.
func baseSettings(kind Kind, dir string) map[string]string {
	m := map[string]string{
		"datadir": filepath.Join(dir, "data"), "tmpdir": filepath.Join(dir, "tmp"), "log-error": filepath.Join(dir, "error.log"),
		"pid-file": filepath.Join(dir, "pid"), "bind-address": "127.0.0.1", "skip-name-resolve": "1",
		"innodb-buffer-pool-size": "128M", "innodb-flush-log-at-trx-commit": "2", "max-connections": "2000",
		"max-allowed-packet": "1G", "local-infile": "1", "performance-schema": "OFF", "secure-file-priv": "",
		"max-prepared-stmt-count": "200000", "max-connect-errors": "1000000", "event-scheduler": "OFF", "back-log": "1024",
	}
	if kind == MariaDB {
		m["innodb-log-file-size"] = "48M"
		m["loose-plugin-load-add"] = "auth_ed25519"
	} else {
		m["innodb-redo-log-capacity"] = "64M"
		m["mysqlx"] = "OFF"
		m["disable-log-bin"] = "1"
	}
	return m
}

// binlogSettings turn on the binary log and what GTID replication needs.
func binlogSettings(kind Kind, m map[string]string) {
	delete(m, "disable-log-bin")
	m["log-bin"] = "binlog"
	m["binlog-format"] = "ROW"
	m["relay-log"] = "relay"
	m["log-slave-updates"] = "1"
	if kind != MariaDB {
		delete(m, "log-slave-updates")
		m["gtid-mode"] = "ON"
		m["enforce-gtid-consistency"] = "ON"
	}
}

func flatten(settings map[string]string) []string {
	args := make([]string, 0, len(settings))
	for k, v := range settings {
		args = append(args, "--"+k+"="+v)
	}
	sort.Strings(args)
	return args
}

// start runs the process and waits until it serves.
func (s *RealServer) start(ctx context.Context) error {
	owner, err := serverUser()
	if err != nil {
		return err
	}
	s.cmd = exec.Command(s.installation.Server, s.args...)
	s.cmd.SysProcAttr = processAttr(owner)
	s.cmd.Dir = s.Dir
	started := make(chan error, 1)
	s.ended = make(chan struct{})
	go func() {
		// A server dies with the thread that started it, so that thread stays until the server is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
		}
		close(s.ended)
	}()
	if err := <-started; err != nil {
		return err
	}
	if err := s.waitUp(ctx); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// waitUp pings until the server answers.
func (s *RealServer) waitUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	db, err := s.DB("")
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server ended while it started:\n%s", s.errorLog())
		case <-ctx.Done():
			return fmt.Errorf("the server did not come up (%w):\n%s", err, s.errorLog())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// errorLog gives the last lines of the server's log.
func (s *RealServer) errorLog() string {
	data, err := os.ReadFile(filepath.Join(s.Dir, "error.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// DSN is a data source name of go-sql-driver for the root account.
func (s *RealServer) DSN(db string) string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = User, Password, "tcp", s.Addr, db
	c.AllowNativePasswords = true
	c.Logger = &mysql.NopLogger{}
	return c.FormatDSN()
}

// DB opens a driver's pool for the root account.
func (s *RealServer) DB(db string) (*sql.DB, error) {
	c, err := mysql.ParseDSN(s.DSN(db))
	if err != nil {
		return nil, err
	}
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// PID is the server's process id.
func (s *RealServer) PID() int { return s.cmd.Process.Pid }

// Kill ends the server at once, as a crash would.
func (s *RealServer) Kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.ended
}

// Pause stops the server from running without closing anything: to its peers it is a black hole.
func (s *RealServer) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (s *RealServer) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// Restart starts the server again after Kill, with the same data and port.
func (s *RealServer) Restart(ctx context.Context) error { return s.start(ctx) }

// Stop ends the server in order, at once if it does not obey, and removes its temporary directory.
func (s *RealServer) Stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		s.Kill()
	}
	return s.removeDir()
}

func (s *RealServer) removeDir() error {
	if !s.temporary {
		return nil
	}
	return os.RemoveAll(s.Dir)
}

// freePort gives a loopback port that nobody listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
