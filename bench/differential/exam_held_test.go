package differential

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// heldTables are those of TestHeldElsewhere: of each place one. On the second node there is another table by the name of loc, too.
var heldTables = []string{"h", "one", "ref", "loc"}

// heldPair is a session of a server and one of a proxy over two others.
type heldPair struct {
	t               *testing.T
	want, got       *mysqltest.RawClient
	cases, refusals int
	kind            mysqltest.Kind
}

// TestHeldElsewhere runs statements on tables of each place while the session has a connection to the second node, for each reason and in
// text and prepared: the answers are those of one server, or the statement is refused.
func TestHeldElsewhere(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server, pair := oracle(t, kind), twoNodes(t, kind)
			for _, addr := range append(pair[:], server) {
				c := examConn(t, addr, "")
				examRun(t, c, "DROP DATABASE IF EXISTS "+examDB)
				examRun(t, c, "CREATE DATABASE "+examDB)
				_ = c.Close()
			}
			decoy := examConn(t, pair[1], examDB)
			examRun(t, decoy, "CREATE TABLE loc (id INT NOT NULL PRIMARY KEY, n INT)")
			_ = decoy.Close()
			subject := examProxy(t, pair, fmt.Sprintf(examRules, "[1, 1]"))
			p := &heldPair{t: t, kind: kind, want: examConn(t, server, examDB), got: examConn(t, subject, examDB)}
			defer func() {
				_ = p.want.Close()
				_ = p.got.Close()
			}()
			for _, name := range heldTables {
				for _, sql := range []string{"CREATE TABLE " + name + " (id INT NOT NULL PRIMARY KEY, n INT)", "INSERT INTO " + name + " (id, n) VALUES (0, 3), (1, 3), (2, 3), (3, 3)"} {
					examRun(t, p.want, sql)
					examRun(t, p.got, sql)
				}
			}
			for i, hold := range []string{
				"SELECT @v := n FROM one WHERE id = 1", "SELECT @v := n FROM h WHERE id = 0", "SELECT @v := n FROM h WHERE id = 1", "SELECT n INTO @v FROM one WHERE id = 1",
				"SET @v = 3; SELECT GET_LOCK('held', 1), n FROM one WHERE id = 1", "SET @v = 3; BEGIN; UPDATE one SET n = n + 1 WHERE id = 1", "SET @v = 3; SET autocommit = 0; SELECT n FROM one WHERE id = 1",
				"SET @v = 3; SELECT SQL_CALC_FOUND_ROWS n FROM one LIMIT 1", "SET @v = 3; UPDATE one SET n = LAST_INSERT_ID(n + 1) WHERE id = 1", "SET @v = 3; LOCK TABLES one WRITE",
				"SET @v = 3; CREATE TEMPORARY TABLE mine SELECT n FROM one", "BEGIN; SELECT @v := n FROM one WHERE id = 1 FOR UPDATE",
			} {
				for j, table := range heldTables {
					for k, form := range heldForms(kind) {
						// Of the tables whose place a plan knows each has a part of the cases.
						if table == "loc" || (i+j+k)%4 == 0 {
							p.examine(hold, form, table, false)
						}
						if table == "loc" && (i+k)%2 == 0 && !strings.Contains(form, "; ") {
							p.examine(hold, form, table, true)
						}
						if t.Failed() {
							return
						}
					}
				}
			}
			t.Logf("%d cases, %d refused", p.cases, p.refusals)
		})
	}
}

