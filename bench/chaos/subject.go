package chaos

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"kingshard/bench/rig"
	"kingshard/mysql/mysqltest"
)

// setup is what a fault needs of the servers. Those that need the same are run on the same.
type setup uint8

const (
	plain     setup = iota
	clocked         // the servers' clocks can be set
	confined        // the servers' tables are in one file of a fixed size
	setupsEnd       // behind the last one
)

// subject is the servers, what stands before them, the proxy, and the clients' connections to it.
type subject struct {
	kind    mysqltest.Kind
	cluster *rig.Cluster
	dir     string
	web     string                  // host:port of the proxy's /metrics and profiles
	relays  []*mysqltest.Relay      // before the nodes' servers, and the replica
	servers []*mysqltest.RealServer // of the nodes
	replica *mysqltest.RealServer   // nil without
	admins  []*sql.DB               // of the nodes' servers and the replica, past the relays
	db      *sql.DB                 // through the proxy
}

const (
	database = "chaos"
	nodes    = 2
	// connsMax is more connections than clients that wait for the longest that anything may take.
	connsMax = 4000
	// answerMax is how long a client waits for an answer: so long that what is stuck is seen to be.
	answerMax = time.Minute
)

// shard returns the rules of the tables.
func shard(names []string) []string {
	var rules []string
	for _, table := range []string{"entry", "account", "transfer"} {
		rules = append(rules, fmt.Sprintf("{db: %s, table: %s, key: id, nodes: [%s], type: hash, locations: [1, 1]}", database, table, strings.Join(names, ", ")))
	}
	return rules
}

// open starts everything and fills the tables; close ends it.
func open(ctx context.Context, o Options, which setup) (*subject, error) {
	dir, err := os.MkdirTemp("", "kingshard-chaos-")
	if err != nil {
		return nil, err
	}
	s := &subject{kind: o.Kind, dir: dir}
	if err := s.start(ctx, o, which); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *subject) start(ctx context.Context, o Options, which setup) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.web = l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	c := rig.ClusterOptions{
		Kind: o.Kind, Nodes: nodes, DB: database, BufferPool: "64M", Proxy: o.Proxy, Shard: shard, Config: s.config(""), Binlog: true, Replica: which == plain && o.replica(),
		Settings: map[string]string{
			"sync-binlog": "1", "innodb-flush-log-at-trx-commit": "1", "transaction-isolation": "READ-COMMITTED", "loose-rpl-semi-sync-master-wait-point": "AFTER_SYNC",
			"loose-innodb-log-file-size": "48M", "loose-innodb-redo-log-capacity": "64M", "max-connections": "1000",
		},
		Account:  fmt.Sprintf("user: %s, password: %[1]s, allow_public_key_retrieval: true, max_replica_lag: %v", account, lagMax),
		Progress: o.Progress, Front: s.front,
	}
	switch which {
	case confined:
		c.Settings["innodb-data-file-path"], c.Settings["innodb-file-per-table"] = "ibdata1:12M:autoextend:max:64M", "0"
	case clocked:
		if c.Env, err = s.clockEnv(); err != nil {
			return err
		}
	}
	if s.cluster, err = rig.StartCluster(ctx, c); err != nil {
		return err
	}
	return s.fill(ctx)
}

// config is the lines of ks.yaml beside the nodes.
func (s *subject) config(more string) string {
	return fmt.Sprintf("web_addr: %s\ntransaction_mode: atomic\nxa_on_unsafe_server: true\n", s.web) + more
}

// account is the proxy's on the servers: it may do everything but write to a server that is read-only.
const account = "kingshard"

// front prepares a server for the proxy and starts a relay before it.
func (s *subject) front(server *mysqltest.RealServer) (string, error) {
	admin, err := server.DB("")
	if err != nil {
		return "", err
	}
	s.admins = append(s.admins, admin)
	if len(s.relays) < nodes { // a replica has the account from its primary
		if err := makeAccount(admin, server.Kind); err != nil {
			return "", err
		}
	}
	r, err := mysqltest.StartRelay(server.Addr)
	if err != nil {
		return "", err
	}
	s.relays = append(s.relays, r)
	return r.Addr(), nil
}

// makeAccount makes the proxy's account.
func makeAccount(admin *sql.DB, kind mysqltest.Kind) error {
	texts := []string{fmt.Sprintf("CREATE USER %s@'%%' IDENTIFIED BY '%[1]s'", account), "GRANT ALL ON *.* TO " + account + "@'%'"}
	if kind == mysqltest.MariaDB { // the other has super_read_only
		texts = append(texts, "REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM "+account+"@'%'")
	}
	for _, text := range texts {
		if _, err := admin.Exec(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// fill makes the tables through the proxy, and the accounts.
func (s *subject) fill(ctx context.Context) error {
	s.servers, s.replica = s.cluster.Servers()
	login := s.cluster.Login()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = login.User, login.Password, "tcp", login.Addr, database
	c.Timeout, c.ReadTimeout, c.WriteTimeout, c.Logger = answerMax, answerMax, answerMax, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(connector)
	s.db.SetMaxOpenConns(connsMax)
	s.db.SetMaxIdleConns(idleMax)
	var rows []string
	for id := range 2 * accounts {
		rows = append(rows, fmt.Sprintf("(%d, %d)", id, balance))
	}
	for _, text := range []string{
		"CREATE TABLE entry (id BIGINT PRIMARY KEY, v BIGINT NOT NULL, pad VARCHAR(400) NOT NULL)",
		"CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)",
		"CREATE TABLE transfer (id BIGINT PRIMARY KEY, payer BIGINT NOT NULL, payee BIGINT NOT NULL)",
		"INSERT INTO account VALUES " + strings.Join(rows, ", "),
	} {
		if _, err := s.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	if s.replica != nil {
		return s.replica.CatchUp(ctx)
	}
	return nil
}

// idleMax is how many connections clients keep without use.
const idleMax = 50

// hangUp closes the clients' connections that have nothing to do.
func (s *subject) hangUp() {
	s.db.SetMaxIdleConns(-1)
	s.db.SetMaxIdleConns(idleMax)
}

// proxy returns the proxy's process.
func (s *subject) proxy() int {
	_, pid := s.cluster.PIDs()
	return pid
}

// clock is the file that says by how much the servers' clocks are off.
func (s *subject) clock() string { return filepath.Join(s.dir, "clock") }

func (s *subject) close() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	for _, r := range s.relays {
		r.Close()
	}
	for _, a := range s.admins {
		errs = append(errs, a.Close())
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}
