package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// The rule says how the ids of a table are made, and which node they come from.
func TestSequenceOfRule(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		users, orders := "table: users, key: id, type: hash", "table: orders, key: user_id, colocate_with: users"
		text := strings.Replace(s.config, users, users+", sequence: {step: 20, node: n1}", 1)
		text = strings.Replace(text, orders, orders+", sequence: {kind: snowflake, node: n1}", 1)
		c := dial(t, startProxyText(t, text), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		for want := uint64(1); want <= 30; want += 3 {
			if r := must(t, c, "INSERT INTO users (n) VALUES (1), (2), (3)"); r.OK.LastInsertID != want {
				t.Errorf("an id of %d, not %d", r.OK.LastInsertID, want)
			}
		}
		if r := must(t, s.nodes[1], "SELECT `next` FROM ks_meta.sequence WHERE name = 'users'"); len(r.Rows) != 1 || fmt.Sprintf("%s", r.Rows[0]) != "[41]" && fmt.Sprintf("%s", r.Rows[0]) != "[61]" {
			t.Errorf("the node keeps %s", r.Rows)
		}
		last := uint64(0)
		prepared, err := c.Prepare("INSERT INTO orders (user_id, v) VALUES (?, 'x'), (?, 'y'), (?, 'z')")
		if err != nil {
			t.Fatal(err)
		}
		for k := range 20 {
			r := must(t, c, fmt.Sprintf("INSERT INTO orders (user_id) VALUES (%d)", k))
			if k%2 == 0 {
				if r, err = prepared.Execute(k, k+1, k+2); err != nil {
					t.Fatal(err)
				}
			}
			if r.OK.LastInsertID <= last || r.OK.LastInsertID < 1<<50 {
				t.Errorf("behind %d comes %d", last, r.OK.LastInsertID)
			}
			last = r.OK.LastInsertID
			if told := must(t, c, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", told.Rows[0][0]) != fmt.Sprint(last) {
				t.Errorf("LAST_INSERT_ID() is %s, not %d", told.Rows[0][0], last)
			}
		}
		if r := must(t, c, fmt.Sprintf("SELECT v FROM orders WHERE id BETWEEN %d AND %d ORDER BY id", last-2, last+2)); last == 0 || len(r.Rows) == 0 {
			t.Errorf("rows of %d: %s", last, r.Rows)
		}
		if r := must(t, c, "SELECT COUNT(*), COUNT(DISTINCT id) FROM orders"); fmt.Sprintf("%s", r.Rows[0]) != "[50 50]" {
			t.Errorf("rows and ids: %s", r.Rows[0])
		}
		must(t, c, "INSERT INTO orders (id, user_id) VALUES (7, 1), (NULL, 2)")
		must(t, c, "ALTER TABLE orders AUTO_INCREMENT = 5")
		must(t, c, "TRUNCATE TABLE orders")
		if r := must(t, c, "INSERT INTO orders (user_id) VALUES (1)"); r.OK.LastInsertID <= last {
			t.Errorf("behind %d comes %d", last, r.OK.LastInsertID)
		}
		if r := must(t, s.nodes[0], "SHOW DATABASES LIKE 'ks_meta'"); len(r.Rows) > 0 {
			t.Errorf("the default node has ks_meta, too")
		}
	})
}
