package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// collectsNow waits until statements under way have collected nothing.
func collectsNow(t *testing.T, c *mysqltest.RawClient, something bool) {
	t.Helper()
	mysqltest.WaitFor(t, fmt.Sprintf("statements to have collected rows: %v", something), func() bool {
		return (fmt.Sprint(must(t, c, "SHOW KS STATUS LIKE 'Finish_bytes_now'").Rows[0][1]) != "0") == something
	})
}

// limited expects error 9014 that names a setting.
func limited(t *testing.T, c *mysqltest.RawClient, sql, setting string) {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil || r.Err == nil || r.Err.Code != 9014 || !strings.Contains(r.Err.Message, setting) {
		t.Errorf("%s: %v %+v, want error 9014 with %s", sql, err, r, setting)
	}
}

const limitSchema = "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, n INT, x TEXT)"

// fillLong fills users with rows of both nodes, 20 KB each as they are sent.
func (s *shards) fillLong(t *testing.T, rows int) {
	t.Helper()
	var list []string
	for id := range rows {
		list = append(list, fmt.Sprintf("(%d, %d, REPEAT('x', 10000))", id, id%7))
	}
	must(t, s.subject, "INSERT INTO users VALUES "+strings.Join(list, ", "))
}

// What one statement may collect is bounded for the user and in rows, which are there already or come from elsewhere, by text and prepared.
func TestFinishLimitsOfStatements(t *testing.T) {
	onShards(t, limitSchema, func(t *testing.T, s *shards) {
		s.fillLong(t, 200)
		login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
		const long, short = "SELECT GROUP_CONCAT(x) IS NULL FROM users", "SELECT GROUP_CONCAT(n) IS NULL FROM users"
		must(t, s.subject, long)
		own := *s
		own.config = strings.Replace(s.config, "local_infile: true", "local_infile: true, finish_max_bytes: 1M", 1)
		c := dial(t, own.restarted(t), login)
		limited(t, c, long, "1M (finish_max_bytes)")
		must(t, c, short)
		limited(t, c, "INSERT INTO users (id, n, x) SELECT n + 1000, id, x FROM users", "(finish_max_bytes)")
		own.config = strings.Replace(s.config, "local_infile: true", "local_infile: true, finish_max_bytes: 200M", 1)
		must(t, dial(t, own.restarted(t, "finish_max_bytes: 1M"), login), long)

		// 100 rows are on each node.
		for _, most := range []int{50, 150, 199} {
			c := dial(t, s.restarted(t, fmt.Sprint("finish_max_rows: ", most)), login)
			for _, sql := range []string{short, "SELECT COUNT(*) FROM users a JOIN users b ON a.n = b.id AND a.x = b.x FOR UPDATE"} {
				limited(t, c, sql, fmt.Sprint(most, " rows (finish_max_rows)"))
			}
			st, err := c.Prepare("SELECT GROUP_CONCAT(n) IS NULL FROM users WHERE id > ?")
			if err != nil {
				t.Fatal(err)
			}
			if r, err := st.Execute("-1"); err != nil || r.Err == nil || r.Err.Code != 9014 {
				t.Errorf("prepared: %v %+v", err, r)
			}
			if r, err := st.Execute("160"); err != nil || r.Err != nil {
				t.Errorf("prepared, of few rows: %v %+v", err, r)
			}
			must(t, c, short+" WHERE id < 40")
			must(t, c, "SELECT id FROM users ORDER BY n")
			collectsNow(t, c, false)
		}
		must(t, dial(t, s.restarted(t, "finish_max_rows: 200"), login), short)
	})
}

// What all statements under way have collected is bounded, and given back by each that ends, in whatever way.
func TestFinishLimitOfAll(t *testing.T) {
	onShards(t, limitSchema, func(t *testing.T, s *shards) {
		s.fillLong(t, 200)
		addr := s.restarted(t, "finish_total_bytes: 3M", "finish_max_bytes: 3M")
		login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
		c := dial(t, addr, login)
		const stays = "SELECT SLEEP(100), g.n FROM (SELECT n, GROUP_CONCAT(x) FROM users GROUP BY n) g"
		const short = "SELECT GROUP_CONCAT(x) IS NULL FROM users"
		for _, end := range []string{"a KILL QUERY", "the end of its client", "the end of its connection to the server", "an error"} {
			victim := dial(t, addr, login)
			if end == "an error" {
				fails(t, victim, "SELECT (SELECT 1 UNION SELECT 2), g.n FROM (SELECT n, GROUP_CONCAT(x) FROM users GROUP BY n) g", 1242)
				collectsNow(t, c, false)
				continue
			}
			sql := stays
			if end == "the end of its connection to the server" {
				must(t, victim, "BEGIN") // else it would be sent again; rows of both nodes are moved then
				sql = strings.Replace(sql, "FROM users", "FROM users WHERE id < 100", 1)
			}
			if err := victim.Send(mysql.ComQuery, sql); err != nil {
				t.Fatal(err)
			}
			mysqltest.WaitFor(t, "the statement to sleep", func() bool { return running(t, s.nodes[0], "SLEEP(100)") })
			collectsNow(t, c, true)
			limited(t, c, short, "3M (finish_total_bytes)")
			limited(t, c, "INSERT INTO users (id, n, x) SELECT n + 1000, id, x FROM users", "3M (finish_total_bytes)")
			must(t, c, "SELECT GROUP_CONCAT(n) IS NULL FROM users")
			switch end {
			case "a KILL QUERY":
				must(t, c, fmt.Sprint("KILL QUERY ", victim.Greeting.ConnectionID))
			case "the end of its client":
				_ = victim.Conn.Close()
			case "the end of its connection to the server":
				id := must(t, s.nodes[0], "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'").Rows[0][0]
				must(t, s.nodes[0], fmt.Sprint("KILL CONNECTION ", id))
			}
			collectsNow(t, c, false)
			must(t, c, short)
		}
		collectsNow(t, c, false)
	})
}
