package rig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kingshard/bench/load"
	"kingshard/mysql/mysqltest"
)

// ClusterOptions say what a cluster is made of.
type ClusterOptions struct {
	Kind  mysqltest.Kind
	Nodes int    // servers
	DB    string // made empty on each
	// BufferPool is each server's innodb_buffer_pool_size, default 512M.
	BufferPool string
	Proxy      string // path of the kingshard binary; "" is none: clients are straight on the first server
	// Shard returns the rules of schema_list[].shard for nodes with these names; nil is none.
	Shard    func(nodes []string) []string
	Config   string // more lines of ks.yaml, each a key of the top level
	Apart    bool   // as in Options
	Progress func(string)
	// Binlog turns on the servers' binary logs, Settings are more of their settings, Env more of their environment.
	Binlog   bool
	Settings map[string]string
	Env      []string
	Replica  bool // the first node has one; it needs Binlog
	// Front returns the address under which the proxy knows a server, of something that stands before it; nil is the server's own.
	Front func(server *mysqltest.RealServer) (addr string, err error)
	// Account is the keys of a node by which the proxy logs in to its servers, as in a mapping of YAML; "" is root's.
	Account string
}

// Cluster is servers, each of which is a node with data of its own, and a proxy before them. Its methods are for one goroutine, but for Login.
type Cluster struct {
	options ClusterOptions
	dir     string
	servers []*mysqltest.RealServer
	replica *mysqltest.RealServer // nil without
	addrs   []string              // of the servers and the replica, as the proxy knows them
	login   load.Login
	proxy   *process // nil without
	starts  int      // of the proxy
}

// StartCluster starts the servers and the proxy; Close ends them.
func StartCluster(ctx context.Context, o ClusterOptions) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "kingshard-bench-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: o, dir: dir}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) open(ctx context.Context) error {
	pool := c.options.BufferPool
	if pool == "" {
		pool = "512M"
	}
	config := mysqltest.ServerConfig{
		Kind: c.options.Kind, OwnSession: c.options.Apart, Progress: c.options.Progress, Binlog: c.options.Binlog, Env: c.options.Env,
		Settings: map[string]string{"innodb-buffer-pool-size": pool, "loose-innodb-log-file-size": "256M", "loose-innodb-redo-log-capacity": "256M"},
	}
	maps.Copy(config.Settings, c.options.Settings)
	for range max(1, c.options.Nodes) {
		s, err := mysqltest.StartServer(ctx, config)
		if err != nil {
			return err
		}
		c.servers = append(c.servers, s)
		if err := makeDatabase(ctx, s, c.options.DB); err != nil {
			return err
		}
	}
	all := c.servers
	if c.options.Replica {
		config.ReplicaOf = c.servers[0]
		var err error
		if c.replica, err = mysqltest.StartServer(ctx, config); err != nil {
			return err
		}
		all = append(slices.Clone(all), c.replica)
	}
	for _, s := range all {
		addr := s.Addr
		if c.options.Front != nil {
			var err error
			if addr, err = c.options.Front(s); err != nil {
				return err
			}
		}
		c.addrs = append(c.addrs, addr)
	}
	c.login = load.Login{Addr: c.servers[0].Addr, User: mysqltest.User, Password: mysqltest.Password, DB: c.options.DB}
	if c.options.Proxy == "" {
		return nil
	}
	addrs, err := freeAddrs(1)
	if err != nil {
		return err
	}
	c.login = load.Login{Addr: addrs[0], User: proxyUser, Password: proxyPassword, DB: c.options.DB}
	if err := c.Configure(c.options.Config); err != nil {
		return err
	}
	return c.startProxy(ctx)
}

// Configure writes the proxy's ks.yaml with other lines in the place of those that the cluster began with. The proxy is not told.
func (c *Cluster) Configure(config string) error {
	c.options.Config = config
	return os.WriteFile(c.configPath(), []byte(c.config()), 0o600)
}

func makeDatabase(ctx context.Context, s *mysqltest.RealServer, name string) error {
	db, err := s.DB("")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	return err
}

func (c *Cluster) configPath() string { return filepath.Join(c.dir, "ks.yaml") }

