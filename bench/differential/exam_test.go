package differential

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// examDB is the database of examinations, on the oracle and behind the proxy.
const examDB = "exam"

// examRules are where the tables of examinations lie: h and g are sharded by id and lie beside each other, k by id elsewhere,
// ref is on both nodes, one on the second, home and any other table on the first.
const examRules = `  - {db: exam, table: h, key: id, type: hash, nodes: [n1, n2], locations: %[1]s}
  - {db: exam, table: g, key: id, type: hash, nodes: [n1, n2], locations: %[1]s}
  - {db: exam, table: k, key: id, type: hash, nodes: [n2, n1], locations: [1, 1]}
  - {db: exam, table: ref, type: reference, nodes: [n1, n2]}
  - {db: exam, table: one, type: single, nodes: [n2]}
  - {db: exam, table: home, type: single, nodes: [n1]}
`

// doubles finds what makes a sum depend on the order in which it is added up.
var doubles = regexp.MustCompile(`[0-9]e0|STD|VAR|POW|\(r\)`)

// exam is statements whose answers through the proxy must be those of one server.
type exam struct {
	setup []string // made on both sides, in order
	nodes []string // made on every server by itself, ahead of setup
	// asked are the statements. One that begins with "!" must be refused by the proxy, one that begins with "?" may be.
	asked []string
	// look lists queries whose answers must be the same behind every statement that is answered.
	look []string
	// differ is what answers may differ in, as Difference.Kind has it.
	differ string
	// settings are made in each session.
	settings string
	// rules are the tables' beside examRules, with %[1]s for locations.
	rules string
}

// examined runs the exam on servers of a kind over 2, 3 and 4 shards.
func (e *exam) examined(t *testing.T, kind mysqltest.Kind) {
	t.Helper()
	server, pair := oracle(t, kind), twoNodes(t, kind)
	for _, locations := range []string{"[1, 1]", "[2, 1]", "[2, 2]"} {
		e.over(t, server, pair, locations)
	}
}

func (e *exam) over(t *testing.T, server string, pair [2]string, locations string) {
	t.Helper()
	for _, addr := range append(pair[:], server) {
		c := examConn(t, addr, "")
		examRun(t, c, "DROP DATABASE IF EXISTS "+examDB)
		examRun(t, c, "CREATE DATABASE "+examDB)
		examRun(t, c, "USE "+examDB)
		for _, sql := range e.nodes {
			examRun(t, c, sql)
		}
		_ = c.Close()
	}
	subject := examProxy(t, pair, fmt.Sprintf(examRules+e.rules, locations))
	want, got := examConn(t, server, examDB), examConn(t, subject, examDB)
	defer func() {
		_ = want.Close()
		_ = got.Close()
	}()
	for _, sql := range e.setup {
		examRun(t, want, sql)
		examRun(t, got, sql)
	}
	if e.settings != "" {
		examRun(t, want, e.settings)
		examRun(t, got, e.settings)
	}
	behind := ""
	asked := func(sql string, must, may bool) (refused bool) {
		defer func() { behind = sql }()
		st := &statement{root: words(sql), inexact: doubles.MatchString(sql), upserts: strings.Contains(sql, "SELECT") && strings.Contains(sql, "ON DUPLICATE KEY UPDATE")}
		subject, err := got.Query(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		a := answer{RawResult: subject}
		switch {
		case a.ownError() && !must && !may:
			t.Errorf("over %s: %s: refused: %v", locations, sql, subject.Err)
		case !a.ownError() && must:
			t.Errorf("over %s: %s: not refused: %v, rows %v", locations, sql, subject.Err, subject.Rows)
		}
		if a.ownError() || must {
			return true
		}
		oracle, err := want.Query(sql)
		if err != nil {
			t.Fatalf("on the server: %s: %v", sql, err)
		}
		for k := range min(len(oracle.Columns), len(subject.Columns)) {
			// Of groups these tell how a server has made them.
			a, b := &subject.Columns[k], &oracle.Columns[k]
			*a = mysql.ColumnDefinition41{Name: a.Name, Type: familyOf(a.Type)}
			*b = mysql.ColumnDefinition41{Name: b.Name, Type: familyOf(b.Type)}
		}
		if d := compare(st, answer{RawResult: oracle}, a, func(db string) string { return db }); d != nil && d.Kind != e.differ {
			t.Errorf("over %s: %s: %s: %s (behind %s)", locations, sql, d.Kind, d.Detail, behind)
		}
		return false
	}
	for _, sql := range e.asked {
		if t.Failed() {
			return // the sides may be apart
		}
		must, may := strings.HasPrefix(sql, "!"), strings.HasPrefix(sql, "?")
		refused := asked(strings.TrimLeft(sql, "!?"), must, may)
		if refused && !must {
			continue
		}
		for _, look := range e.look {
			asked(look, false, false)
		}
	}
}

func examConn(t *testing.T, addr, db string) *mysqltest.RawClient {
	t.Helper()
	c, err := dial(addr, db)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func examRun(t *testing.T, c *mysqltest.RawClient, sql string) {
	t.Helper()
	if _, err := c.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// familyOf gives a type for all those of texts without a bound, which servers choose by how they group.
func familyOf(t mysql.ColumnType) mysql.ColumnType {
	switch t {
	case mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob, mysql.TypeVarString:
		return mysql.TypeBlob
	}
	return t
}

// examProxy starts a proxy over two nodes and stops it behind the test.
func examProxy(t *testing.T, nodes [2]string, rules string) (addr string) {
	t.Helper()
	text := fmt.Sprintf(`
addr: 127.0.0.1:0
log_sql: off
%suser_list:
- {user: root, password: root}
nodes:
- {name: n1, user: root, password: root, master: %q, max_conns_limit: 64}
- {name: n2, user: root, password: root, master: %q, max_conns_limit: 64}
schema_list:
- user: root
  nodes: [n1, n2]
  default: n1
  shard:
%s`, patience, nodes[0], nodes[1], rules)
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
			t.Errorf("a session of the proxy panicked:\n%s", log)
		}
	})
	return server.Addr().String()
}
