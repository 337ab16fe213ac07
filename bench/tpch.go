package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"kingshard/bench/procstat"
	"kingshard/bench/rig"
	"kingshard/bench/tpch"
	"kingshard/mysql/mysqltest"
)

// tpchOptions are the command line of bench tpch.
type tpchOptions struct {
	scale   float64
	server  mysqltest.Kind
	run     *regexp.Regexp
	rounds  int
	limit   time.Duration
	nodes   int
	explain bool
	proxy   string
	config  string
}

func parseTPCH(args []string) (o tpchOptions, ok bool) {
	f := flag.NewFlagSet("bench tpch", flag.ContinueOnError)
	f.Float64Var(&o.scale, "scale", 0.01, "rows, as a part of those of scale 1, which has 6 million lines of orders")
	server := f.String("server", string(mysqltest.MariaDB), "`kind` of server: mariadb or mysql9")
	run := f.String("run", "", "queries to run, a regular `expression` on their names, such as ^Q(1|21)$; default: all")
	f.IntVar(&o.rounds, "rounds", 3, "times that each query is run; the fastest counts")
	f.DurationVar(&o.limit, "limit", time.Minute, "time after which a query is given up")
	f.IntVar(&o.nodes, "nodes", 3, "nodes, each a server of its own")
	f.BoolVar(&o.explain, "explain", false, "show what each query sends to servers, measured")
	f.StringVar(&o.proxy, "proxy", "", "`path` of kingshard; default: this checkout's, built for the run")
	f.StringVar(&o.config, "config", "", "more `lines` of the proxy's ks.yaml, keys of its top level")
	if f.Parse(args) != nil {
		return o, false
	}
	o.server = mysqltest.Kind(*server)
	var err error
	o.run, err = regexp.Compile(*run)
	switch {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("arguments without a flag: %v", f.Args())
	case o.server != mysqltest.MariaDB && o.server != mysqltest.MySQL9:
		err = fmt.Errorf("-server is mariadb or mysql9, not %q", o.server)
	case o.scale <= 0 || o.rounds < 1 || o.nodes < 1 || o.limit <= 0:
		err = errors.New("-scale, -rounds, -nodes and -limit are more than 0")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench tpch:", err)
		return o, false
	}
	return o, true
}

// runTPCH is bench tpch with an exit code: 0 done, 1 failed or an answer differs, 2 wrong arguments.
func runTPCH(ctx context.Context, args []string) int {
	o, ok := parseTPCH(args)
	if !ok {
		return 2
	}
	if err := measureTPCH(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench tpch:", err)
		return 1
	}
	return 0
}

// tpchSide is one server, or the proxy.
type tpchSide struct {
	cluster *rig.Cluster
	db      *sql.DB
	idle    int // resident memory of the proxy at its start, in KiB
}

func openTPCH(ctx context.Context, o tpchOptions, cluster rig.ClusterOptions) (*tpchSide, error) {
	cluster.Kind, cluster.DB = o.server, tpch.DB
	c, err := rig.StartCluster(ctx, cluster)
	if err != nil {
		return nil, err
	}
	login := c.Login()
	s := &tpchSide{cluster: c}
	if s.db, err = sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s?maxAllowedPacket=0", login.User, login.Password, login.Addr, tpch.DB)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	s.db.SetMaxOpenConns(1)
	if idle, err := s.memory(); err != nil {
		return nil, errors.Join(err, s.close())
	} else {
		s.idle = idle.RSS
	}
	began := time.Now()
	if err := tpch.Load(ctx, s.db, o.scale, 1); err != nil {
		return nil, errors.Join(fmt.Errorf("load: %w", err), s.close())
	}
	progress(fmt.Sprintf("loaded in %.0f s", time.Since(began).Seconds()))
	return s, nil
}

// memory returns what the proxy takes; nothing without one.
func (s *tpchSide) memory() (m procstat.Memory, err error) {
	if _, proxy := s.cluster.PIDs(); proxy != 0 {
		m, err = procstat.ReadMemory(proxy)
	}
	return m, err
}

func (s *tpchSide) close() error { return errors.Join(s.db.Close(), s.cluster.Close()) }

// tpchAnswer is what came of a query.
type tpchAnswer struct {
	rows []string
	took time.Duration
	err  error
}

