package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kingshard/mysql/mysqltest"
)

// TestMain stops the shared server and fails the package if goroutines are left.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// TestDemo runs the demo as `kingshard demo` does: its own suggestions and the README's have one server's answers, the
// README shows them as they are, and nothing is left at the end.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("needs database servers")
	}
	r, err := open(context.Background(), options{addr: "127.0.0.1:0", web: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			_ = r.close()
		}
	}()
	shards, err := openShop(r.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer shards.Close()
	one := oneServer(t)
	for _, s := range firstStatements {
		if rest, explain := strings.CutPrefix(s.text, "EXPLAIN "); explain {
			testExplain(t, shards, rest)
			continue
		}
		t.Run(s.text, func(t *testing.T) { testSame(t, shards, one, s.text) })
	}
	t.Run("placement", func(t *testing.T) { testPlacement(t, r) })
	for _, s := range readme(t) {
		t.Run("README: "+s.text, func(t *testing.T) {
			if got := testSame(t, shards, one, s.text); got != s.answer {
				t.Errorf("README.md shows another answer than\n%s", got)
			}
		})
	}
	t.Run("console and admin SQL", func(t *testing.T) { testAdministration(t, r, shards) })
	_ = shards.Close()
	closed = true
	if err := r.close(); err != nil {
		t.Error(err)
	}
	testNothingLeft(t, r)
}