func heldForms(kind mysqltest.Kind) []string {
	list := []string{
		"SELECT n FROM %s WHERE id = 1", "SELECT n FROM %s WHERE n = @v ORDER BY id", "INSERT INTO %s (id, n) VALUES (8, @v)", "UPDATE %s SET n = @v + 1 WHERE id = 1",
		"DELETE FROM %s WHERE id = 8 AND @v > 0", "SELECT n, ROW_COUNT() FROM %s WHERE id = 1", "INSERT INTO %s (id, n) VALUES (9, ROW_COUNT())", "SELECT LAST_INSERT_ID(7), n FROM %s WHERE id = 1",
		"INSERT INTO %s (id, n) VALUES (10, LAST_INSERT_ID(5))", "SELECT @w := n FROM %s WHERE id = 2", "SELECT GET_LOCK('second', 1), n FROM %s WHERE id = 1", "SELECT FOUND_ROWS(), n FROM %s WHERE id = 1",
		"SELECT SQL_CALC_FOUND_ROWS n FROM %s WHERE id = 1 LIMIT 1", "SET @w = (SELECT MAX(n) FROM %s)", "DO @w := (SELECT MAX(n) FROM %s)", "DELETE FROM %s WHERE id > 7",
		"WITH c AS (SELECT @v AS v) SELECT v, n FROM c JOIN %s AS t ON t.n = c.v WHERE t.id = 2", "SELECT x.n FROM (SELECT @v AS n) AS d JOIN %s AS x ON x.n = d.n AND x.id = 3",
		"CREATE TEMPORARY TABLE fresh SELECT n, @v FROM %s", "SELECT n FROM %s WHERE id = 1 AND n = @v FOR UPDATE", "TRUNCATE TABLE %s; ROLLBACK", "SELECT n INTO @w FROM %s WHERE id = 2; SELECT @w",
		"PREPARE s FROM 'SELECT n FROM %s WHERE id = 1'; EXECUTE s", "SET @t = 'UPDATE %s SET n = 3 WHERE id = 1'; PREPARE s FROM @t; EXECUTE s", "SAVEPOINT a; UPDATE %s SET n = @v WHERE id = 2; ROLLBACK TO SAVEPOINT a",
		"SELECT EXTRACT(DAY FROM '2020-02-03'), @v, '%s'", "INSERT INTO %s (id, n) VALUES (0, 3), (1, 3), (2, 3), (3, 3) ON DUPLICATE KEY UPDATE n = 3",
	}
	if kind == "mariadb" {
		list = append(list, "SET STATEMENT max_statement_time = 9 FOR SELECT n FROM %s WHERE id = 1", "SET STATEMENT max_statement_time = 9 FOR UPDATE %s SET n = 5 WHERE id = @v",
			"EXECUTE IMMEDIATE 'SELECT n FROM %s WHERE id = 2'", "BEGIN NOT ATOMIC UPDATE %s SET n = 6 WHERE id = 1; END", "ANALYZE UPDATE %s SET n = 3 WHERE id = 3 AND @v = 3; DO 1")
	}
	return list
}

// examine holds a connection and runs a statement, on the proxy and on the server. Behind that the tables are the same, and the session
// has nothing left of it.
func (p *heldPair) examine(hold, form, table string, prepared bool) {
	p.t.Helper()
	sql := fmt.Sprintf(form, table)
	defer p.reset(table, hold+"; "+sql)
	parts := strings.Split(hold, "; ")
	for _, text := range parts {
		if !p.same(text, false, hold) {
			return
		}
	}
	p.cases++
	texts := strings.Split(sql, "; ")
	if strings.HasPrefix(sql, "BEGIN NOT") {
		texts = []string{sql}
	}
	for _, text := range texts {
		if !p.same(text, prepared, hold) {
			p.refusals++
			break
		}
	}
	if !strings.HasPrefix(sql, "ANALYZE") && !strings.HasPrefix(hold, "SET @v = 3; LOCK") {
		p.same("SELECT @v", false, hold+"; "+sql)
	}
}

// reset ends what the sessions have, and compares the tables that a case is about.
func (p *heldPair) reset(table, behind string) {
	p.t.Helper()
	for _, c := range []*mysqltest.RawClient{p.got, p.want} {
		if _, err := c.Command(mysql.ComResetConnection, ""); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, name := range []string{"one", table} {
		p.same("SELECT COUNT(*), SUM(n) FROM "+name, false, behind)
	}
}

// same runs a statement on the proxy and, unless that refuses it, on the server.
func (p *heldPair) same(sql string, prepared bool, behind string) bool {
	p.t.Helper()
	st := &statement{root: words(sql)}
	a, err := (&side{conn: p.got}).send(rendered{sql: sql}, prepared)
	if err != nil {
		p.t.Fatalf("%s: %s: %v", behind, sql, err)
	}
	if a.ownError() {
		return false
	}
	b, err := (&side{conn: p.want}).send(rendered{sql: sql}, prepared)
	if err != nil {
		p.t.Fatalf("%s: %s: %v", behind, sql, err)
	}
	a.columns, b.columns = nil, nil
	for _, x := range []answer{a, b} {
		for k := range x.Columns {
			x.Columns[k] = mysql.ColumnDefinition41{Name: x.Columns[k].Name}
		}
		if strings.HasPrefix(sql, "ANALYZE") {
			x.Rows = nil // times
		}
	}
	if d := compare(st, b, a, func(db string) string { return db }); d != nil {
		p.t.Errorf("%s: %s (prepared %v): %s: %s", behind, sql, prepared, d.Kind, d.Detail)
	}
	return true
}
