package session_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

var bothKinds = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9}

// onBoth runs a test on MariaDB and on MySQL 9, with a pool of conns connections and a database of its own.
func onBoth(t *testing.T, conns int, f func(t *testing.T, server *mysqltest.RealServer, addr string), more ...string) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			makeDatabases(t, server, "accept")
			f(t, server, startProxy(t, server, conns, more...))
		})
	}
}

func accept() mysqltest.ClientConfig {
	return mysqltest.ClientConfig{User: "root", Password: "root", DB: "accept"}
}

// must runs a statement that must succeed.
func must(t *testing.T, c *mysqltest.RawClient, text string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	if r.Err != nil {
		t.Fatalf("%.80s: %v", text, r.Err)
	}
	return r
}

// fails runs a statement that must fail with the code given.
func fails(t *testing.T, c *mysqltest.RawClient, text string, code uint16) {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	if r.Err == nil || r.Err.Code != code {
		t.Errorf("%.80s: %v, want error %d", text, r.Err, code)
	}
}

// threads counts the connections of the proxy to the server, its probe included, by a connection of the test's.
func threads(t *testing.T, direct *mysqltest.RawClient) int {
	t.Helper()
	n, err := strconv.Atoi(fmt.Sprint(must(t, direct, "SELECT COUNT(*) - 1 FROM information_schema.processlist WHERE user = 'root'").Rows[0][0]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Item 1: many clients, a low ceiling, transactions among them: everybody gets through and the ceiling holds.
func TestManyClientsLowCeiling(t *testing.T) {
	onBoth(t, 8, func(t *testing.T, server *mysqltest.RealServer, _ string) {
		// Clients' statements run by an account of their own. What the proxy does besides, which is not of the pool, may take a second
		// connection for a moment: a probe that is slow is tried again beside the first.
		const ceiling = 8
		addr := startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
pool_wait_timeout: 1m
user_list: [{user: root, password: root}]
nodes: [{name: n, max_conns_limit: %d, user: ks, password: ks, admin_user: root, admin_password: root, allow_public_key_retrieval: true, master: "%s"}]
schema_list: [{user: root, nodes: [n], default: n}]
`, ceiling, server.Addr))
		direct := dial(t, server.Addr, accept())
		// A server lists a connection that was closed for a moment more, beside the one in its place: what counts is there twice in a row.
		last := map[any]bool{}
		pooled := func() (n int) {
			now := map[any]bool{}
			for _, row := range must(t, direct, "SELECT id FROM information_schema.processlist WHERE user = 'ks'").Rows {
				if now[row[0]] = true; last[row[0]] {
					n++
				}
			}
			last = now
			return n
		}
		var clients sync.WaitGroup
		var stop atomic.Bool
		var most int
		for n := range 32 {
			c := dial(t, addr, accept())
			clients.Go(func() {
				for !stop.Load() {
					for _, text := range []string{"SELECT SLEEP(0.001)", "BEGIN", "SELECT " + strconv.Itoa(n), "COMMIT"} {
						if r, err := c.Query(text); err != nil || r.Err != nil {
							t.Errorf("client %d, %s: %v, %v", n, text, err, r)
							return
						}
					}
				}
			})
		}
		defer clients.Wait()
		defer stop.Store(true)
		began := time.Now()
		mysqltest.WaitFor(t, "a full pool", func() bool {
			most = max(most, pooled())
			return most >= ceiling && time.Since(began) > time.Second
		})
		if most != ceiling {
			t.Errorf("%d connections for clients' statements, want %d", most, ceiling)
		}
	})
}

// Item 3: a client killed in a transaction gives its locks back at once.
func TestVanishedClientReleasesItsLocks(t *testing.T) {
	onBoth(t, 4, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		c := dial(t, addr, accept())
		for _, text := range []string{"DROP TABLE IF EXISTS locks", "CREATE TABLE locks (id INT PRIMARY KEY, n INT)", "INSERT INTO locks VALUES (1, 0)"} {
			must(t, c, text)
		}
		victim := dial(t, addr, accept())
		must(t, victim, "BEGIN")
		must(t, victim, "UPDATE locks SET n = 1 WHERE id = 1")
		victim.Close()
		must(t, c, "SET SESSION innodb_lock_wait_timeout = 5")
		if r := must(t, c, "UPDATE locks SET n = n + 10 WHERE id = 1"); r.OK.AffectedRows != 1 {
			t.Errorf("%+v", r.OK)
		}
		if r := must(t, c, "SELECT n FROM locks"); r.Rows[0][0] != "10" {
			t.Errorf("n is %v: the vanished client's change was kept", r.Rows[0][0])
		}
	})
}

// Item 5: a client with a character set other than the default costs one round trip a statement once settled.
func TestSteadyStateSendsNoSet(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: oldServer})
	addr := startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 2)
	c := dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	must(t, c, "SELECT rows")
	server.Forget()
	for range 10 {
		must(t, c, "SELECT rows")
	}
	// The watcher of the server asks by a connection of its own.
	on := map[uint32]bool{}
	for _, sent := range server.Commands() {
		if string(sent.Payload) == "SELECT rows" {
			on[sent.Conn] = true
		}
	}
	var got []string
	for _, sent := range server.Commands() {
		if on[sent.Conn] {
			got = append(got, string(sent.Payload))
		}
	}
	if want := slices.Repeat([]string{"SELECT rows"}, 10); !slices.Equal(got, want) {
		t.Errorf("sent %q for 10 statements", got)
	}
}

// Item 6: an emoji goes in and out with the character set of the handshake alone.
func TestCharsetOfTheHandshake(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		c := dial(t, addr, accept())
		must(t, c, "DROP TABLE IF EXISTS emoji")
		must(t, c, "CREATE TABLE emoji (s VARCHAR(10)) CHARACTER SET utf8mb4")
		must(t, c, "INSERT INTO emoji VALUES ('😀')")
		if r := must(t, c, "SELECT s, CHAR_LENGTH(s) FROM emoji"); r.Rows[0][0] != "😀" || r.Rows[0][1] != "1" {
			t.Errorf("%v", r.Rows)
		}
		latin := accept()
		latin.Collation = 8
		if r := must(t, dial(t, addr, latin), "SELECT @@character_set_client, @@collation_connection"); fmt.Sprint(r.Rows[0]) != "[latin1 latin1_swedish_ci]" {
			t.Errorf("%v", r.Rows)
		}
	})
}

// Item 15: payloads at and around the length of a full packet, in both directions.
func TestPayloadSizes(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		c := dial(t, addr, accept())
		const full = 1<<24 - 1
		for _, n := range []int{full - 1, full, full + 1, 2*full + 100} {
			// A row is the length of its value, four or so bytes of length before it: hit the border from both sides.
			for _, less := range []int{0, 4} {
				r := must(t, c, fmt.Sprintf("SELECT REPEAT('x', %d)", n-less))
				if got := len(r.Rows[0][0].(string)); got != n-less {
					t.Errorf("%d bytes of %d came", got, n-less)
				}
			}
			text := "SELECT LENGTH('"
			value := strings.Repeat("y", n-1-len(text)-len("')")-2)
			if r := must(t, c, text+value+"')"); r.Rows[0][0] != strconv.Itoa(len(value)) {
				t.Errorf("length %v of %d", r.Rows[0][0], len(value))
			}
		}
	})
}

// A statement longer than max_allowed_packet is refused by its header, with the server's error.
func TestMaxAllowedPacket(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		c := dial(t, addr, accept())
		if err := c.Send(mysql.ComQuery, "SELECT '"+strings.Repeat("x", 2<<20)+"'"); err != nil {
			return // closed while it was still sending
		}
		p, err := c.Read()
		if err != nil {
			return
		}
		var e mysql.SQLError
		if e.Decode(p) != nil || e.Code != mysql.ERNetPacketTooLarge {
			t.Errorf("%v", e)
		}
	}, "max_allowed_packet: 1M\n")
}

// Item 21: CLIENT_FOUND_ROWS counts matched rows, and clients without it share the pool unharmed.
func TestFoundRowsFlag(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		with, without := accept(), accept()
		with.Capabilities = mysqltest.ScriptCapabilities | mysql.ClientFoundRows
		without.Without = mysql.ClientFoundRows
		matched, plain := dial(t, addr, with), dial(t, addr, without)
		must(t, plain, "DROP TABLE IF EXISTS found")
		must(t, plain, "CREATE TABLE found (id INT)")
		must(t, plain, "INSERT INTO found VALUES (1), (2)")
		for range 3 {
			if r := must(t, matched, "UPDATE found SET id = id"); r.OK.AffectedRows != 2 {
				t.Errorf("with the flag: %d", r.OK.AffectedRows)
			}
			if r := must(t, plain, "UPDATE found SET id = id"); r.OK.AffectedRows != 0 {
				t.Errorf("without: %d", r.OK.AffectedRows)
			}
		}
	})
}

// KILL speaks of the proxy's clients.
func TestKill(t *testing.T) {
	onBoth(t, 4, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		killer, victim := dial(t, addr, accept()), dial(t, addr, accept())
		id := must(t, victim, "SELECT CONNECTION_ID()").Rows[0][0].(string)
		if id != strconv.Itoa(int(victim.Greeting.ConnectionID)) {
			t.Errorf("CONNECTION_ID() is %s, the greeting said %d", id, victim.Greeting.ConnectionID)
		}
		killed := make(chan *mysqltest.RawResult, 1)
		go func() {
			r, _ := victim.Query("SELECT SLEEP(20) FROM (SELECT 1 UNION SELECT 2) t")
			killed <- r
		}()
		mysqltest.WaitFor(t, "the victim's statement in the process list", func() bool {
			for _, row := range must(t, killer, "SHOW PROCESSLIST").Rows {
				if row[0] == id && strings.Contains(fmt.Sprint(row), "SLEEP") {
					return true
				}
			}
			return false
		})
		must(t, killer, "KILL QUERY "+id)
		select {
		case r := <-killed:
			// Both servers: SLEEP returns 1 or the statement fails, as they like it.
			if r == nil || r.Err != nil && r.Err.Code != mysql.ERQueryInterrupted {
				t.Errorf("the killed statement: %+v", r)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("KILL QUERY had no effect")
		}
		must(t, victim, "SELECT 1")
		must(t, killer, "KILL "+id)
		if _, err := victim.Query("SELECT 1"); err == nil {
			t.Error("a killed connection goes on")
		}
		fails(t, killer, "KILL 4000000000", mysql.ERNoSuchThread)
		other := dial(t, addr, mysqltest.ClientConfig{User: "mysql_native_password", Password: "secret"})
		fails(t, other, "KILL "+strconv.Itoa(int(killer.Greeting.ConnectionID)), mysql.ERKillDenied)
		for _, row := range must(t, other, "SHOW PROCESSLIST").Rows {
			if row[1] != "mysql_native_password" {
				t.Errorf("a user without the right sees %v", row)
			}
		}
	})
}

// Clients opened and killed at random moments, inside transactions too, leave nothing behind on the server.
func TestRandomlyKilledClientsLeaveNothing(t *testing.T) {
	onBoth(t, 8, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		setup := dial(t, addr, accept())
		must(t, setup, "DROP TABLE IF EXISTS random")
		must(t, setup, "CREATE TABLE random (id INT PRIMARY KEY AUTO_INCREMENT, n INT)")
		before := mustInt(t, setup, "SELECT COUNT(*) FROM random")
		texts := []string{"BEGIN", "INSERT INTO random (n) VALUES (1)", "SELECT * FROM random FOR UPDATE", "CREATE TEMPORARY TABLE tmp (n INT)",
			"SELECT GET_LOCK('random', 0)", "SET @x = 1 + 1", "SELECT SLEEP(0.01)", "LOCK TABLES random READ", "UNLOCK TABLES", "SET SESSION sql_mode = ''"}
		var clients sync.WaitGroup
		for n := range 20 {
			clients.Go(func() {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				for range 10 {
					c, err := mysqltest.DialRaw(addr, accept())
					if err != nil {
						t.Error(err)
						return
					}
					for range r.IntN(6) {
						if _, err := c.Query(texts[r.IntN(len(texts))]); err != nil {
							break
						}
					}
					if r.IntN(2) == 0 {
						_ = c.Send(mysql.ComQuery, texts[r.IntN(len(texts))])
					}
					c.Conn.Close()
				}
			})
		}
		clients.Wait()
		must(t, setup, "SET SESSION lock_wait_timeout = 5, innodb_lock_wait_timeout = 5")
		mysqltest.WaitFor(t, "all locks to be free", func() bool {
			r, err := setup.Query("SELECT IS_FREE_LOCK('random')")
			return err == nil && r.Err == nil && r.Rows[0][0] == "1"
		})
		must(t, setup, "UPDATE random SET n = 2")
		must(t, setup, "ALTER TABLE random ADD COLUMN m INT")
		if after := mustInt(t, setup, "SELECT COUNT(*) FROM random WHERE n <> 2"); after != before {
			t.Errorf("%d rows changed behind our back", after)
		}
		if n := threads(t, dial(t, server.Addr, accept())); n > 9 {
			t.Errorf("%d backend connections are open", n)
		}
		fails(t, setup, "SELECT * FROM tmp", 1146)
	})
}

func mustInt(t *testing.T, c *mysqltest.RawClient, text string) int {
	t.Helper()
	n, err := strconv.Atoi(must(t, c, text).Rows[0][0].(string))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Threat 17: a server that asks for a file that no statement named gets nothing.
func TestUnaskedLocalInfile(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if strings.Contains(string(payload), "SELECT trap") {
			_, _ = c.LocalInfile("/etc/passwd")
			return
		}
		oldServer(c, cmd, payload)
	}})
	c := dial(t, startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 2), mysqltest.ClientConfig{User: "root", Password: "root"})
	r, err := c.Query("SELECT trap")
	if err != nil || r.Err == nil || r.LocalInfile != "" {
		t.Errorf("%+v, %v", r, err)
	}
	must(t, c, "SELECT rows")
}

// Threat 7: what is sent behind a wrong password reaches no server.
func TestCommandsBehindAWrongPassword(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: oldServer})
	addr := startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 2)
	for _, user := range []string{"root", "nobody", "mysql_native_password", "client_ed25519", "caching_sha2_password"} {
		_, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: user, Password: "wrong"})
		var e *mysql.SQLError
		if !errors.As(err, &e) || e.Code != mysql.ERAccessDenied {
			t.Errorf("%s: %v", user, err)
		}
	}
	for _, q := range server.Queries() {
		if strings.Contains(q, "SELECT rows") {
			t.Errorf("reached the server: %q", q)
		}
	}
}

// Threat 24: several statements in one text only where they were asked for, each on its own.
func TestSeveralStatements(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		with := dial(t, addr, accept())
		r := must(t, with, "SELECT 1; SELECT 2 ; SELECT ';'")
		var seen []any
		for ; r != nil; r = r.Next {
			seen = append(seen, r.Rows[0][0])
		}
		if fmt.Sprint(seen) != "[1 2 ;]" {
			t.Errorf("%v", seen)
		}
		r = must(t, with, "SELECT 1; SELEC; SELECT 3")
		if r.Next == nil || r.Next.Err == nil || r.Next.Err.Code != mysql.ERParse || r.Next.Next != nil {
			t.Errorf("an error must end the text: %+v", r.Next)
		}
		config := accept()
		config.Without = mysql.ClientMultiStatements
		fails(t, dial(t, addr, config), "SELECT 1; DROP TABLE random", mysql.ERParse)
	})
}

// Prepared statements survive a connection that another client uses in between (items 7 and the text's W6, W7).
func TestPreparedStatements(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		db, err := sql.Open("mysql", strings.Replace(server.DSN("accept"), server.Addr, addr, 1))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(3)
		var clients sync.WaitGroup
		for n := range 3 {
			clients.Go(func() {
				st, err := db.Prepare("SELECT ? + 1, ?, CONCAT(?, 'x')")
				if err != nil {
					t.Error(err)
					return
				}
				defer st.Close()
				none, err := db.Prepare("SELECT 7")
				if err != nil {
					t.Error(err)
					return
				}
				defer none.Close()
				for k := range 50 {
					var a, seven int
					var b, c sql.NullString
					if err := st.QueryRow(n*100+k, nil, "é").Scan(&a, &b, &c); err != nil || a != n*100+k+1 || b.Valid || c.String != "éx" {
						t.Errorf("%d %v %v, %v", a, b, c, err)
						return
					}
					if err := none.QueryRow().Scan(&seven); err != nil || seven != 7 {
						t.Errorf("%d, %v", seven, err)
						return
					}
				}
			})
		}
		clients.Wait()
	})
}

// Statements with types sent once only: the way of the C client library.
func TestTypesSentOnce(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		c, other := dial(t, addr, accept()), dial(t, addr, accept())
		st, err := c.Prepare("SELECT ?, ?")
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			r, err := st.Execute("first", strconv.Itoa(k))
			if err != nil || r.Err != nil || r.Rows[0][1] != strconv.Itoa(k) {
				t.Fatalf("%+v, %v", r, err)
			}
			must(t, other, "SELECT 'in between'")
		}
	})
}