// config is the proxy's ks.yaml.
func (c *Cluster) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "addr: %s\nmax_client_conns: 0\nstate_path: %s\n", c.login.Addr, filepath.Join(c.dir, "state"))
	if !strings.Contains(c.options.Config, "log_sql:") {
		b.WriteString("log_sql: off\n")
	}
	if c.options.Config != "" {
		b.WriteString(strings.TrimRight(c.options.Config, "\n") + "\n")
	}
	fmt.Fprintf(&b, "user_list:\n- {user: %s, password: %s, rights: read}\nnodes:\n", proxyUser, proxyPassword)
	account := c.options.Account
	if account == "" {
		account = fmt.Sprintf("user: %s, password: %s", mysqltest.User, mysqltest.Password)
	}
	names := make([]string, len(c.servers))
	for i := range c.servers {
		names[i] = "node" + strconv.Itoa(i+1)
		fmt.Fprintf(&b, "- {name: %s, max_conns_limit: %d, %s, master: %q", names[i], maxConnsDefault/2, account, c.addrs[i])
		if i == 0 && c.replica != nil {
			fmt.Fprintf(&b, ", slave: %q", c.addrs[len(c.servers)])
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "schema_list:\n- user: %s\n  nodes: [%s]\n  default: %s\n", proxyUser, strings.Join(names, ", "), names[0])
	if c.options.Shard != nil {
		b.WriteString("  shard:\n")
		for _, rule := range c.options.Shard(names) {
			b.WriteString("  - " + rule + "\n")
		}
	}
	return b.String()
}

// startProxy starts the proxy and waits until clients can log in. What it prints goes into a file of its own each time.
func (c *Cluster) startProxy(ctx context.Context) error {
	c.starts++
	cmd := exec.Command(c.options.Proxy, "-config", c.configPath())
	cmd.Dir = c.dir
	p, err := startProcess(cmd, c.logPath(c.starts), c.options.Apart)
	if err != nil {
		return err
	}
	c.proxy = p
	return p.wait(ctx, func() error { return canLogin(c.login) })
}

// Login says where clients log in, and as whom.
func (c *Cluster) Login() load.Login { return c.login }

// Servers returns the nodes' servers; the replica of the first one is nil without one.
func (c *Cluster) Servers() (primaries []*mysqltest.RealServer, replica *mysqltest.RealServer) {
	return c.servers, c.replica
}

// Version names the servers.
func (c *Cluster) Version() string { return c.servers[0].Version }

// PIDs returns the processes of the servers, and that of the proxy, 0 without one.
func (c *Cluster) PIDs() (servers []int, proxy int) {
	for _, s := range c.servers {
		servers = append(servers, s.PID())
	}
	if c.proxy != nil {
		proxy = c.proxy.pid()
	}
	return servers, proxy
}

// KillProxy ends the proxy by SIGKILL, as a machine that fails would, starts it again at once and waits until clients can log in. An error
// means that it is not what it was when it was called: it had ended by itself, or does not start.
func (c *Cluster) KillProxy(ctx context.Context) error {
	select {
	case <-c.proxy.ended:
		return fmt.Errorf("the proxy ended by itself: %v\n%s", c.proxy.err, c.proxy.tail())
	default:
	}
	if err := c.proxy.cmd.Process.Kill(); err != nil {
		return err
	}
	<-c.proxy.ended
	return c.startProxy(ctx)
}

// ProxyLog returns what the proxy has printed since the first start, "" without one.
func (c *Cluster) ProxyLog() (string, error) {
	var all strings.Builder
	for i := range c.starts {
		text, err := os.ReadFile(c.logPath(i + 1))
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// logPath is the file of what the proxy prints after its start of that number.
func (c *Cluster) logPath(start int) string {
	return filepath.Join(c.dir, fmt.Sprintf("proxy-%d.log", start))
}

// Close stops everything and removes all files.
func (c *Cluster) Close() error {
	var errs []error
	if c.proxy != nil {
		errs = append(errs, c.proxy.stop())
	}
	if c.replica != nil {
		errs = append(errs, c.replica.Stop())
	}
	for _, s := range c.servers {
		errs = append(errs, s.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}
