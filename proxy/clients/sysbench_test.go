package clients

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"kingshard/mysql/mysqltest"
)

// sysbenchScripts are the OLTP workloads that sysbench brings.
var sysbenchScripts = []string{
	"oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index", "oltp_insert", "oltp_delete",
}

// sysbenchSeconds is how long each workload runs: KS_SYSBENCH_SECONDS, 2 by default.
func sysbenchSeconds(t *testing.T) int {
	t.Helper()
	v := os.Getenv("KS_SYSBENCH_SECONDS")
	if v == "" {
		return 2
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("KS_SYSBENCH_SECONDS is %q", v)
	}
	return n
}

// sysbench runs one workload through the proxy.
type sysbench struct {
	path     string
	endpoint endpoint
	threads  int
	seconds  int
	psMode   string // auto: prepared statements; disable: text
	options  []string
}

func newSysbench(t *testing.T, e endpoint) sysbench {
	t.Helper()
	return sysbench{
		path: tool(t, "sysbench", "run mysql/mysqltest/install/mariadb.sh"), endpoint: e, threads: 64, seconds: sysbenchSeconds(t), psMode: "auto",
	}
}

// run gives what sysbench says of one script and action.
func (s sysbench) run(t *testing.T, script, action string) string {
	t.Helper()
	return run(t, program{path: s.path, args: append([]string{
		"--db-driver=mysql", "--mysql-host=" + s.endpoint.host, fmt.Sprintf("--mysql-port=%d", s.endpoint.port), "--mysql-user=root",
		"--mysql-password=root", "--mysql-db=kingshard_sb", "--db-ps-mode=" + s.psMode, "--tables=4", "--table-size=5000",
		fmt.Sprintf("--threads=%d", s.threads), fmt.Sprintf("--time=%d", s.seconds), "--report-interval=0",
		// Deadlocks are the server's answer to what these workloads do to each other; sysbench starts such a transaction again.
		"--mysql-ignore-errors=1213,1020", script, action,
	}, s.options...)})
}

var (
	sysbenchQueries    = regexp.MustCompile(`queries:\s+(\d+)`)
	sysbenchReconnects = regexp.MustCompile(`reconnects:\s+(\d+)`)
	sysbenchFatal      = regexp.MustCompile(`FATAL|ALERT`)
)

// check wants work done, without an error but those that are ignored and without a lost connection.
func (s sysbench) check(t *testing.T, out string) {
	t.Helper()
	queries := sysbenchQueries.FindStringSubmatch(out)
	reconnects := sysbenchReconnects.FindStringSubmatch(out)
	if queries == nil || reconnects == nil || sysbenchFatal.MatchString(out) || queries[1] == "0" || reconnects[1] != "0" {
		t.Errorf("sysbench:\n%s", lastLines(out, 40))
		return
	}
	t.Logf("%s queries in %d s", queries[1], s.seconds)
}

// prepare makes the tables, through the proxy, and starts the count of connections anew.
func (s sysbench) prepare(t *testing.T, server *mysqltest.RealServer) {
	t.Helper()
	freshDB(t, server, "kingshard_sb")
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("FLUSH STATUS"); err != nil {
		t.Fatal(err)
	}
	s.threads = 4
	s.run(t, "oltp_read_write", "prepare")
}

// TestSysbench runs every OLTP workload with 64 clients over 16 connections, by prepared statements and by text.
func TestSysbench(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			s := newSysbench(t, startProxy(t, server))
			s.prepare(t, server)
			for _, mode := range []string{"auto", "disable"} {
				for _, script := range sysbenchScripts {
					t.Run(script+" "+mode, func(t *testing.T) {
						s := s
						s.psMode = mode
						s.check(t, s.run(t, script, "run"))
					})
				}
			}
			if n := maxUsedConnections(t, server); n > ceiling+spare {
				t.Errorf("the server has seen %d connections at once, the ceiling is %d", n, ceiling)
			}
		})
	}
}

// spare are the connections that a server may have beside the proxy's pool: its probe, KILLs, and this test's own.
const spare = 8

// maxUsedConnections asks the server for the most connections it ever had.
func maxUsedConnections(t *testing.T, server *mysqltest.RealServer) int {
	t.Helper()
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var name string
	var n int
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Max_used_connections'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSysbenchThousandClients runs 1,000 clients while the server allows 151 connections.
func TestSysbenchThousandClients(t *testing.T) {
	server, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: mysqltest.MariaDB, MaxConnections: 151})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := newSysbench(t, startProxy(t, server))
	s.prepare(t, server)
	s.threads = 1000
	for _, script := range []string{"oltp_point_select", "oltp_read_write"} {
		for _, mode := range []string{"auto", "disable"} {
			t.Run(script+" "+mode, func(t *testing.T) {
				s := s
				s.psMode = mode
				s.check(t, s.run(t, script, "run"))
			})
		}
	}
	if n := maxUsedConnections(t, server); n > ceiling+spare {
		t.Errorf("the server has seen %d connections at once, the ceiling is %d", n, ceiling)
	}
}
