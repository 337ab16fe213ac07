package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Columns of EXPLAIN ANALYZE, from 0.
const (
	colPlan, colNode, colShards, colSQL                       = 1, 3, 4, 5
	colRows, colBytes, colMillis, colInserted, colInsertMills = 8, 9, 10, 11, 12
)

// analyzed runs EXPLAIN ANALYZE of a query, and returns its rows by plan. The rows ahead of the last are those of EXPLAIN.
func (s *shards) analyzed(t *testing.T, c *mysqltest.RawClient, sql string) (steps map[string][][]any, result []any) {
	t.Helper()
	plan := must(t, c, "EXPLAIN "+sql)
	r := must(t, c, "EXPLAIN ANALYZE "+sql)
	var planned, ran []string
	for _, row := range plan.Rows {
		planned = append(planned, fmt.Sprint(row[colPlan], row[colNode], row[colShards]))
	}
	steps = map[string][][]any{}
	for k, row := range r.Rows {
		if row[0] != fmt.Sprint(k+1) {
			t.Errorf("%s: step %v is %d", sql, row[0], k+1)
		}
		if k < len(r.Rows)-1 {
			ran = append(ran, fmt.Sprint(row[colPlan], row[colNode], row[colShards]))
			steps[row[colPlan].(string)] = append(steps[row[colPlan].(string)], row)
		}
	}
	slices.Sort(planned)
	slices.Sort(ran)
	if !slices.Equal(planned, ran) && !strings.Contains(strings.Join(planned, " "), "finish") || len(planned) != len(ran) {
		t.Errorf("%s\n ran %q\nplan %q", sql, ran, planned)
	}
	result = r.Rows[len(r.Rows)-1]
	if result[colPlan] != "result" {
		t.Errorf("%s: the last row is %v", sql, result)
	}
	if help := plan.Rows[0][6]; r.Rows[0][6] != help {
		t.Errorf("%s: help %v, and of EXPLAIN %v", sql, r.Rows[0][6], help)
	}
	return steps, result
}

// number reads a cell; -1 is NULL.
func number(t *testing.T, cell any) (n float64) {
	t.Helper()
	if cell == nil {
		return -1
	}
	if _, err := fmt.Sscan(fmt.Sprint(cell), &n); err != nil {
		t.Errorf("%v: %v", cell, err)
	}
	return n
}

// sum adds up a column of steps.
func sum(t *testing.T, rows [][]any, column int) (n float64) {
	t.Helper()
	for _, row := range rows {
		n += number(t, row[column])
	}
	return n
}

