package proxy_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// Clients whose statements write user variables by triggers and stored functions, at the same time and with few connections, find
// their own values, whatever they had set before.
func TestVariablesOfTriggersAndFunctions(t *testing.T) {
	for _, lane := range []string{"fast_lane: false", laneOn} {
		onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			for _, text := range []string{
				"CREATE TABLE traced (id INT PRIMARY KEY, v INT)",
				"CREATE TRIGGER traced_bi BEFORE INSERT ON traced FOR EACH ROW SET @last = NEW.id * 10",
				"CREATE FUNCTION remember(n INT) RETURNS INT NOT DETERMINISTIC READS SQL DATA BEGIN SET @seen = n + 1; RETURN n; END",
				"CREATE VIEW remembers AS SELECT remember(id) AS r FROM traced WHERE id < 1000",
			} {
				must(t, direct, text)
			}
			p := startProxy(t, oneNode(server.Addr, 4)+lane+"\n")
			var clients sync.WaitGroup
			for n := range 4 {
				c := p.client(database)
				st, err := c.Prepare("INSERT INTO traced VALUES (?, 0)")
				if err != nil {
					t.Fatal(err)
				}
				clients.Go(func() {
					wrong := 0
					want := func(text, want string) {
						if r, err := c.Query(text); err != nil || r.Err != nil || fmt.Sprint(r.Rows) != "[["+want+"]]" {
							if wrong++; wrong < 5 {
								t.Errorf("client %d: %s: %v, want %s", n, text, r, want)
							}
						}
					}
					must(t, c, fmt.Sprintf("SET @last = %d, @mine = %d", -n, n))
					want("SELECT @last, @mine", fmt.Sprint(-n, " ", n))
					for k := range 60 {
						id := 1000*n + 10*k + 1
						if k%3 == 1 {
							if _, err := st.Execute(id); err != nil {
								t.Error(err)
							}
						} else {
							must(t, c, fmt.Sprintf("INSERT INTO traced VALUES (%d, 0)", id))
						}
						want("SELECT @last, @mine", fmt.Sprint(10*id, " ", n))
						must(t, c, fmt.Sprintf("SELECT remember(%d)", id))
						want("SELECT @seen", fmt.Sprint(id+1))
					}
				})
			}
			clients.Wait()
			if pins := p.PinTotals()["user_variable"]; pins < 4 {
				t.Errorf("%d connections were held for user variables, want 4", pins)
			}
		})
	}
}

// What is made or changed while the proxy runs is known at once where that goes through the proxy, and suspected by what the server
// says of a session's state where it does not.
func TestStoredObjectsMadeMeanwhile(t *testing.T) {
	for _, lane := range []string{"fast_lane: false\n", laneOn + "\n", laneOn + "\n" + pipelined + "\n"} {
		onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			must(t, direct, "CREATE TABLE made (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
			p := startProxy(t, oneNode(server.Addr, 1)+lane, "health_interval: 60s")
			for k, body := range []string{"SET @leak = 7", "SET group_concat_max_len = 77", "CREATE TEMPORARY TABLE IF NOT EXISTS leaked (a INT)", "DO GET_LOCK('ks_made', 0)"} {
				for _, through := range []bool{true, false} {
					if !through && strings.Contains(body, "GET_LOCK") {
						continue // of this no server tells
					}
					name := fmt.Sprintf("made%d%v", k, through)
					const sees = "SELECT @leak, @@group_concat_max_len, IS_FREE_LOCK('ks_made')"
					other := p.client(database)
					want := outcomeOf(t, other, sees)
					other.Close()
					maker := direct
					if through {
						maker = p.client(database)
					}
					must(t, maker, "CREATE TABLE "+name+" (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
					must(t, maker, "CREATE TRIGGER "+name+"t BEFORE INSERT ON "+name+" FOR EACH ROW BEGIN "+body+"; END")
					must(t, maker, "CREATE FUNCTION "+name+"f() RETURNS INT NOT DETERMINISTIC READS SQL DATA BEGIN "+body+"; RETURN 1; END")
					must(t, maker, "CREATE VIEW "+name+"v AS SELECT "+name+"f() AS x")
					if through {
						maker.Close()
					}
					for _, text := range []string{"INSERT INTO " + name + " (v) VALUES (1)", "SELECT * FROM " + name + "v", "SELECT " + name + "f()"} {
						c := p.client(database)
						must(t, c, text)
						if got := outcomeOf(t, c, "SELECT @leak, @@group_concat_max_len"); k < 2 && !strings.Contains(lane, pipelined) && !strings.Contains(got, []string{"7", "77"}[k]) {
							t.Errorf("%s, %s, made through the proxy %v: the client itself sees %s", body, text, through, got)
						}
						c.Close()
						other := p.client(database)
						if got := outcomeOf(t, other, sees); got != want {
							t.Errorf("%s, %s, made through the proxy %v: the next client sees %s, want %s", body, text, through, got, want)
						}
						if got := outcomeOf(t, other, "SELECT * FROM leaked"); got != "error 1146" {
							t.Errorf("%s, %s, made through the proxy %v: the next client finds a table: %s", body, text, through, got)
						}
						other.Close()
					}
				}
			}
		})
	}
}

