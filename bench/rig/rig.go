package rig

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kingshard/mysql/mysqltest"
)

// Options say what a rig is made of.
type Options struct {
	Kind     mysqltest.Kind
	Proxy    string       // path of the kingshard binary
	Apart    bool         // each program is in a session of its own, sysbench too
	Rows     int          // of the tables that have the constant Rows otherwise, for tests in a hurry; 0 is Rows
	Progress func(string) // told what is being done; nil is nobody
}

// Rig is a set of servers. Its methods are for one goroutine.
type Rig struct {
	options Options
	dir     string
	servers map[int]*mysqltest.RealServer // by their ceiling of connections
	replica *mysqltest.RealServer         // of the server replicated; nil until one is asked for
}

// ServerConnsMax is the ceiling of connections of the server that contenders have unless a Spec says otherwise.
const ServerConnsMax = 6000

// Start starts the server that most scenarios use and fills its tables.
func Start(ctx context.Context, o Options) (*Rig, error) {
	if o.Rows == 0 {
		o.Rows = Rows
	}
	dir, err := os.MkdirTemp("", "kingshard-bench-")
	if err != nil {
		return nil, err
	}
	r := &Rig{options: o, dir: dir, servers: make(map[int]*mysqltest.RealServer)}
	if _, err := r.server(ctx, ServerConnsMax); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close stops the servers and removes all files.
func (r *Rig) Close() error {
	var errs []error
	if r.replica != nil {
		errs = append(errs, r.replica.Stop())
	}
	for _, s := range r.servers {
		errs = append(errs, s.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(r.dir))...)
}

// Version names the servers.
func (r *Rig) Version() string {
	for _, s := range r.servers {
		return s.Version
	}
	return ""
}

// replicated is the ceiling of connections of the server that has a replica, which no other one has.
const replicated = ServerConnsMax - 1

// source gives the server that has a replica; both are started at the first call.
func (r *Rig) source(ctx context.Context) (*mysqltest.RealServer, error) {
	s, err := r.server(ctx, replicated)
	if err != nil || r.replica != nil {
		return s, err
	}
	r.tell("starting its replica")
	c := r.config(replicated)
	c.ReplicaOf = s
	if r.replica, err = mysqltest.StartServer(ctx, c); err != nil {
		return nil, err
	}
	return s, r.replica.CatchUp(ctx)
}

// server gives the server with a ceiling of connections, started at the first call.
func (r *Rig) server(ctx context.Context, connsMax int) (*mysqltest.RealServer, error) {
	if s := r.servers[connsMax]; s != nil {
		return s, nil
	}
	r.tell("starting a server of %d connections", connsMax)
	s, err := mysqltest.StartServer(ctx, r.config(connsMax))
	if err != nil {
		return nil, err
	}
	r.servers[connsMax] = s
	r.tell("filling tables")
	return s, fill(ctx, s, r.options.Rows)
}

// config returns what a server with a ceiling of connections is started with. The one of replicated has a binary log.
func (r *Rig) config(connsMax int) mysqltest.ServerConfig {
	return mysqltest.ServerConfig{
		Kind: r.options.Kind, MaxConnections: connsMax, Binlog: connsMax == replicated, OwnSession: r.options.Apart,
		TLS: r.options.Kind != mysqltest.MySQL56, // for those who ask for it
		Settings: map[string]string{
			"innodb-buffer-pool-size": "512M", "back-log": "4096", "table-open-cache": "8000",
			"thread-cache-size": "2000", "loose-innodb-log-file-size": "256M",
		},
	}
}

func (r *Rig) tell(format string, args ...any) {
	if r.options.Progress != nil {
		r.options.Progress(fmt.Sprintf(format, args...))
	}
}