// EXPLAIN ANALYZE runs a query, and tells what each step gave and took in place of its rows.
func TestExplainAnalyze(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startExplained(t, kind)
			rows := func(sql string) float64 { return float64(len(must(t, s.oracle, sql).Rows)) }

			const merged = "SELECT id, name FROM users WHERE age > 5 ORDER BY id"
			steps, result := s.analyzed(t, s.subject, merged)
			if got := sum(t, steps["merge"], colRows); len(steps["merge"]) != 2 || got != rows(merged) || number(t, result[colRows]) != got {
				t.Errorf("merged: %v, result %v", steps, result)
			}
			for _, step := range append(steps["merge"], result) {
				if number(t, step[colBytes]) <= 0 || number(t, step[colMillis]) <= 0 || step[colInserted] != nil {
					t.Errorf("merged: %v", step)
				}
			}

			steps, result = s.analyzed(t, s.subject, "SELECT * FROM users WHERE id = 3")
			if step := steps["forward"][0]; number(t, step[colRows]) != 1 || number(t, step[colBytes]) <= 0 || step[colNode] != "n1" || step[colShards] != "shop.users_0001" || !strings.Contains(step[colSQL].(string), "users_0001") {
				t.Errorf("forwarded: %v", step)
			}

			const finished = "SELECT u.name, p.amount FROM users u JOIN payments p ON p.merchant_id = u.age AND p.amount < 4"
			steps, result = s.analyzed(t, s.subject, finished)
			moved := 0
			for _, step := range steps["gather"] {
				if number(t, step[colRows]) < 0 || number(t, step[colMillis]) <= 0 {
					t.Errorf("gathered: %v", step)
				}
				if inserted := number(t, step[colInserted]); inserted > 0 {
					moved++
					if inserted < 30 || number(t, step[colInsertMills]) <= 0 || number(t, step[colBytes]) < 20 || step[colNode] == "n0" {
						t.Errorf("inserted: %v", step)
					}
				}
			}
			if final := steps["finish"][0]; len(steps["gather"]) != 4 || moved == 0 || number(t, final[colRows]) != rows(finished) || final[colNode] != "n0" || !strings.Contains(final[colSQL].(string), "ks_scratch_") ||
				number(t, result[colRows]) != rows(finished) || number(t, result[colMillis]) < number(t, final[colMillis]) || final[2] != "u and p are not joined on their sharding keys" && !strings.Contains(final[2].(string), "sharding keys") {
				t.Errorf("finished: %v, %d moved, result %v", steps, moved, result)
			}

			// Groups of the shards are collected, and no rows.
			steps, _ = s.analyzed(t, s.subject, "SELECT age, COUNT(*) c FROM users GROUP BY age HAVING c > 0")
			if got := sum(t, steps["gather"], colRows); got < 4 || got > 5 {
				t.Errorf("groups: %v", steps)
			}

			// What a server has not sent to its end is not measured to the end.
			steps, result = s.analyzed(t, s.subject, "SELECT id FROM users LIMIT 1")
			if number(t, result[colRows]) != 1 || len(steps["merge"]) != 2 {
				t.Errorf("LIMIT: %v", steps)
			}

			// ANALYZE of MariaDB's, common table expressions and set operations are queries, too.
			texts := []string{"EXPLAIN  ANALYZE  FORMAT = TREE SELECT id FROM users", "EXPLAIN ANALYZE WITH c AS (SELECT id FROM users) SELECT * FROM c",
				"EXPLAIN ANALYZE SELECT id FROM users UNION ALL SELECT id FROM orders"}
			analyze := "EXPLAIN ANALYZE "
			if kind == mysqltest.MariaDB {
				analyze = "ANALYZE "
				texts = append(texts, "ANALYZE SELECT id FROM users", "ANALYZE FORMAT=JSON SELECT id FROM users")
			}
			for _, sql := range texts {
				if r := must(t, s.subject, sql); len(r.Rows) < 3 || r.Rows[len(r.Rows)-1][colPlan] != "result" || number(t, r.Rows[len(r.Rows)-1][colRows]) < 5 {
					t.Errorf("%s: %v", sql, r.Rows)
				}
			}
			if r := must(t, s.subject, "EXPLAIN SELECT id FROM users"); len(r.Columns) != 8 {
				t.Errorf("EXPLAIN has %d columns", len(r.Columns))
			}

			// Changes are not carried out.
			for _, sql := range []string{"UPDATE users SET age = 0", "DELETE FROM users", "INSERT INTO users (id) VALUES (70)", "INSERT INTO users SELECT id + 100, name, age FROM users", "REPLACE INTO users (id) VALUES (1)"} {
				fails(t, s.subject, "EXPLAIN ANALYZE "+sql, 9012)
				fails(t, s.subject, analyze+sql, 9012)
			}
			if got := fmt.Sprint(must(t, s.subject, "SELECT COUNT(*), SUM(age) FROM users").Rows); got != "[[5 112]]" {
				t.Errorf("a change was carried out: %s", got)
			}

			// Errors are those of the query, and nothing is left behind.
			for sql, code := range map[string]uint16{"SELECT nope FROM users": 1054, "SELECT id FROM users WHERE id = 1 AND nope = 2": 1054, "SELECT nope FROM users u JOIN payments p ON p.merchant_id = u.age": 1054, "SELECT id FROM users INTO OUTFILE '/x'": 9012} {
				fails(t, s.subject, "EXPLAIN ANALYZE "+sql, code)
				if got := fmt.Sprint(must(t, s.subject, "SELECT name FROM users WHERE id = 2").Rows); got != "[[b]]" {
					t.Errorf("behind %s: %s", sql, got)
				}
			}
		})
	}
}

// In a transaction EXPLAIN ANALYZE reads what that has changed, and leaves it as it is.
func TestExplainAnalyzeInATransaction(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startExplained(t, kind, atomicConfig)
			const finished = "SELECT u.name FROM users u JOIN payments p ON p.merchant_id = u.age"
			before := number(t, func() any { _, r := s.analyzed(t, s.subject, finished); return r[colRows] }())
			must(t, s.subject, "BEGIN")
			must(t, s.subject, "INSERT INTO users VALUES (10, 'x', 7), (11, 'y', 7)")
			r := must(t, s.subject, "EXPLAIN ANALYZE "+finished)
			if got := number(t, r.Rows[len(r.Rows)-1][colRows]); got != before+2 {
				t.Errorf("%v rows, not %v", got, before+2)
			}
			r = must(t, s.subject, "EXPLAIN ANALYZE SELECT id FROM users WHERE age = 7 FOR UPDATE")
			if got := number(t, r.Rows[len(r.Rows)-1][colRows]); got != 2 {
				t.Errorf("%v rows, not 2", got)
			}
			must(t, s.subject, "SELECT * FROM users WHERE id = 10")
			must(t, s.subject, "ROLLBACK")
			if _, r := s.analyzed(t, s.subject, finished); number(t, r[colRows]) != before {
				t.Errorf("behind ROLLBACK: %v rows, not %v", r[colRows], before)
			}
			must(t, s.subject, "SET ks_read_consistency = 'atomic'")
			if _, r := s.analyzed(t, s.subject, "SELECT id FROM users"); number(t, r[colRows]) != 5 {
				t.Errorf("at one moment: %v rows", r[colRows])
			}
		})
	}
}

