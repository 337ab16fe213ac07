package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/bench/tpcc"
	"kingshard/mysql/mysqltest"
)

// tpccOptions are the command line of bench tpcc.
type tpccOptions struct {
	size       tpcc.Size
	clients    int
	warmup     time.Duration
	duration   time.Duration
	rounds     int
	kills      int
	remote     bool
	prepared   bool
	setups     []tpccSetup
	nodes      int // of those that are sharded
	config     string
	proxy      string
	server     mysqltest.Kind
	bufferPool string
	apart      bool
	seed       uint64
	results    string
	arguments  []string
}

// tpccSetup is what transactions are run on.
type tpccSetup string

// The setups.
const (
	directSetup  tpccSetup = "direct"  // one server
	proxySetup   tpccSetup = "proxy"   // the proxy, one node without rules
	shardedSetup tpccSetup = "sharded" // the proxy, warehouses spread over nodes
	atomicSetup  tpccSetup = "atomic"  // the same, transactions over nodes are kept on all of them or on none
	localSetup   tpccSetup = "local"   // the same, transactions keep to one warehouse and so to one node
)

var tpccSetups = []tpccSetup{directSetup, proxySetup, shardedSetup, atomicSetup, localSetup}

// sharded reports whether warehouses are spread over nodes.
func (s tpccSetup) sharded() bool { return s == shardedSetup || s == atomicSetup || s == localSetup }

// config returns the lines of ks.yaml that the setup has beside those that are given.
func (s tpccSetup) config() string {
	switch s {
	case atomicSetup:
		return "transaction_mode: atomic\nxa_on_unsafe_server: true\n" // the servers of a benchmark do not flush
	case localSetup:
		return "transaction_mode: single\n"
	}
	return ""
}

// parseTPCC reads the command line; what is wrong with it has been printed when ok is false.
func parseTPCC(args []string) (o tpccOptions, ok bool) {
	o.arguments = append([]string{"tpcc"}, args...)
	o.size = tpcc.Standard(3)
	f := flag.NewFlagSet("bench tpcc", flag.ContinueOnError)
	f.IntVar(&o.size.Warehouses, "warehouses", o.size.Warehouses, "warehouses")
	f.IntVar(&o.size.Districts, "districts", o.size.Districts, "districts of a warehouse")
	f.IntVar(&o.size.Customers, "customers", o.size.Customers, "customers of a district")
	f.IntVar(&o.size.Items, "items", o.size.Items, "items")
	f.IntVar(&o.clients, "clients", 16, "clients, which take turns with the warehouses")
	f.DurationVar(&o.warmup, "warmup", 5*time.Second, "time before the measured one")
	f.DurationVar(&o.duration, "duration", time.Minute, "measured time of a turn")
	f.IntVar(&o.rounds, "rounds", 1, "turns of each setup")
	f.IntVar(&o.kills, "kills", 0, "how often in each turn the proxy is killed by SIGKILL and started again at once")
	remote := f.String("remote", "on", "on: 15 % of payments and 1 % of order lines are of another warehouse; off: all transactions keep to one")
	f.BoolVar(&o.prepared, "prepared", false, "clients prepare their statements; else values are in the texts")
	setups := f.String("setups", "direct,proxy,sharded", "what to run on: direct is one server, proxy is kingshard with one node, sharded is kingshard with warehouses spread over nodes, atomic the same with transaction_mode atomic, local the same with single and, whatever -remote is, without transactions of two warehouses")
	f.IntVar(&o.nodes, "nodes", 3, "nodes of the setups sharded, atomic and local, each a server of its own")
	f.StringVar(&o.config, "config", "", "more `lines` of the proxy's ks.yaml, keys of its top level")
	f.StringVar(&o.proxy, "proxy", "", "`path` of kingshard; default: this checkout's, built for the run")
	server := f.String("server", string(mysqltest.MariaDB), "`kind` of server: mariadb or mysql9")
	f.StringVar(&o.bufferPool, "buffer-pool", "512M", "innodb_buffer_pool_size of each server")
	f.BoolVar(&o.apart, "apart", false, "each program in a session of its own, which Linux schedules as a group")
	f.Uint64Var(&o.seed, "seed", 1, "of all that is random")
	f.StringVar(&o.results, "results", "bench/results", "`folder` of runs' files")
	if f.Parse(args) != nil {
		return o, false
	}
	if err := o.finish(*remote, *setups, *server, f.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench tpcc:", err)
		return o, false
	}
	return o, true
}

// finish reads the flags that are texts, and looks whether all of them make sense.
func (o *tpccOptions) finish(remote, setups, server string, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("arguments without a flag: %v", rest)
	}
	if err := o.size.Check(); err != nil {
		return err
	}
	if remote != "on" && remote != "off" {
		return fmt.Errorf("-remote is on or off, not %q", remote)
	}
	o.remote = remote == "on"
	for name := range strings.SplitSeq(setups, ",") {
		if !slices.Contains(tpccSetups, tpccSetup(name)) {
			return fmt.Errorf("no setup %q: there are %v", name, tpccSetups)
		}
		o.setups = append(o.setups, tpccSetup(name))
	}
	if strings.Contains(o.config, "transaction_mode:") && slices.ContainsFunc(o.setups, func(s tpccSetup) bool { return s.config() != "" }) {
		return errors.New("the setups atomic and local have a transaction_mode of their own, which -config may not give")
	}
	if o.server = mysqltest.Kind(server); o.server != mysqltest.MariaDB && o.server != mysqltest.MySQL9 {
		return fmt.Errorf("no server %q", server)
	}
	if o.proxy != "" {
		if _, err := os.Stat(o.proxy); err != nil {
			return err
		}
	}
	if o.clients < 1 || o.rounds < 1 || o.duration <= 0 || o.nodes < 1 || o.kills < 0 {
		return errors.New("-clients, -rounds, -nodes and -duration are above 0, and -kills not below")
	}
	return nil
}
