package decisions

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestMain stops the shared servers and fails the package if goroutines are left.
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

var bothKinds = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9}

// bench is a server without ks_meta, with the accounts clients and own, and a connection of root's to it.
type bench struct {
	server *mysqltest.RealServer
	root   *mysqltest.RawClient
}

// onServers runs a test on a server of each kind.
func onServers(t *testing.T, f func(t *testing.T, b *bench)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) { f(t, fresh(t, mysqltest.Shared(t, kind))) })
	}
}

const (
	ownGrant = "GRANT CREATE, SELECT, INSERT, UPDATE, DELETE, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON ks_meta.* TO own WITH GRANT OPTION"
	password = "a-password"
)

func fresh(t *testing.T, s *mysqltest.RealServer) *bench {
	t.Helper()
	b := &bench{s, dial(t, s, mysqltest.User, mysqltest.Password)}
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS ks_meta", "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)", "DROP USER IF EXISTS clients, own",
		"CREATE USER clients IDENTIFIED BY '" + password + "'", "CREATE USER own IDENTIFIED BY '" + password + "'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO clients", ownGrant,
	} {
		must(t, b.root, sql)
	}
	return b
}

func dial(t *testing.T, s *mysqltest.RealServer, user, password string) *mysqltest.RawClient {
	t.Helper()
	c, err := mysqltest.DialRaw(s.Addr, mysqltest.ClientConfig{User: user, Password: password, Capabilities: mysqltest.ScriptCapabilities, Without: mysql.ClientConnectWithDB})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t *testing.T, c *mysqltest.RawClient, sql string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Exec(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// refused runs a statement that is to fail, and returns the error's number.
func refused(t *testing.T, c *mysqltest.RawClient, sql string) uint16 {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for r.Next != nil {
		r = r.Next
	}
	if r.Err == nil {
		t.Errorf("%s: no error", sql)
		return 0
	}
	return r.Err.Code
}

// nodesAt makes a node of each server, a, b, c and so on, with the accounts clients and own, or root alone.
func nodesAt(t *testing.T, two bool, servers ...*mysqltest.RealServer) []*backend.Node {
	t.Helper()
	text, names := "", ""
	accounts := "user: root, password: root"
	if two {
		accounts = "user: clients, password: " + password + ", admin_user: own, admin_password: " + password
	}
	for k, s := range servers {
		name := string(rune('a' + k))
		text += fmt.Sprintf("- {name: %s, %s, master: '%s', max_conns_limit: 20, allow_public_key_retrieval: true}\n", name, accounts, s.Addr)
		names += name + ", "
	}
	cfg, faults := config.Parse([]byte("addr: 127.0.0.1:9696\nuser_list: [{user: u, password: p}]\nnodes:\n"+text+"schema_list: [{user: u, nodes: ["+names+"], default: a}]\n"), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var list []*backend.Node
	for k := range servers {
		n := nodes[string(rune('a'+k))]
		t.Cleanup(n.Close)
		list = append(list, n)
	}
	return list
}

func soon() time.Time { return time.Now().Add(20 * time.Second) }

// made makes all on a server by the two accounts, and returns the node.
func made(t *testing.T, b *bench) *backend.Node {
	t.Helper()
	n := nodesAt(t, true, b.server)[0]
	if f, _, err := Make(n.Primary, soon()); err != nil || !f.Complete() || len(f.Open) > 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	return n
}
