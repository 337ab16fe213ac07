package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// stains are what a client does to its session; none of it may be seen by the next client on the same connection.
var stains = []string{
	"SET SESSION sql_mode = 'ANSI_QUOTES'",
	"SET SESSION group_concat_max_len = 77",
	"SET NAMES latin1",
	"SET @v = 'mine'",
	"SET @w = 1 + 1",
	"SELECT 5 INTO @x",
	"SELECT GET_LOCK('ks_stain', 0)",
	"LOCK TABLES stained WRITE",
	"CREATE TEMPORARY TABLE only_mine (id INT)",
	"PREPARE st FROM 'SELECT 1'",
	"SET autocommit = 0",
	"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
	"SET TRANSACTION READ ONLY",
	"SET SESSION sql_select_limit = 1",
	"SET timestamp = 100000",
	"SET time_zone = '+05:00'",
	"SET unique_checks = 0",
	"SET unique_checks = DEFAULT",
	"SET foreign_key_checks = 0",
	"SET foreign_key_checks = DEFAULT",
	"START TRANSACTION READ ONLY",
	"INSERT INTO stained VALUES (1)",
	"INSERT INTO stained VALUES (100)",
	"BEGIN",
	"DELETE FROM stained",
	"USE information_schema",
	"USE " + database,
}

// asked is what the next client looks at.
var asked = []string{
	"SELECT @@sql_mode, @@group_concat_max_len, @@character_set_client, @@collation_connection, @v, @w, @x, @@autocommit, @@sql_select_limit",
	"SELECT @@time_zone, @@foreign_key_checks, @@unique_checks, UNIX_TIMESTAMP() > 200000, DATABASE(), LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS()",
	"SELECT IS_FREE_LOCK('ks_stain')",
	"SELECT id FROM stained ORDER BY id",
	"SELECT * FROM only_mine",
	"EXECUTE st",
	"UPDATE stained SET id = id",
	"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '" + database + "'",
}

// Item 4 and threat 26: whatever a client leaves behind, however it goes, the next client on the same backend
// connection finds a session like the first one's.
func TestNothingLeaksToTheNextClient(t *testing.T) {
	leave := map[string]func(t *testing.T, c *mysqltest.RawClient){
		"quit":  func(t *testing.T, c *mysqltest.RawClient) { c.Close() },
		"break": func(t *testing.T, c *mysqltest.RawClient) { c.Conn.Close() },
		"break in a statement": func(t *testing.T, c *mysqltest.RawClient) {
			_ = c.Send(mysql.ComQuery, "SELECT SLEEP(0.05), @v := 3")
			c.Conn.Close()
		},
	}
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, setup, "CREATE TABLE stained (id INT PRIMARY KEY)")
		must(t, setup, "INSERT INTO stained VALUES (7)")
		p := startProxy(t, oneNode(server.Addr, 1))
		look := func(c *mysqltest.RawClient) string {
			var seen []string
			for _, text := range asked {
				r, err := c.Query(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if r.Err != nil {
					seen = append(seen, fmt.Sprint("error ", r.Err.Code))
					continue
				}
				seen = append(seen, fmt.Sprint(r.Rows))
				for _, column := range r.Columns {
					seen = append(seen, fmt.Sprintf("  %s is %#x, character set %d", column.Name, column.Type, column.Charset))
				}
			}
			return strings.Join(seen, "\n")
		}
		want := look(p.client(database))
		for how, goAway := range leave {
			for k, stain := range stains {
				must(t, setup, "DELETE FROM stained WHERE id <> 7")
				must(t, setup, "REPLACE INTO stained VALUES (7)")
				c, err := mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
				if err != nil {
					t.Fatal(err)
				}
				// Every stain alone, and on top of the one before.
				for _, text := range []string{stains[(k+len(stains)-1)%len(stains)], stain} {
					if _, err := c.Query(text); err != nil {
						t.Fatalf("%s: %v", text, err)
					}
				}
				goAway(t, c)
				p.quiet(1)
				must(t, setup, "DELETE FROM stained WHERE id <> 7")
				must(t, setup, "REPLACE INTO stained VALUES (7)")
				next := p.client(database)
				if got := look(next); got != want {
					t.Errorf("%s, %s: the next client sees\n%s\nwant\n%s", stain, how, got, want)
				}
				next.Close()
			}
		}
	})
}

