package tpcc

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/bench/rig"
	"kingshard/mysql/mysqltest"
)

// small is a size that is loaded in a second or two, with a warehouse on each of three nodes.
var small = Size{Warehouses: 3, Districts: 3, Customers: 40, Items: 200}

// proxy builds this checkout's proxy, once.
var proxy = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "kingshard")
	cmd := exec.Command("go", "build", "-o", path, "kingshard/cmd/kingshard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

var built string // the folder of the proxy

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "kingshard-tpcc-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// start starts a cluster with the tables, filled; nodes is 0 for one server without a proxy.
func start(t *testing.T, kind mysqltest.Kind, nodes int, prepared bool) (*rig.Cluster, *sql.DB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs database servers")
	}
	o := rig.ClusterOptions{Kind: kind, Nodes: nodes, DB: DB, BufferPool: "64M"}
	if nodes > 0 {
		binary, err := proxy()
		if err != nil {
			t.Fatal(err)
		}
		o.Proxy = binary
	}
	if nodes > 1 {
		o.Shard = Rules
	}
	c, err := rig.StartCluster(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	login := c.Login()
	db, err := Target{Addr: login.Addr, User: login.User, Password: login.Password, Prepared: prepared}.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := Load(t.Context(), db, Loading{Size: small, Clients: 2, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return c, db
}

// mustHold fails the test where a condition does not hold.
func mustHold(t *testing.T, db *sql.DB, seen *Result) {
	t.Helper()
	findings, err := Check(t.Context(), db, small, seen)
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 2+len(Conditions) {
		t.Errorf("%d findings", len(findings))
	}
	for _, f := range findings {
		if !f.Holds() {
			t.Errorf("%s, %s: %v", f.Name, f.What, f.Violations)
		}
	}
}

// TestWorkload runs the mix on real servers, straight and through the proxy over one node and over three, by texts and prepared: every kind is
// committed, nothing is refused or fails, and the conditions hold at first and then.
func TestWorkload(t *testing.T) {
	for _, c := range []struct {
		name     string
		kind     mysqltest.Kind
		nodes    int
		prepared bool
		remote   bool
	}{
		{"one server", mysqltest.MariaDB, 0, true, true},
		{"one node", mysqltest.MariaDB, 1, false, true},
		{"three nodes by text", mysqltest.MariaDB, 3, false, false},
		{"three nodes prepared", mysqltest.MySQL9, 3, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, db := start(t, c.kind, c.nodes, c.prepared)
			mustHold(t, db, new(Result))
			w := Workload{Size: small, Clients: 6, Prepared: c.prepared, Remote: c.remote, Duration: 3 * time.Second}
			r := new(Result)
			missing := func(k Kind) bool { return r.Measured[k].Committed == 0 }
			for w.Seed < 6 && slices.ContainsFunc(Kinds, missing) { // a busy machine may not come to all in one turn
				w.Seed++
				r.Add(w.Run(t.Context(), db))
			}
			for _, k := range Kinds {
				if missing(k) {
					t.Errorf("no %v was committed", k)
				}
			}
			total := Total(r.All)
			if total.Refused+total.Failed+total.Unknown > 0 {
				t.Errorf("%+v, %+v", total, r.Errors)
			}
			if total.Committed > 500 && total.RolledBack == 0 {
				t.Errorf("no new-order of %d was rolled back", r.All[NewOrder].Committed)
			}
			if r.Latency(NewOrder, 0.5) <= 0 || r.Latency(NewOrder, 0.95) < r.Latency(NewOrder, 0.5) {
				t.Errorf("latencies of new-orders: %v, %v", r.Latency(NewOrder, 0.5), r.Latency(NewOrder, 0.95))
			}
			mustHold(t, db, r)
			t.Logf("%.0f new-orders a minute, %d retries, %+v, %+v", r.TPM(), r.Retries, total, r.Errors)
		})
	}
}

// TestRemote has transactions change rows of two warehouses. On one server they are committed; the proxy over three nodes refuses those that
// change two nodes (9004) and nothing else, and leaves nothing of them.
func TestRemote(t *testing.T) {
	_, db := start(t, mysqltest.MariaDB, 3, false)
	w := Workload{Size: small, Clients: 6, Remote: true, Seed: 2, Duration: 3 * time.Second}
	r := w.Run(t.Context(), db)
	total := Total(r.All)
	if r.All[NewOrder].Refused == 0 || r.All[Payment].Refused == 0 || r.Errors["9004"].Count != total.Refused {
		t.Errorf("new-orders %+v, payments %+v, %+v", r.All[NewOrder], r.All[Payment], r.Errors)
	}
	if total.Failed+total.Unknown > 0 || total.Committed == 0 {
		t.Errorf("%+v, %+v", total, r.Errors)
	}
	mustHold(t, db, r)
}

// TestKills kills the proxy under load: clients go on with the next one, what was told to be committed is there, and nothing else but what is not
// known.
func TestKills(t *testing.T) {
	c, db := start(t, mysqltest.MariaDB, 3, true)
	done := make(chan *Result)
	w := Workload{Size: small, Clients: 8, Prepared: true, Seed: 3, Duration: 4 * time.Second}
	go func() { done <- w.Run(t.Context(), db) }()
	for range 3 {
		time.Sleep(time.Second)
		if err := c.KillProxy(t.Context()); err != nil {
			t.Error(err)
		}
	}
	r := <-done
	total := Total(r.All)
	if r.Errors["connection"].Count == 0 || total.Failed > 0 || total.Committed == 0 {
		t.Errorf("%+v, %+v", total, r.Errors)
	}
	mustHoldSoon(t, db, r)
	t.Logf("%+v, %d retries, %+v", total, r.Retries, r.Errors)
}

// mustHoldSoon is mustHold once the servers have rolled back what a proxy that is gone left.
func mustHoldSoon(t *testing.T, db *sql.DB, seen *Result) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		findings, err := Check(t.Context(), db, small, seen)
		if err == nil && !slices.ContainsFunc(findings, func(f Finding) bool { return !f.Holds() }) {
			return
		}
	}
	mustHold(t, db, seen)
}