// Prepared statements are analyzed with their values, and describe what they give.
func TestExplainAnalyzePrepared(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startExplained(t, kind)
			for _, n := range s.nodes {
				must(t, n, "CREATE DATABASE IF NOT EXISTS ks_other")
			}
			st, err := s.subject.Prepare("EXPLAIN ANALYZE SELECT u.name FROM users u JOIN payments p ON p.merchant_id = u.age WHERE p.amount < ?")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				r, err := st.Execute(2)
				if err != nil || r.Err != nil {
					t.Fatal(err, r)
				}
				last := r.Rows[len(r.Rows)-1]
				if len(r.Columns) != 13 || r.Columns[10].Type != mysql.TypeDouble || last[colPlan] != "result" || number(t, last[colRows]) != 2 || number(t, last[colMillis]) <= 0 {
					t.Errorf("%v", last)
				}
			}
			must(t, s.subject, "USE ks_other")
			if r, err := st.Execute(2); err != nil || r.Err == nil || r.Err.Code != 9012 {
				t.Errorf("in another database: %v, %v", r, err)
			}
		})
	}
}

// A query that is analyzed ends as it would by itself: by KILL, by finish_timeout, and by the limits of its user.
func TestExplainAnalyzeEnds(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startExplained(t, kind)
			login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
			again := func(t *testing.T, c *mysqltest.RawClient) {
				t.Helper()
				if r := must(t, c, "EXPLAIN ANALYZE SELECT id FROM users WHERE id = 1"); number(t, r.Rows[0][colRows]) != 1 {
					t.Errorf("behind it: %v", r.Rows)
				}
			}
			const slow = "SELECT SLEEP(20), u.name FROM users u JOIN payments p ON p.merchant_id = u.age"
			c := dial(t, s.restarted(t, "finish_timeout: 300ms"), login)
			for _, sql := range []string{slow, "EXPLAIN ANALYZE " + slow} {
				fails(t, c, sql, mysql.ERQueryTimeout)
			}
			again(t, c)

			for _, sql := range []string{slow, "SELECT id FROM users WHERE SLEEP(20) = 0", "SELECT SLEEP(20), id FROM users WHERE id = 1"} {
				victim := dial(t, s.addr, login)
				done := make(chan *mysqltest.RawResult, 1)
				go func() {
					r, _ := victim.Query("EXPLAIN ANALYZE " + sql)
					done <- r
				}()
				var r *mysqltest.RawResult
				mysqltest.WaitFor(t, "the KILL to have an effect", func() bool {
					must(t, s.subject, fmt.Sprintf("KILL QUERY %d", victim.Greeting.ConnectionID))
					select {
					case r = <-done:
						return true
					default:
						return false
					}
				})
				if r == nil || r.Err != nil && r.Err.Code != mysql.ERQueryInterrupted || r.Err == nil && !strings.Contains(sql, "WHERE id") { // SLEEP() says 1 of its end
					t.Errorf("%s: killed: %+v", sql, r)
				}
				again(t, victim)
			}

			text := strings.Replace(s.config, "{user: root, password: root, local_infile: true}", "{user: root, password: root, max_rows: 3}", 1)
			c = dial(t, startProxyText(t, text), login)
			for _, sql := range []string{"SELECT id FROM users", "SELECT u.name, o.id FROM users u JOIN orders o ON o.amount > u.age", "SELECT a.id FROM orders a JOIN orders b ON a.user_id = b.user_id AND a.user_id = 1"} {
				plain, err := c.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				analyzed, err := c.Query("EXPLAIN ANALYZE " + sql)
				if err != nil || plain.Err == nil || analyzed.Err == nil || plain.Err.Error() != analyzed.Err.Error() {
					t.Errorf("%s\n%v\n%v, %v", sql, plain.Err, analyzed.Err, err)
				}
			}
			again(t, c)
		})
	}
}