// A client that goes on after COM_RESET_CONNECTION, or as another user after COM_CHANGE_USER, starts afresh as well. The servers
// leave FOUND_ROWS() as it is at a reset: there it is what it is without the proxy; another user does not see it.
func TestNothingLeaksOverAReset(t *testing.T) {
	again := map[string]func(c *mysqltest.RawClient) error{
		"reset": func(c *mysqltest.RawClient) error {
			_, err := c.Command(mysql.ComResetConnection, "")
			return err
		},
		"change user": func(c *mysqltest.RawClient) error { return c.ChangeUser("ks", "ks", database) },
	}
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, setup, "CREATE TABLE stained (id INT PRIMARY KEY)")
		p := startProxy(t, oneNode(server.Addr, 2))
		const text = "SELECT @@group_concat_max_len, @@sql_mode, @v, @w, @x, @@autocommit, @@time_zone, LAST_INSERT_ID(), FOUND_ROWS()"
		const two, three = "SELECT 1 UNION SELECT 2", "SELECT 1 UNION SELECT 2 UNION SELECT 3"
		other := p.client(database)
		fresh := value(t, other, text)
		afresh, ok := strings.CutSuffix(fresh, ",0")
		if !ok {
			t.Fatalf("FOUND_ROWS() of a new session: %s", fresh)
		}
		bare := make(map[string]string) // what FOUND_ROWS() is on the server after a stain and a reset
		for _, stain := range stains {
			c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			must(t, c, two)
			if _, err := c.Query(stain); err != nil {
				t.Fatal(err)
			}
			if err := again["reset"](c); err != nil {
				t.Fatal(err)
			}
			bare[stain] = value(t, c, "SELECT FOUND_ROWS()")
			must(t, c, "DELETE FROM "+database+".stained")
			c.Close()
		}
		for how, reset := range again {
			for _, stain := range stains {
				if strings.HasPrefix(stain, "USE") {
					continue // COM_RESET_CONNECTION keeps the database
				}
				must(t, other, three) // whose rows nobody else may hear of
				c := p.client(database)
				must(t, c, two)
				must(t, other, three)
				if _, err := c.Query(stain); err != nil {
					t.Fatal(err)
				}
				want := fresh
				if how == "reset" {
					want = afresh + "," + bare[stain]
				}
				if err := reset(c); err != nil {
					t.Fatalf("%s after %s: %v", how, stain, err)
				}
				if got := value(t, c, text); got != want {
					t.Errorf("%s after %s: %s, want %s", how, stain, got, want)
				}
				if got := value(t, c, "SELECT IS_FREE_LOCK('ks_stain')"); got != "1" {
					t.Errorf("%s after %s: the lock is held", how, stain)
				}
				must(t, c, "DELETE FROM "+database+".stained")
				fails(t, c, "SELECT * FROM "+database+".only_mine", 1146)
				c.Close()
			}
		}
	})
}

// A session that holds state on one node does not put half of it on another one: neither an open transaction nor a
// temporary table may be on a connection that goes back to the pool.
func TestStateOnOneNodeOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, setup, "CREATE TABLE things (id INT)")
		// Two nodes on one server: what leaks from one is seen at once.
		p := startProxy(t, configText([]node{{name: "n1", master: server.Addr, conns: 1}, {name: "n2", master: server.Addr, conns: 1}}))
		other := p.client(database)
		for _, hold := range []string{"SELECT GET_LOCK('one', 0)", "CREATE TEMPORARY TABLE held (id INT)", "SET @x = 1 + 1", "BEGIN; SELECT * FROM things"} {
			for _, state := range []string{
				"/*n2*/ CREATE TEMPORARY TABLE only_mine (id INT)", "/*n2*/ SELECT GET_LOCK('two', 0)", "/*n2*/ SELECT 7 INTO @leak",
				"/*n2*/ INSERT INTO things VALUES (1)", "/*n2*/ LOCK TABLES things WRITE",
			} {
				c := p.client(database)
				must(t, c, hold)
				must(t, c, "SET autocommit = 0")
				if _, err := c.Query(state); err != nil {
					t.Fatalf("%s: %v", state, err)
				}
				seen := fmt.Sprintf("after %s, %s", hold, state)
				r, err := other.Query("/*n2*/ SELECT @leak, COUNT(*) FROM things")
				if err != nil {
					t.Fatal(seen, err)
				}
				if r.Err == nil && fmt.Sprint(r.Rows) != "[[<nil> 0]]" {
					t.Errorf("%s: %v", seen, r.Rows)
				}
				r, err = other.Query("/*n2*/ SELECT * FROM only_mine")
				if err != nil {
					t.Fatal(seen, err)
				}
				if r.Err == nil {
					t.Errorf("%s: another client's temporary table is there", seen)
				}
				c.Close()
				p.quiet(1)
				if got := value(t, other, "/*n2*/ SELECT IS_FREE_LOCK('two'), IS_FREE_LOCK('one')"); got != "1,1" {
					t.Errorf("%s: locks %s", seen, got)
				}
				if n := number(t, setup, "SELECT COUNT(*) FROM things"); n != 0 {
					t.Errorf("%s: %d rows", seen, n)
					must(t, setup, "DELETE FROM things")
				}
			}
		}
		// A statement elsewhere beside held state has the variables, whatever node they are on, and gives them values; one that leaves other state is told where that is.
		c := p.client(database)
		must(t, c, "SET @x = 1 + 1")
		if got := value(t, c, "/*n2*/ SELECT @x"); got != "2" {
			t.Errorf("@x on the other node is %s", got)
		}
		if got := value(t, c, "/*n2*/ SELECT @x := 3"); got != "3" {
			t.Errorf("@x becomes %s on the other node", got)
		}
		if got := value(t, c, "SELECT @x"); got != "3" {
			t.Errorf("@x is %s", got)
		}
		if e := fails(t, c, "/*n2*/ SELECT GET_LOCK('three', 0)", 9004); !strings.Contains(e.Message, "n1") {
			t.Errorf("the error does not name the node: %v", e)
		}
		must(t, c, "SELECT SQL_CALC_FOUND_ROWS 1")
	})
}
