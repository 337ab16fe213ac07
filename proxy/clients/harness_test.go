package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// kinds are the servers that clients are tried on.
var kinds = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9}

// ceiling is how many connections the proxies of these tests may have to their server.
const ceiling = 16

// programTimeout bounds one run of a client program.
const programTimeout = 4 * time.Minute

// endpoint is where a client connects: a server, or a proxy in front of it. The accounts are the same.
type endpoint struct {
	name string // "direct" or "proxy"
	host string
	port int
	ca   string // file of the authority that signed its certificate
}

func (e endpoint) addr() string { return net.JoinHostPort(e.host, strconv.Itoa(e.port)) }

// direct is the server itself.
func direct(s *mysqltest.RealServer) endpoint {
	return endpoint{name: "direct", host: "127.0.0.1", port: s.Port, ca: s.CAFile}
}

// startProxy runs a proxy in front of a server until the test ends. The test fails if it does not shut down in order.
func startProxy(t *testing.T, s *mysqltest.RealServer) endpoint {
	t.Helper()
	dir := t.TempDir()
	ca, cert, key, err := mysqltest.WriteCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`
addr: 127.0.0.1:0
log_sql: off
handshake_timeout: 60s
max_allowed_packet: 256M
tls: {cert: %q, key: %q}
user_list:
- {user: root, password: root, local_infile: true}
- {user: ks, password: ks, local_infile: true}
nodes:
- {name: node1, user: root, password: root, master: %q, max_conns_limit: %d, allow_public_key_retrieval: true} # suites flush what the server remembers of passwords
schema_list:
- {user: root, nodes: [node1], default: node1}
- {user: ks, nodes: [node1], default: node1}
`, cert, key, s.Addr, ceiling)
	cfg, faults := config.Parse([]byte(text), dir, config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	log := new(mysqltest.LogBuffer)
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if strings.Contains(log.String(), "panic") {
			t.Errorf("a session of the proxy panicked")
		}
		if t.Failed() {
			t.Logf("log of the proxy:\n%s", lastLines(log.String(), 60))
		}
	})
	port := server.Addr().(*net.TCPAddr).Port
	return endpoint{name: "proxy", host: "127.0.0.1", port: port, ca: ca}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// program is one run of a client program.
type program struct {
	path  string
	args  []string
	dir   string
	env   []string // added to the environment of the test
	stdin string
	// fails says that the program is to end with another code than 0.
	fails bool
	// patience bounds the run; 0 is programTimeout.
	patience time.Duration
}

// run runs a program to its end and gives what it wrote to standard output. Another end than the one expected fails the
// test with its standard error.
func run(t *testing.T, p program) string {
	t.Helper()
	out, errs, err := try(t, p)
	if (err != nil) != p.fails {
		t.Fatalf("%s: %v\n%s\n%s", filepath.Base(p.path), err, lastLines(out, 30), lastLines(errs, 30))
	}
	return out
}

// try runs a program to its end, whatever that is.
func try(t *testing.T, p program) (stdout, stderr string, err error) {
	t.Helper()
	patience := p.patience
	if patience == 0 {
		patience = programTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), p.env...)
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Stdin = io.Reader(strings.NewReader(p.stdin))
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("did not end within %v: %w", patience, err)
	}
	return out.String(), errs.String(), err
}

// tool finds a program; the test fails with what to install if it is missing.
func tool(t *testing.T, name, cure string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing: %s", name, cure)
	}
	return path
}

// installed gives the path of something that install.sh has put into its directory.
func installed(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("KS_CLIENTS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "kingshard-clients")
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// testdata gives the absolute path of a file in testdata.
func testdata(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// same fails the test where two transcripts differ, showing the lines around the first difference.
func same(t *testing.T, direct, proxied string) {
	t.Helper()
	a, b := strings.Split(direct, "\n"), strings.Split(proxied, "\n")
	if slices.Equal(a, b) {
		return
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	around := func(lines []string) string {
		from, to := max(0, at-3), min(len(lines), at+6)
		return strings.Join(lines[min(from, to):to], "\n")
	}
	t.Errorf("the transcripts differ in line %d\ndirect:\n%s\n\nthrough the proxy:\n%s", at+1, around(a), around(b))
	t.Logf("direct: %d lines, proxy: %d lines, differing ones:\n%s", len(a), len(b), strings.Join(differing(a, b), "\n"))
}

// differing lists lines that only one side has, marked - for direct and + for the proxy.
func differing(a, b []string) []string {
	count := make(map[string]int)
	for _, l := range b {
		count[l]++
	}
	var out []string
	for _, l := range a {
		if count[l]--; count[l] < 0 {
			out = append(out, "- "+l)
		}
	}
	count = make(map[string]int)
	for _, l := range a {
		count[l]++
	}
	for _, l := range b {
		if count[l]--; count[l] < 0 {
			out = append(out, "+ "+l)
		}
	}
	return out[:min(len(out), 40)]
}

// freshDB makes an empty database on the server and drops it when the test ends.
func freshDB(t *testing.T, s *mysqltest.RealServer, name string) {
	t.Helper()
	db, err := s.DB("")
	if err != nil {
		t.Fatal(err)
	}
	exec := func(sql string) {
		if _, err := db.Exec(sql); err != nil {
			t.Error(err)
		}
	}
	exec("DROP DATABASE IF EXISTS " + name)
	exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
	t.Cleanup(func() {
		exec("DROP DATABASE IF EXISTS " + name)
		_ = db.Close()
	})
}

// both runs a program of a driver against the server and then through a proxy, on each kind of server, and compares the
// transcripts. args is told where to connect.
func both(t *testing.T, db string, start func(e endpoint) program) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			transcripts := make(map[string]string)
			for _, e := range []endpoint{direct(server), startProxy(t, server)} {
				freshDB(t, server, db)
				transcripts[e.name] = run(t, start(e))
			}
			noTransactions(t, server)
			if n := strings.Count(transcripts["direct"], "\n"); n < 40 {
				t.Errorf("only %d lines in the transcript:\n%s", n, transcripts["direct"])
			}
			same(t, transcripts["direct"], transcripts["proxy"])
		})
	}
}

// noTransactions wants every transaction on the server to end soon: what a client leaves open the proxy rolls back.
func noTransactions(t *testing.T, s *mysqltest.RealServer) {
	t.Helper()
	db, err := s.DB("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mysqltest.WaitFor(t, "transactions to end", func() bool {
		time.Sleep(150 * time.Millisecond) // asked again within a tenth of a second, a server says what it said before
		open := 0
		if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id > 0").Scan(&open); err != nil {
			t.Fatal(err)
		}
		return open == 0
	})
}
