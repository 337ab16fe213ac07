package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// DDL ends the session's transaction as on one server, with autocommit off too, and not where a server would refuse to.
func testDDLSession(t *testing.T, p *ddlProxy) {
	must(t, p.c, "SET autocommit = 0")
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	must(t, p.c, "SET autocommit = 1")
	must(t, p.c, "BEGIN")
	must(t, p.c, "INSERT INTO u (id) VALUES (1)")
	must(t, p.c, "ALTER TABLE u ADD COLUMN a INT")
	must(t, p.c, "ROLLBACK")
	if got := column(must(t, p.client(t, "other"), "SELECT a FROM u")); got != "<nil>" {
		t.Errorf("rows %q: the row is not there, or the other user's plan knows no column a", got)
	}
	must(t, p.c, "CREATE TABLE plain (id INT)")
	must(t, p.c, "LOCK TABLES plain READ")
	fails(t, p.c, "ALTER TABLE u ADD COLUMN b INT", 1100)
	must(t, p.c, "UNLOCK TABLES")
	must(t, p.c, "XA START 'x'")
	fails(t, p.c, "ALTER TABLE u ADD COLUMN b INT", 1399)
	must(t, p.c, "XA END 'x'")
	must(t, p.c, "XA ROLLBACK 'x'")
	must(t, p.c, "SELECT @a := 1")
	must(t, p.c, "ALTER TABLE u ADD COLUMN b INT")
	if got := column(must(t, p.c, "SELECT @a")); got != "1" {
		t.Errorf("@a is %s", got)
	}
	fails(t, p.c, "CREATE TEMPORARY TABLE u (id INT)", 9012)
	p.wantColumns(t, "a b id")
	must(t, p.c, "DROP TABLE plain")
}

// block keeps ALTER TABLE of a sub-table of the node waiting until the function given is called.
func (p *ddlProxy) block(t *testing.T, node int, table string) (release func()) {
	t.Helper()
	must(t, p.nodes[node], "BEGIN")
	must(t, p.nodes[node], "SELECT * FROM "+table)
	return func() { must(t, p.nodes[node], "COMMIT") }
}

// waiting waits until a server has a statement that waits for a table's lock.
func (p *ddlProxy) waiting(t *testing.T, node int) {
	t.Helper()
	for range 1500 {
		if column(must(t, p.nodes[node], "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'")) != "0" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no statement waits for a lock")
}

// KILL QUERY ends the statement that runs and starts no other one; what was done is done.
func testDDLKill(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	release := p.block(t, 1, "u_0002")
	id := column(must(t, p.c, "SELECT CONNECTION_ID()"))
	if err := p.c.Send(mysql.ComQuery, "ALTER TABLE u ADD COLUMN a INT"); err != nil {
		t.Fatal(err)
	}
	p.waiting(t, 1)
	root := p.client(t, "root")
	for range 1500 {
		if list := row(t, must(t, root, "ADMIN DDL LIST")); list[3] == "running" && list[6] == "2" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	fails(t, root, "ADMIN DDL RESUME 2", 9016) // it runs
	must(t, root, "KILL QUERY "+id)
	e := readError(t, p.c)
	if e.Code != 9015 || !strings.Contains(e.Message, "done: n0/shop.u_0000 n0/shop.u_0001; failed: n1/shop.u_0002; not tried: n1/shop.u_0003;") {
		t.Error(e)
	}
	release()
	must(t, p.c, "ADMIN DDL RESUME")
	p.wantColumns(t, "a id")
}

// readError reads the answer to what was sent, which must be an error.
func readError(t *testing.T, c *mysqltest.RawClient) (e mysql.SQLError) {
	t.Helper()
	b, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Decode(b); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return e
}

// A client that goes away does not end its statement, as on one server.
func testDDLVanished(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	release := p.block(t, 1, "u_0003")
	gone := p.client(t, "app")
	if err := gone.Send(mysql.ComQuery, "ALTER TABLE u ADD COLUMN a INT"); err != nil {
		t.Fatal(err)
	}
	p.waiting(t, 1)
	gone.Close()
	release()
	for range 1500 {
		if len(must(t, p.c, "ADMIN DDL LIST").Rows) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.wantColumns(t, "a id")
}

// A shutdown that cannot wait cuts the statement off, and the log says where.
func testDDLShutdown(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	release := p.block(t, 1, "u_0002")
	defer release()
	if err := p.c.Send(mysql.ComQuery, "ALTER TABLE u ADD COLUMN a INT"); err != nil {
		t.Fatal(err)
	}
	p.waiting(t, 1)
	for range 1500 {
		if column(must(t, p.nodes[0], "SHOW COLUMNS FROM u_0001")) == "id a" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = p.srv.Shutdown(ctx)
	log := p.log.String()
	for _, part := range []string{"DDL is not done on every physical table", `done="n0/shop.u_0000 n0/shop.u_0001"`, "failed=n1/shop.u_0002", "not_tried=n1/shop.u_0003"} {
		if !strings.Contains(log, part) {
			t.Errorf("no %s in\n%s", part, log)
		}
	}
}

// A server that dies leaves an unknown outcome: when the statement runs again there, finding it done is success.
func testDDLLost(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	p.block(t, 1, "u_0002")
	if err := p.c.Send(mysql.ComQuery, "ALTER TABLE u ADD COLUMN a INT"); err != nil {
		t.Fatal(err)
	}
	p.waiting(t, 1)
	p.servers[2].Kill()
	e := readError(t, p.c)
	if e.Code != 9015 || !strings.Contains(e.Message, "unknown: n1/shop.u_0002; not tried: n1/shop.u_0003;") {
		t.Error(e)
	}
	// With a node down nothing is sent, and the record stays as it is.
	if r, err := p.c.Query("ADMIN DDL RESUME"); err != nil || r.Err == nil || r.Err.Code != 9002 && r.Err.Code != 9003 {
		t.Errorf("%v, %+v", err, r)
	}
	if err := p.servers[2].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.nodes[1] = dial(t, p.servers[2].Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
	if columns := must(t, p.nodes[1], "SHOW COLUMNS FROM u_0002"); !slices.ContainsFunc(columns.Rows, func(r []any) bool { return r[0] == "a" }) {
		must(t, p.nodes[1], "ALTER TABLE u_0002 ADD COLUMN a INT") // as if it had been done
	}
	var last *mysqltest.RawResult
	for range 1500 {
		var err error
		if last, err = p.c.Query("ADMIN DDL RESUME"); err != nil {
			t.Fatal(err)
		}
		if last.Err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if last.Err != nil {
		t.Fatal(last.Err)
	}
	p.wantColumns(t, "a id")
	if r := must(t, p.c, "ADMIN DDL LIST"); len(r.Rows) != 0 {
		t.Error(fmt.Sprint(r.Rows))
	}
}