// What is said of a query whose answer is the server's.
const (
	tpchEqual = "equal"
	tpchSlow  = "equal, slow"
)

// beside says how an answer compares with the server's.
func (a *tpchAnswer) beside(server tpchAnswer) string {
	switch {
	case server.err != nil:
		return "the server: " + server.err.Error()
	case a.err != nil:
		return a.err.Error()
	case !slices.Equal(a.rows, server.rows):
		return fmt.Sprintf("DIFFERS: %d rows, %d of the server", len(a.rows), len(server.rows))
	case a.took > 10*server.took+50*time.Millisecond:
		return tpchSlow
	}
	return tpchEqual
}

// ask runs a query so many times.
func (s *tpchSide) ask(ctx context.Context, o tpchOptions, text string) (best tpchAnswer) {
	for round := range o.rounds {
		bounded, cancel := context.WithTimeout(ctx, o.limit)
		began := time.Now()
		rows, err := tpchRows(bounded, s.db, text)
		took := time.Since(began)
		cancel()
		if err != nil {
			return tpchAnswer{err: err, took: took}
		}
		if round == 0 || took < best.took {
			best = tpchAnswer{rows: rows, took: took}
		}
	}
	return best
}

func tpchRows(ctx context.Context, db *sql.DB, text string) (list []string, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for k := range cells {
		into[k] = &cells[k]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprint(cells))
	}
	return list, rows.Err()
}

// status returns a counter of the proxy's.
func (s *tpchSide) status(ctx context.Context, name string) (n int64, err error) {
	var variable string
	err = s.db.QueryRowContext(ctx, "SHOW KS STATUS LIKE '"+name+"'").Scan(&variable, &n)
	return n, err
}

// measureTPCH runs the queries on one server and through the proxy, and prints how long they take there and what the proxy moves.
func measureTPCH(ctx context.Context, o tpchOptions) (err error) {
	if o.proxy == "" {
		dir, err := os.MkdirTemp("", "kingshard-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if o.proxy, err = build(ctx, revision(ctx), dir); err != nil {
			return err
		}
	}
	one, err := openTPCH(ctx, o, rig.ClusterOptions{Nodes: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, one.close()) }()
	proxied, err := openTPCH(ctx, o, rig.ClusterOptions{Nodes: o.nodes, Proxy: o.proxy, Shard: tpch.Rules, Config: o.config})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proxied.close()) }()
	fmt.Printf("TPC-H at scale %v, %s, %d nodes, fastest of %d\n%-5s %9s %9s %7s %10s %9s  %s\n", o.scale, one.cluster.Version(), o.nodes, o.rounds, "", "server ms", "proxy ms", "times", "moved KB", "rows", "")
	if _, proxy := proxied.cluster.PIDs(); proxy != 0 {
		_ = procstat.ResetPeak(proxy) // where it is not allowed, the peak is that of the load
	}
	var wrong, slow int
	for _, q := range tpch.Queries {
		if !o.run.MatchString(q.Name) {
			continue
		}
		if o.explain {
			plan, err := tpchRows(ctx, proxied.db, "EXPLAIN ANALYZE "+q.Text)
			fmt.Println(strings.Join(plan, "\n"), err)
		}
		want := one.ask(ctx, o, q.Text)
		before, err := proxied.status(ctx, "Finish_bytes")
		if err != nil {
			return err
		}
		got := proxied.ask(ctx, o, q.Text)
		after, err := proxied.status(ctx, "Finish_bytes")
		if err != nil {
			return err
		}
		verdict := got.beside(want)
		switch verdict {
		case tpchEqual:
		case tpchSlow:
			slow++
		default:
			wrong++
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		fmt.Printf("%-5s %9.1f %9.1f %7.1f %10.1f %9d  %s\n", q.Name, ms(want.took), ms(got.took), float64(got.took)/float64(want.took), float64(after-before)/1024/float64(o.rounds), len(want.rows), verdict)
	}
	memory, err := proxied.memory()
	if err != nil {
		return err
	}
	fmt.Printf("the proxy took %.1f MiB at its start and %.1f MiB at the most\n", float64(proxied.idle)/1024, float64(memory.Peak)/1024)
	fmt.Printf("%d queries took more than 10 times the server's time and 50 ms\n", slow)
	if wrong > 0 {
		return fmt.Errorf("%d queries have no answer, or another one than the server's", wrong)
	}
	return nil
}
