package differential

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/proxy"
	"kingshard/proxy/kserror"
)

// refusals are the codes by which the proxy may refuse a statement: those of docs/sql-support.md.
var refusals = []uint16{kserror.TransactionNodes, kserror.RefusedStatement, kserror.RefusedSharding, kserror.Unreadable}

// patience are the proxy's times for a machine that has other work: a server that has its turn late has not failed.
const patience = `health_timeout: 30s
connect_timeout: 60s
pool_wait_timeout: 60s
`

// roundStatements is how many statements run in one database before it gets another schema.
const roundStatements = 1500

// TestDifferential compares the proxy over 2, 3 and 4 shards with one server. KS_DIFF_STATEMENTS is how many statements run
// on each kind of server, KS_DIFF_SEED the first seed; a failure names the seed that brings it back.
func TestDifferential(t *testing.T) {
	statements := environment(t, "KS_DIFF_STATEMENTS", 3000)
	first := environment(t, "KS_DIFF_SEED", 1)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server, pair := oracle(t, kind), twoNodes(t, kind)
			total := newReport()
			for seed := first; total.Statements < statements; seed += seedsAtOnce {
				r := Round{Seed: uint64(seed), Statements: roundStatements, Oracle: server, Databases: Spread(seedsAtOnce, pair), Refusals: refusals}
				if left := statements - total.Statements; left < roundStatements*len(r.Databases) {
					r.Statements = left/len(r.Databases) + 1
				}
				report, err := throughProxy(t, r, pair)
				if err != nil {
					t.Fatal(err)
				}
				total.add(report)
			}
			t.Log(total)
			if n := total.Mismatches(); n > 0 {
				t.Errorf("%d failures", n)
			}
		})
	}
}

// seedsAtOnce is how many schemas are compared at the same time, each over every number of shards.
const seedsAtOnce = 2

// environment is a number from the environment, or the default.
func environment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// throughProxy runs a round with a proxy of its own as the subject, which has a scratch node for the seeds of every second round.
func throughProxy(t *testing.T, r Round, nodes [2]string) (*Report, error) {
	t.Helper()
	scratch := ""
	if r.Seed/seedsAtOnce%2 == 1 {
		scratch = "  scratch: s\n"
	}
	text := fmt.Sprintf(`
addr: 127.0.0.1:0
log_sql: off
transaction_mode: atomic
xa_on_unsafe_server: true # they need not survive a loss of power
%suser_list:
- {user: root, password: root}
nodes:
- {name: n1, user: root, password: root, master: %q, max_conns_limit: 64}
- {name: n2, user: root, password: root, master: %q, max_conns_limit: 64}
- {name: s, user: root, password: root, master: %[3]q, max_conns_limit: 64}
schema_list:
- user: root
  nodes: [n1, n2]
  default: n1
%[4]s  shard:
%[5]s`, patience, nodes[0], nodes[1], scratch, Rules(r.Databases))
	cfg, faults := config.Parse([]byte(text), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	log := new(strings.Builder)
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	r.Subject = server.Addr().String()
	report, err := r.Run(t.Context())
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if strings.Contains(log.String(), "panic") {
		t.Errorf("a session of the proxy panicked:\n%s", log)
	}
	return report, err
}
