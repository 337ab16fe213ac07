// Package demo is `kingshard demo`: two nodes, each a primary and a replica with real replication, a small sharded shop and
// the proxy in front, all in one directory that is gone when it ends.
package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// options are the command line of the demo.
type options struct {
	dir  string
	addr string
	web  string
}

// About says what the demo is.
const About = `Starts two nodes, each a primary and a replica with real replication, loads a small sharded shop, runs the proxy in front and says
what to type. Ctrl-C stops all of it. It needs mariadbd or mysqld on this machine.`

// Bind adds the demo's flags and gives what runs it until Ctrl-C, with the process's exit code.
func Bind(set *flag.FlagSet) func(args []string) int {
	var o options
	set.StringVar(&o.dir, "dir", "", "`directory` to work in; it is kept with its data for the next time. Without it a temporary one is used and removed")
	set.StringVar(&o.addr, "addr", "127.0.0.1:9696", "`address` that the proxy listens on")
	set.StringVar(&o.web, "web", "127.0.0.1:9797", "`address` of the console")
	return func([]string) int { return serve(o) }
}

func serve(o options) int {
	// SIGHUP is a terminal that was closed: nothing may be left then either.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "kingshard demo:", err)
		return 1
	}
	return 0
}

// run starts everything, waits for ctx and stops everything in reverse order.
func run(ctx context.Context, o options) error {
	r, err := open(ctx, o)
	if err != nil {
		return err
	}
	r.printNext()
	<-ctx.Done()
	fmt.Println("\nStopping.")
	return r.close()
}

// running is the demo while it runs.
type running struct {
	dir     string
	cleanup func() // removes dir if it is a temporary one
	nodes   []*node
	file    string // the configuration
	proxy   *startedProxy
	took    time.Duration // to start
}

// open starts servers and proxy and loads the shop. The caller closes what it returns; with an error nothing is left.
func open(ctx context.Context, o options) (r *running, err error) {
	if err := addrIsFree("addr", o.addr); err != nil {
		return nil, err
	}
	if err := addrIsFree("web", o.web); err != nil {
		return nil, err
	}
	installation, err := mysqltest.FindAny()
	if err != nil {
		return nil, fmt.Errorf("%w\nInstall a server first: apt-get install mariadb-server mariadb-client (Debian, Ubuntu), dnf install mariadb-server (Fedora), brew install mariadb (macOS)", err)
	}
	r = new(running)
	if r.dir, r.cleanup, err = workDir(o.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
			r = nil
		}
	}()
	started := time.Now()
	fmt.Printf("Starting two nodes, each a primary and a replica, with %s in %s\n", installation, r.dir)
	if r.nodes, err = startNodes(ctx, installation, r.dir); err != nil {
		return r, err
	}
	r.file = filepath.Join(r.dir, "ks.yaml")
	if err := writeConfig(r.file, o, r.nodes); err != nil {
		return r, err
	}
	cfg, faults := config.Load(r.file, config.Options{})
	if cfg == nil {
		return r, fmt.Errorf("the demo's configuration is not valid: %v", faults)
	}
	if err := r.serveShop(ctx, cfg); err != nil {
		return r, err
	}
	// The first query shall find its rows on the replicas.
	for _, n := range r.nodes {
		if err := n.replica.CatchUp(ctx); err != nil {
			return r, err
		}
	}
	r.took = time.Since(started)
	return r, nil
}

// serveShop starts the proxy before the shop that the directory keeps from the last time, or before a new one.
func (r *running) serveShop(ctx context.Context, cfg *config.Config) error {
	tables, err := physicalTables(cfg.SchemaList[0])
	if err != nil {
		return err
	}
	primaries, err := openPrimaries(r.nodes)
	defer func() {
		for _, db := range primaries {
			_ = db.Close()
		}
	}()
	if err != nil {
		return err
	}
	loaded := filepath.Join(r.dir, loadedFile)
	_, err = os.Stat(loaded)
	kept := err == nil
	if kept {
		progress("the shop is the one of the last time")
		err = checkTables(ctx, primaries, tables, r.dir)
	} else {
		progress("making the shop's tables on both nodes")
		err = makeTables(ctx, primaries, tables)
	}
	if err != nil {
		return err
	}
	if r.proxy, err = startProxy(cfg, r.dir, r.file); err != nil || kept {
		return err
	}
	progress("loading the shop through the proxy")
	if err := loadRows(ctx, r.addr()); err != nil {
		return err
	}
	return os.WriteFile(loaded, nil, 0o600)
}

// addr is where the proxy listens.
func (r *running) addr() string { return r.proxy.server.Addr().String() }