// oneServer is a database with the shop of shop.sql, unsharded, on a server of the demo's kind.
func oneServer(t *testing.T) *sql.DB {
	t.Helper()
	installation, err := mysqltest.FindAny()
	if err != nil {
		t.Fatal(err)
	}
	server := mysqltest.Shared(t, installation.Kind)
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE DATABASE " + database + " CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if db, err = server.DB(database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tables, rows := shopStatements()
	if len(tables) == 0 || len(rows) == 0 {
		t.Fatalf("shop.sql has %d tables and %d statements with rows", len(tables), len(rows))
	}
	for _, statement := range slices.Concat(tables, rows) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

// testSame compares a query's answer with that of one server and gives it as the command line shows it.
func testSame(t *testing.T, shards, one *sql.DB, text string) string {
	t.Helper()
	got, want := answer(t, shards, text), answer(t, one, text)
	if got != want {
		t.Errorf("the proxy answers\n%s, one server\n%s", got, want)
	}
	if got != "" && strings.Count(got, "\n") < 5 {
		t.Errorf("no rows:\n%s", got)
	}
	return got
}

func testExplain(t *testing.T, shards *sql.DB, text string) {
	t.Helper()
	got := answer(t, shards, "EXPLAIN "+text)
	for _, want := range []string{"merge", "node1", "node2", "shop.users_0000,shop.users_0001", "shop.users_0002,shop.users_0003"} {
		if !strings.Contains(got, want) {
			t.Errorf("EXPLAIN does not show %s:\n%s", want, got)
		}
	}
}

// testAdministration wants what printNext says of the console and of admin SQL to be there.
func testAdministration(t *testing.T, r *running, shards *sql.DB) {
	page, err := http.Get("http://" + r.proxy.server.WebAddr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	if page.StatusCode != http.StatusOK {
		t.Errorf("the console answers %s", page.Status)
	}
	for _, text := range []string{"SHOW KS DIGESTS", "SHOW KS NODES", "KS EXPLAIN UPDATE orders SET quantity = 2 WHERE user_id = 8", "KS HELP", "KS RELOAD"} {
		rows, err := shards.Query(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !rows.Next() && text != "KS RELOAD" { // which has nothing to tell: the file is as it was
			t.Errorf("%s: no rows", text)
		}
		_ = rows.Close()
	}
}

// testPlacement looks behind the proxy: every sub-table has rows, on its node and on no other, on replicas as on primaries.
func testPlacement(t *testing.T, r *running) {
	want := map[string]map[string]int{
		"node1": {"users_0000": 3, "users_0001": 3, "orders_0000": 4, "orders_0001": 5, "events_202601": 3, "events_202602": 3, "events_202603": 2, "countries": 4, "products": 5},
		"node2": {"users_0002": 3, "users_0003": 3, "orders_0002": 3, "orders_0003": 4, "events_202604": 2, "events_202605": 2, "events_202606": 3, "countries": 4},
	}
	for _, n := range r.nodes {
		for _, server := range []*mysqltest.RealServer{n.primary, n.replica} {
			db, err := server.DB(database)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, table := range column(t, db, "SHOW TABLES") {
				n, err := strconv.Atoi(column(t, db, "SELECT COUNT(*) FROM "+table)[0])
				if err != nil {
					t.Fatal(err)
				}
				got[table] = n
			}
			_ = db.Close()
			if !maps.Equal(got, want[n.name]) {
				t.Errorf("%s at %s has %v, want %v", n.name, server.Addr, got, want[n.name])
			}
		}
	}
}

// testNothingLeft looks for the directory and for somebody who still listens.
func testNothingLeft(t *testing.T, r *running) {
	if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
		t.Errorf("the directory %s is left: %v", r.dir, err)
	}
	addrs := []string{r.addr()}
	for _, n := range r.nodes {
		addrs = append(addrs, n.primary.Addr, n.replica.Addr)
	}
	for _, addr := range addrs {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			t.Errorf("somebody listens on %s", addr)
		}
	}
}

// TestAddrTaken: the demo starts nothing when its port is taken, and says what to do.
func TestAddrTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = open(context.Background(), options{addr: l.Addr().String(), web: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "-addr") {
		t.Errorf("got %v, want an error that names -addr", err)
	}
}

// TestCancelled: a demo that is stopped while it starts leaves nothing either.
func TestCancelled(t *testing.T) {
	if testing.Short() {
		t.Skip("needs database servers")
	}
	dir := keptDir(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := open(ctx, options{dir: dir, addr: "127.0.0.1:0", web: "127.0.0.1:0"})
	if err == nil {
		_ = r.close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// keptDir makes a directory that servers started as root may enter, which those of testing are not.
func keptDir(t *testing.T) string {
	t.Helper()
	dir, cleanup, err := workDir("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cleanup)
	return dir
}

// TestKeptDirectory: with -dir the data stays, what was changed and what replicas have too; a first load that was broken off is begun anew,
// and a shop of other tables is not touched.
func TestKeptDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("needs database servers")
	}
	dir := keptDir(t)
	o := options{dir: dir, addr: "127.0.0.1:0", web: "127.0.0.1:0"}
	for _, want := range []string{"12", "9", "7", "12"} {
		r, err := open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		db, err := openShop(r.addr())
		if err != nil {
			t.Fatal(err)
		}
		if got := column(t, db, "SELECT COUNT(*) FROM users"); got[0] != want {
			t.Errorf("%s users, want %s", got[0], want)
		}
		switch want {
		case "12":
			if _, err := db.Exec("DELETE FROM users WHERE id < 5"); err != nil { // of both nodes
				t.Error(err)
			}
			if _, err := db.Exec("INSERT INTO users (id, name, country, joined) VALUES (100, 'Zoe', 'fr', '2026-01-02')"); err != nil {
				t.Error(err)
			}
		case "9":
			if _, err := db.Exec("DELETE FROM users WHERE id IN (5, 6)"); err != nil {
				t.Error(err)
			}
		case "7":
			if err := os.Remove(filepath.Join(dir, loadedFile)); err != nil {
				t.Error(err)
			}
		}
		_ = db.Close()
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"ks.yaml", "sys.log", "node1-primary", "node2-replica"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	r, err := open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	db, err := r.nodes[1].primary.DB(database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("RENAME TABLE users_0003 TO users_other"); err != nil {
		t.Error(err)
	}
	_ = db.Close()
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if r, err := open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "users_0003 on node2") {
		t.Errorf("a shop of other tables: %v", err)
		if err == nil {
			_ = r.close()
		}
	}
}
