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
	"strconv"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// ServerConfig says what to start. Only Kind is needed.
type ServerConfig struct {
	Kind Kind
	// Dir is a directory of the server's own; one that holds a server's data already is started again with it, and Stop
	// leaves it. "" is a temporary one that Stop removes.
	Dir string
	// Port is on 127.0.0.1; 0 is a free one.
	Port int
	// ServerID is the server's id for replication, above 0; 0 is the port.
	ServerID int
	// ReplicaOf is the server to replicate from by GTID; it must have Binlog. The replica is read-only and has a binary
	// log, too. nil is a primary.
	ReplicaOf *RealServer
	// Binlog turns on the binary log, by row and with GTIDs.
	Binlog bool
	// TLS gives the server a certificate for 127.0.0.1 and localhost; CAFile of the server is its authority. Without it
	// MariaDB has no TLS, and MySQL has it with a certificate that names nothing. MySQL56 cannot have it: its library
	// speaks no version that clients still take.
	TLS bool
	// Settings are of the server, without leading dashes; they win over ours.
	Settings map[string]string
	// Env are more variables of the process's environment, each as NAME=value.
	Env []string
	// MaxConnections is the server's ceiling; 0 is 2000.
	MaxConnections int
	// OwnSession gives the process a session of its own, as a service manager does; Linux schedules each as a group, see autogroup in
	// sched(7). Without it it is in the caller's.
	OwnSession bool
	// Progress is told what is being done, in a few words; nil is nobody.
	Progress func(string)
}

// RealServer is a server that this process started. DSN and DB may be called by several goroutines, what starts and ends
// the process by one at a time.
type RealServer struct {
	Kind    Kind
	Addr    string // host:port
	Port    int
	Dir     string // data, sockets, logs
	Socket  string // path of its Unix socket
	CAFile  string // path of the certificate authority in PEM, "" without TLS
	Version string // for people, such as "MariaDB 10.11.6"

	installation Installation
	args, env    []string
	source       *RealServer // nil for a primary
	binlog       bool
	ownSession   bool
	owner        *os.File // locked while the temporary Dir is in use; nil for a Dir that stays
	reserved     *os.File // locked while Port is kept for this server; nil for a Port that the caller chose
	cmd          *exec.Cmd
	ended        chan struct{} // closed when the process is gone
	sent         atomic.Bool   // a signal that ends it
}

// StartServer starts a server and waits until it serves, and a replica until it has caught up. The first server of a
// version initialises a data directory, which takes seconds; all later ones copy it. ctx bounds the start only.
func StartServer(ctx context.Context, c ServerConfig) (*RealServer, error) {
	installation, err := Find(c.Kind)
	if err != nil {
		return nil, err
	}
	s := &RealServer{
		Kind: c.Kind, Port: c.Port, Version: installation.Version, installation: installation, env: c.Env,
		source: c.ReplicaOf, binlog: c.Binlog || c.ReplicaOf != nil, ownSession: c.OwnSession,
	}
	if err := s.open(ctx, c); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", s.Version, err), s.Stop())
	}
	return s, nil
}

// open does the work of StartServer; after an error Stop cleans up.
func (s *RealServer) open(ctx context.Context, c ServerConfig) error {
	if c.TLS && c.Kind == MySQL56 {
		return errors.New("it has no TLS that clients still take")
	}
	if c.ReplicaOf != nil && !c.ReplicaOf.binlog {
		return fmt.Errorf("the server at %s has no binary log to replicate", c.ReplicaOf.Addr)
	}
	if s.Port == 0 {
		var err error
		if s.Port, s.reserved, err = takePort(); err != nil {
			return err
		}
	}
	s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	if err := s.makeDir(ctx, c); err != nil {
		return err
	}
	if err := s.configure(c); err != nil {
		return err
	}
	tell(c.Progress, "starting on "+s.Addr)
	if err := s.start(ctx); err != nil {
		return err
	}
	if c.ReplicaOf == nil {
		return nil
	}
	tell(c.Progress, "replicating from "+c.ReplicaOf.Addr)
	return s.replicate(ctx)
}

func tell(progress func(string), text string) {
	if progress != nil {
		progress(text)
	}
}

// configure makes the server's arguments and what they refer to.
func (s *RealServer) configure(c ServerConfig) error {
	m := baseSettings(s.installation, s.Dir)
	m["port"] = strconv.Itoa(s.Port)
	m["server-id"] = strconv.Itoa(s.Port)
	if c.ServerID > 0 {
		m["server-id"] = strconv.Itoa(c.ServerID)
	}
	if c.MaxConnections > 0 {
		m["max-connections"] = strconv.Itoa(c.MaxConnections)
	}
	if s.binlog {
		m.logBinary(s.installation)
		m["report-port"] = m["port"]
	}
	if s.source != nil {
		m["read-only"] = "1"
	}
	if c.TLS {
		ca, cert, key, err := WriteCertificates(filepath.Join(s.Dir, "tls"))
		if err != nil {
			return err
		}
		s.CAFile = ca
		m["ssl-ca"], m["ssl-cert"], m["ssl-key"] = ca, cert, key
	}
	m.set(c.Settings)
	s.args = append(append([]string{"--no-defaults"}, s.installation.args...), m.args()...)
	return s.giveAway()
}

// DSN is a data source name of go-sql-driver for the root account.
func (s *RealServer) DSN(db string) string { return s.driverConfig(db).FormatDSN() }

// DB opens a driver's pool for the root account, which the caller closes.
func (s *RealServer) DB(db string) (*sql.DB, error) { return openDB(s.driverConfig(db)) }

func (s *RealServer) driverConfig(db string) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = User, Password, "tcp", s.Addr, db
	return c
}

// openDB opens a pool that logs nothing: its errors while a server starts or is killed are no news.
func openDB(c *mysql.Config) (*sql.DB, error) {
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