// close stops everything that was started, in reverse order.
func (r *running) close() error {
	var err error
	if r.proxy != nil {
		err = r.proxy.stop()
	}
	for _, n := range slices.Backward(r.nodes) {
		err = errors.Join(err, n.stop())
	}
	r.cleanup()
	return err
}

// addrIsFree says what to do when a port of the proxy is taken; flag is what chooses another.
func addrIsFree(flag, addr string) error {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken by another process, perhaps another demo: stop that one, or choose another port with -%s", addr, flag)
	}
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another one with -%s", addr, err, flag)
	}
	return l.Close()
}

// workDir gives the demo's directory and what to do with it at the end.
func workDir(dir string) (string, func(), error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", nil, fmt.Errorf("cannot make %s: %w; choose a directory that you may write to", dir, err)
		}
		abs, err := filepath.Abs(dir)
		return abs, func() {}, err
	}
	dir, err := os.MkdirTemp("", "kingshard-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("cannot make a temporary directory: %w; choose one with -dir", err)
	}
	// Servers started as root run as another user, who must reach their data below.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

func progress(text string) { fmt.Println("  " + text) }

// startedProxy is the proxy with its log.
type startedProxy struct {
	server *proxy.Server
	served chan error // what Serve returned
	log    *os.File
}

// startProxy runs the proxy; its log goes to sys.log in dir, and KS RELOAD reads file.
func startProxy(cfg *config.Config, dir, file string) (*startedProxy, error) {
	log, err := os.Create(filepath.Join(dir, "sys.log"))
	if err != nil {
		return nil, err
	}
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		_ = log.Close()
		return nil, err
	}
	server.SetFile(config.File{Path: file})
	p := &startedProxy{server: server, served: make(chan error, 1), log: log}
	go func() { p.served <- server.Serve() }()
	return p, nil
}

// stop drains the proxy and waits for its end.
func (p *startedProxy) stop() error {
	drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := p.server.Shutdown(drain)
	return errors.Join(err, <-p.served, p.log.Close())
}

// firstStatements are what the demo says to type next: the ways in which queries on sharded tables run.
var firstStatements = []struct{ about, text string }{
	{"One user: the id says which server, and which of its tables", "SELECT * FROM users WHERE id = 8"},
	{"All of them, in order: both servers sort, the proxy merges", "SELECT id, name, country FROM users ORDER BY joined DESC LIMIT 3"},
	{"Groups over all shards: each server sums up its part", "SELECT product_id, COUNT(*) AS orders, SUM(amount) AS amount FROM orders GROUP BY product_id ORDER BY product_id"},
	{"A join on the sharding key: a user's orders are beside the user", "SELECT u.name, o.id, o.amount FROM users u JOIN orders o ON o.user_id = u.id WHERE o.amount > 38 ORDER BY o.amount DESC, o.id"},
	{"Any other join and group: rows are collected on one server, which runs the statement", "SELECT c.name, p.name AS product, SUM(o.quantity) AS pieces FROM users u JOIN orders o ON o.user_id = u.id JOIN countries c ON c.code = u.country JOIN products p ON p.id = o.product_id GROUP BY c.name, p.name ORDER BY pieces DESC, c.name, p.name LIMIT 4"},
	{"Two months: the dates say which tables", "SELECT day, page FROM events WHERE day BETWEEN '2026-03-01' AND '2026-04-30' ORDER BY day"},
	{"How it is done", "EXPLAIN SELECT id, name, country FROM users ORDER BY joined DESC LIMIT 3"},
}

func (r *running) printNext() {
	host, port, _ := net.SplitHostPort(r.addr())
	fmt.Printf(`
Ready after %.0f seconds. The proxy listens on %s; its configuration is %s.
The tables users, orders and events are in pieces on both nodes; products is on node1. In another terminal:

  mariadb -h %s -P %s -u %s -p%s %s

`, r.took.Seconds(), r.addr(), r.file, host, port, shopUser, shopPassword, database)
	for _, s := range firstStatements {
		fmt.Printf("%s:\n  %s;\n\n", s.about, s.text)
	}
	fmt.Printf(`A read that one server answers goes to its replica; the rest, and what spans several, to the primaries:
  SELECT @@server_id, @@read_only;
  SELECT /*master*/ @@server_id, @@read_only;
  /*node2*/ SELECT COUNT(*) FROM users_0002;          (start the client with -c, so that it keeps comments)
  SHOW PROCESSLIST;

What the proxy does: which statements take the time, which sessions are pinned and why, how the rows are spread.
  http://%s/                                 (in a browser; user %s, password %s)
  SHOW KS DIGESTS;
  SHOW KS NODES;
  KS EXPLAIN UPDATE orders SET quantity = 2 WHERE user_id = 8;
  KS HELP;

Ctrl-C stops everything.
`, r.proxy.server.WebAddr(), shopUser, shopPassword)
}
