package rig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"

	"kingshard/bench/load"
	"kingshard/mysql/mysqltest"
)

// Kind is what stands before the server.
type Kind string

// The kinds of contenders.
const (
	Direct    Kind = "direct" // nothing
	HAProxy   Kind = "haproxy"
	Kingshard Kind = "kingshard"
)

// Spec is a contender as data. The zero value of a field is the default.
type Spec struct {
	Name string // in reports
	Kind Kind
	// ServerConnsMax is the server's ceiling of connections, default ServerConnsMax.
	ServerConnsMax int

	// TLS: clients use it, with kingshard, or else with the server.
	TLS bool

	// Of kingshard and HAProxy: threads that run at once, GOMAXPROCS and nbthread; default all processors.
	Procs int

	// Of kingshard only:
	Binary   string // path, default that of Options
	MaxConns int    // max_conns_limit of a node, default 2048
	// Shards spreads events over so many nodes; 1 makes sbtest1 a table of one shard; 0 is without rules. All nodes
	// are the same server, unless Servers says otherwise.
	Shards int
	// Servers is how many servers the nodes are spread over; default 1. What is measured of the server is that of the first one.
	Servers int
	// Replicated has the server replicate to another one, which is read from.
	Replicated bool
	// Config are more lines of ks.yaml, each a key of the top level.
	Config string
	// Rules are more rules of tables over the shards, each as it stands in a list of YAML but for db and nodes.
	Rules []string
	// Setup are statements that a client sends it before anything is measured.
	Setup []string
	// Args are more arguments of the program.
	Args []string
}

// Contender is something to make load on, running.
type Contender struct {
	Spec   Spec
	PID    int // of the proxy; 0 without one
	Server *mysqltest.RealServer
	Apart  bool // as in Options

	login   load.Login
	metrics string // address of kingshard's metrics, "" without
	process *process
}

// Open starts a contender; Close ends it.
func (r *Rig) Open(ctx context.Context, s Spec) (*Contender, error) {
	if s.ServerConnsMax == 0 {
		s.ServerConnsMax = ServerConnsMax
	}
	var server *mysqltest.RealServer
	var err error
	if s.Replicated {
		server, err = r.source(ctx)
	} else {
		server, err = r.server(ctx, s.ServerConnsMax)
	}
	if err != nil {
		return nil, err
	}
	c := &Contender{Spec: s, Server: server, Apart: r.options.Apart}
	switch s.Kind {
	case Direct:
		c.login, err = c.serverLogin(server.Addr)
	case HAProxy:
		err = r.openHAProxy(ctx, c)
	case Kingshard:
		err = r.openKingshard(ctx, c)
	default:
		err = fmt.Errorf("no contender of kind %q", s.Kind)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", s.Name, err), c.Close())
	}
	return c, nil
}

// serverLogin says how to connect to the server, or to what relays to it.
func (c *Contender) serverLogin(addr string) (load.Login, error) {
	login := load.Login{Addr: addr, User: mysqltest.User, Password: mysqltest.Password, DB: DB}
	if !c.Spec.TLS {
		return login, nil
	}
	pem, err := os.ReadFile(c.Server.CAFile)
	if err != nil {
		return login, err
	}
	login.TLS, err = clientTLS(pem)
	return login, err
}

// Login says how to connect, to a database of the benchmark.
func (c *Contender) Login(db string) load.Login {
	l := c.login
	l.DB = db
	return l
}

// Reset takes away what earlier runs left in the tables.
func (c *Contender) Reset(ctx context.Context) error { return emptyInsertTables(ctx, c.Server) }

// Close stops the proxy, if there is one.
func (c *Contender) Close() error {
	if c.process == nil {
		return nil
	}
	return c.process.stop()
}

// began notes the contender's process and waits until clients can log in.
func (c *Contender) began(ctx context.Context, p *process, login load.Login) error {
	c.process, c.PID, c.login = p, p.pid(), login
	if err := p.wait(ctx, func() error { return canLogin(login) }); err != nil || len(c.Spec.Setup) == 0 {
		return err
	}
	client, err := load.Dial(login)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, statement := range c.Spec.Setup {
		if _, err := client.Query(statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return nil
}

// canLogin logs in and asks for something.
func canLogin(login load.Login) error {
	client, err := load.Dial(login)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Query("SELECT 1")
	return err
}

func clientTLS(pem []byte) (*tls.Config, error) {
	pool, err := certPool(pem)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}, nil
}