// An account that may not see definitions costs sharing of connections, and leaks nothing. It is named in the log.
func TestStoredObjectsThatCannotBeSeen(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for _, text := range []string{
			"DROP USER IF EXISTS blind", "CREATE USER blind IDENTIFIED BY 'blind-password'", "CREATE TABLE hidden (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
			"GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON " + database + ".* TO blind",
			"CREATE TRIGGER hidden_bi BEFORE INSERT ON hidden FOR EACH ROW BEGIN SET @leak = 7; DO GET_LOCK('ks_hidden', 0); END",
			"CREATE FUNCTION hiddenf() RETURNS INT NOT DETERMINISTIC READS SQL DATA BEGIN SET @leak = 8; DO GET_LOCK('ks_hidden', 0); RETURN 1; END",
			"CREATE VIEW hiddenv AS SELECT hiddenf() AS x", "CREATE TABLE open_to_all (id INT PRIMARY KEY)",
		} {
			must(t, direct, text)
		}
		p := startLane(t, strings.ReplaceAll(oneNode(server.Addr, 1), "user: root, password: root, master", "user: blind, password: blind-password, master"))
		for _, text := range []string{"INSERT INTO hidden (v) VALUES (1)", "SELECT hiddenf()", "SELECT * FROM hiddenv", "UPDATE hidden SET v = hiddenf()"} {
			c := p.client(database)
			must(t, c, text)
			c.Close()
			other := p.client(database)
			if got := outcomeOf(t, other, "SELECT @leak, IS_FREE_LOCK('ks_hidden')"); got != "[[<nil> 1]]" {
				t.Errorf("after %s: the next client sees %s", text, got)
			}
			other.Close()
		}
		for range 3 { // reads of tables share it
			must(t, p.client(database), "SELECT * FROM open_to_all")
		}
		if log := p.log.String(); !strings.Contains(log, "TRIGGER on "+database) || !strings.Contains(log, "SHOW VIEW on "+database) {
			t.Errorf("the log does not say what is missing:\n%s", log)
		}
	})
}

// On a server without stored objects of a user's own, statements that do not name the server's databases are not looked into: they reach
// nothing.
func TestFreshServersReachNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		c, err := backend.Dial(ctx, &backend.DialConfig{Addr: server.Addr, User: "root", Password: "root", AllowPublicKeyRetrieval: true, MaxAllowedPacket: 1 << 20}, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var databases []string
		if err := c.Rows("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA", 1, func(row []string) { databases = append(databases, row[0]) }); err != nil {
			t.Fatal(err)
		}
		for _, db := range databases {
			if !sqltext.IsSystemSchema(db) && db != database && db != "test" {
				if err := c.Exec("DROP DATABASE `" + db + "`"); err != nil { // of an earlier test
					t.Fatal(err)
				}
			}
		}
		ask := func() bool {
			o, err := stored.Ask(c, sqltext.Mode{MariaDB: c.Info.MariaDB, ServerVersion: int32(c.Info.Number)})
			if err != nil {
				t.Fatal(err)
			}
			return o.PlainOutside()
		}
		if !ask() {
			t.Error("something of the server's own is taken for a user's")
		}
		if err := c.Exec("CREATE FUNCTION " + database + ".sets() RETURNS INT NOT DETERMINISTIC READS SQL DATA BEGIN SET @x = 1; RETURN 1; END"); err != nil {
			t.Fatal(err)
		}
		if ask() {
			t.Error("a function with effects is not")
		}
	})
}

// The answers to plain statements are the same, byte for byte, whether the server is to say that a session's state changed or not.
func TestStateTrackerCostsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		open := func() *mysqltest.RawClient {
			return dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		}
		on, off := open(), open()
		must(t, off, "CREATE TABLE followed (id INT PRIMARY KEY, v INT)")
		must(t, on, "SET session_track_state_change = 1")
		for _, text := range []string{
			"SELECT * FROM followed WHERE id = 1", "REPLACE INTO followed VALUES (1, 1)", "UPDATE followed SET v = v WHERE id = 1", "DELETE FROM followed WHERE id = 99", "REPLACE INTO followed VALUES (1, 1)", "DELETE FROM followed WHERE id = 99", "BEGIN",
			"INSERT INTO followed VALUES (5, 1)", "ROLLBACK", "SELECT COUNT(*) FROM followed", "SELECT LAST_INSERT_ID(), NOW() IS NULL", "SELECT missing",
		} {
			var answers [2]string
			for k, c := range []*mysqltest.RawClient{on, off} {
				packets, err := c.Command(mysql.ComQuery, text)
				if err != nil {
					t.Fatal(err)
				}
				answers[k] = fmt.Sprintf("%q", packets)
				if text == "INSERT INTO followed VALUES (5, 1)" {
					must(t, c, "ROLLBACK")
				}
			}
			if answers[0] != answers[1] {
				t.Errorf("%s: %s, without it %s", text, answers[0], answers[1])
			}
		}
		packets, err := on.Command(mysql.ComQuery, "SET @x = 1")
		if err != nil || len(packets[0]) < 10 {
			t.Errorf("the tracker is off: %q, %v", packets, err)
		}
		// A client does not hear of what it did not ask for.
		p := startProxy(t, oneNode(server.Addr, 2))
		c := p.client(database)
		for _, text := range []string{"SET @x = 1 + 1", "SELECT @x := 2", "CREATE TEMPORARY TABLE tt (a INT)"} {
			if packets, err := c.Command(mysql.ComQuery, text); err != nil || len(packets[len(packets)-1]) > 12 {
				t.Errorf("%s: %q, %v", text, packets, err)
			}
		}
	})
}
