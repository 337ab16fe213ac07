// Package demo is `kingshard demo`: two nodes, each a primary and a replica with real replication, a small shop database
// and the proxy in front, all in one directory that is gone when it ends.
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
}

// Main runs the demo until Ctrl-C and gives the process's exit code.
func Main(args []string) int {
	var o options
	set := flag.NewFlagSet("kingshard demo", flag.ContinueOnError)
	set.StringVar(&o.dir, "dir", "", "`directory` to work in; it is kept. Without it a temporary one is used and removed")
	set.StringVar(&o.addr, "addr", "127.0.0.1:9696", "`address` that the proxy listens on")
	if err := set.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "kingshard demo:", err)
		return 1
	}
	return 0
}

// run starts everything, waits for ctx and stops everything in reverse order.
func run(ctx context.Context, o options) (err error) {
	if err := addrIsFree(o.addr); err != nil {
		return err
	}
	installation, err := mysqltest.FindAny()
	if err != nil {
		return fmt.Errorf("%w\nInstall a server first: apt-get install mariadb-server mariadb-client (Debian, Ubuntu), dnf install mariadb-server (Fedora), brew install mariadb (macOS)", err)
	}
	dir, cleanup, err := workDir(o.dir)
	if err != nil {
		return err
	}
	defer cleanup()
	started := time.Now()
	fmt.Printf("Starting two nodes, each a primary and a replica, with %s in %s\n", installation, dir)
	nodes, err := startNodes(ctx, installation, dir)
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.stop())
		}
	}()
	if err != nil {
		return err
	}
	progress("loading the shop database")
	if err := loadShop(ctx, nodes); err != nil {
		return err
	}
	file := filepath.Join(dir, "ks.yaml")
	if err := writeConfig(file, o.addr, nodes); err != nil {
		return err
	}
	server, err := startProxy(file, dir)
	if err != nil {
		return err
	}
	printNext(o.addr, file, started)
	<-ctx.Done()
	fmt.Println("\nStopping.")
	drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(drain)
}

// addrIsFree says what to do when the proxy's port is taken.
func addrIsFree(addr string) error {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken by another process, perhaps another demo: stop that one, or choose a port with -addr 127.0.0.1:9697", addr)
	}
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another one with -addr", addr, err)
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

// startProxy runs the proxy on the written configuration; its log goes to sys.log in dir.
func startProxy(file, dir string) (*proxy.Server, error) {
	cfg, faults := config.Load(file, config.Options{})
	if cfg == nil {
		return nil, fmt.Errorf("the demo's configuration is not valid: %v", faults)
	}
	logFile, err := os.Create(filepath.Join(dir, "sys.log"))
	if err != nil {
		return nil, err
	}
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(logFile, nil)))
	if err != nil {
		return nil, err
	}
	go func() { _ = server.Serve() }()
	return server, nil
}

func printNext(addr, file string, started time.Time) {
	host, port, _ := net.SplitHostPort(addr)
	fmt.Printf(`
Ready after %.0f seconds. The proxy listens on %s; its configuration is %s.
In another terminal:

  mariadb -h %s -P %s -u shop -pshop shop
  mariadb -h %s -P %s -u shop -pshop shop -e "SELECT * FROM products"

Reads go to the replicas, writes to the primaries:

  SELECT @@server_id, @@read_only;
  SELECT /*master*/ @@server_id, @@read_only;
  /*node2*/ SELECT COUNT(*) FROM shop.visits;          (start the client with -c, so that it keeps comments)
  SHOW PROCESSLIST;

Ctrl-C stops everything.
`, time.Since(started).Seconds(), addr, file, host, port, host, port)
}