// TestViolations: each condition notices when it does not hold, and no other does where it has no part in it.
func TestViolations(t *testing.T) {
	_, db := start(t, mysqltest.MariaDB, 3, false)
	w := Workload{Size: small, Clients: 3, Seed: 4, Duration: time.Second}
	r := w.Run(t.Context(), db)
	mustHold(t, db, r)
	for _, c := range []struct {
		name     string
		plant    []string
		undo     []string
		violated []string
	}{
		{
			"a warehouse is paid twice", []string{`UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2`},
			[]string{`UPDATE warehouse SET w_ytd = w_ytd - 1 WHERE w_id = 2`}, []string{"3.3.2.1"},
		},
		{
			"a district is paid less", []string{`UPDATE district SET d_ytd = d_ytd - 0.01 WHERE d_w_id = 3 AND d_id = 1`},
			[]string{`UPDATE district SET d_ytd = d_ytd + 0.01 WHERE d_w_id = 3 AND d_id = 1`}, []string{"3.3.2.1"},
		},
		{
			"a number of an order is left out", []string{`UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3`},
			[]string{`UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_w_id = 1 AND d_id = 3`}, []string{"3.3.2.2"},
		},
		{
			"an order is delivered that is not there", []string{`INSERT INTO new_order VALUES (9999, 1, 1)`},
			[]string{`DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 9999`}, []string{"3.3.2.2", "3.3.2.3"},
		},
		{
			"the first order is still to be delivered", []string{`INSERT INTO new_order VALUES (1, 2, 2)`},
			[]string{`DELETE FROM new_order WHERE no_w_id = 2 AND no_d_id = 2 AND no_o_id = 1`}, []string{"3.3.2.3"},
		},
		{
			"an order lacks a line", []string{`UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 3 AND o_d_id = 2 AND o_id = 5`},
			[]string{`UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_w_id = 3 AND o_d_id = 2 AND o_id = 5`}, []string{"3.3.2.4"},
		},
		{
			"a line has no order", []string{`INSERT INTO order_line VALUES (5, 1, 1, 99, 1, 1, NULL, 5, 0, '')`},
			[]string{`DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 5 AND ol_number = 99`}, []string{"3.3.2.4"},
		},
		{
			"a payment reached its customer only", []string{`UPDATE customer SET c_ytd_payment = c_ytd_payment + 5 WHERE c_w_id = 2 AND c_d_id = 1 AND c_id = 7`},
			[]string{`UPDATE customer SET c_ytd_payment = c_ytd_payment - 5 WHERE c_w_id = 2 AND c_d_id = 1 AND c_id = 7`}, []string{"payments"},
		},
		{
			"a payment did not reach its customer", []string{`INSERT INTO history VALUES (7, 1, 2, 1, 1, NOW(), 5, 'planted')`},
			[]string{`DELETE FROM history WHERE h_w_id = 1 AND h_data = 'planted'`}, []string{"kept", "payments"},
		},
		{
			"stock was sent that nobody ordered", []string{`UPDATE stock SET s_ytd = s_ytd + 3 WHERE s_w_id = 3 AND s_i_id = 9`},
			[]string{`UPDATE stock SET s_ytd = s_ytd - 3 WHERE s_w_id = 3 AND s_i_id = 9`}, []string{"stock"},
		},
		{
			"an order is lost", []string{`UPDATE orders SET o_ol_cnt = 0 WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 1`,
				`DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 1`, `DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 1`},
			nil, []string{"kept"},
		},
		{"an item is lost", []string{`DELETE FROM stock WHERE s_w_id = 1 AND s_i_id = 200 AND s_ytd >= 0`}, nil, nil},
	} {
		run := func(texts []string) {
			for _, text := range texts {
				if _, err := db.Exec(text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
		}
		run(c.plant)
		findings, err := Check(t.Context(), db, small, r)
		if err != nil {
			t.Fatal(err)
		}
		var violated []string
		for _, f := range findings {
			if !f.Holds() {
				violated = append(violated, f.Name)
			}
		}
		if c.violated != nil && !slices.Equal(violated, c.violated) || c.violated == nil && !slices.Contains(violated, "rows") {
			t.Errorf("%s: violated is %v", c.name, violated)
		}
		run(c.undo)
	}
}
