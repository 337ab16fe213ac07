package proxy_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"kingshard/backend/pool"
	"kingshard/mysql/mysqltest"
)

// Clients that log in one after the other, each with a database, need one connection to the server between them, and that need not log in
// again for each: it stays in the database.
func TestLoginsWithADatabaseUseOneConnection(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, oneNode(server.Addr, 50))
		const clients = 20
		for range clients {
			p.client(database)
		}
		for _, db := range []string{"ks_no_such_database", "ks_nor_this", "", "ks_no_such_database"} {
			_, err := mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: db})
			if (err == nil) != (db == "") || err != nil && !isCode(err, 1049) {
				t.Errorf("a login with database %q: %v", db, err)
			}
		}
		// A database that there is not costs a try on a connection that is in another.
		if st := p.primary("n").Stats(); st.Open > 1 || st.Gets[pool.HitOther].N > 3 {
			t.Errorf("the pool: %d connections, lent with another setting %d times", st.Open, st.Gets[pool.HitOther].N)
		}
		c := p.client(database)
		if got := value(t, c, "SELECT DATABASE()"); got != database {
			t.Errorf("the database is %s", got)
		}
		for _, db := range []string{"mysql", "information_schema", database} {
			must(t, c, "USE "+db)
			if got := value(t, c, "SELECT DATABASE()"); got != db {
				t.Errorf("the database is %s after USE %s", got, db)
			}
		}
	})
}

// Clients that come and go as those of web servers do, each with a variable of its own, need hardly more connections to the server than
// there are clients at a time.
func TestClientsThatComeAndGo(t *testing.T) {
	const clients, logins = 8, 60
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	for _, lane := range []bool{true, false} {
		t.Run(fmt.Sprintf("fast_lane %v", lane), func(t *testing.T) {
			p := startProxy(t, oneNode(server.Addr, clients*logins, fmt.Sprintf("fast_lane: %v", lane)))
			var group sync.WaitGroup
			for n := range clients {
				group.Go(func() {
					for k := range logins {
						visit(t, p.addr, strconv.Itoa(n*logins+k))
					}
				})
			}
			group.Wait()
			if st := p.primary("n").Stats(); st.Open > 8*clients {
				t.Errorf("%d connections for %d clients at a time", st.Open, clients)
			}
		})
	}
}

func visit(t *testing.T, addr, user string) {
	c, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "information_schema"})
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for _, text := range []string{"SET @user = " + user, "SELECT @user", "SELECT @user, 2"} {
		r, err := c.Query(text)
		if err != nil || r.Err != nil || len(r.Rows) == 1 && r.Rows[0][0] != user {
			t.Errorf("%s: %+v, %v, want %s", text, r, err, user)
		}
	}
}

// A database whose name is not ASCII is found by the bytes that it has in the client's character set, whatever the connections carried before.
func TestDatabaseInTheClientsCharacterSet(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, oneNode(server.Addr, 2))
		direct := dial(t, server.Addr, rootClient())
		must(t, direct, "CREATE DATABASE IF NOT EXISTS `ks_é`")
		defer must(t, direct, "DROP DATABASE `ks_é`")
		p.client(database)
		for range 2 {
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "ks_\xe9", Collation: 8}) // latin1
			if got := value(t, c, "SELECT HEX(CONVERT(DATABASE() USING utf8mb4))"); got != "6B735FC3A9" {
				t.Errorf("the database is %s", got)
			}
			must(t, c, "USE "+database)
			must(t, c, "USE ks_\xe9")
			p.client(database)
			p.client("ks_é")
		}
	})
}

// What a client sets for its next transaction only is its own until a transaction has had it, whatever it runs in between: as by the server,
// which alone knows what begins one.
func TestNextTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, oneNode(server.Addr, 3))
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE t (id INT PRIMARY KEY)")
		other, another := p.client(database), p.client(database)
		for _, between := range []string{
			"SELECT 1", "SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM missing", "SET @a = 1", "SET NAMES utf8mb4", "SHOW VARIABLES LIKE 'x'", "SHOW TABLES",
			"DO 1", "USE " + database, "DESCRIBE t", "COMMIT", "ROLLBACK", "BEGIN", "SELEC", "CREATE TABLE IF NOT EXISTS x (id INT)",
		} {
			proxied, gone := p.client(database), p.client(database)
			answers := map[*mysqltest.RawClient]string{}
			for _, c := range []*mysqltest.RawClient{direct, proxied, gone} {
				must(t, c, "SET TRANSACTION READ ONLY")
				r, err := c.Query(between)
				answers[c] = fmt.Sprint(r.Err != nil, err)
			}
			gone.Close()
			mysqltest.WaitFor(t, "a client to be gone", func() bool { return p.Clients() == 3 })
			for id, c := range []*mysqltest.RawClient{other, another} { // on all connections but proxied's, if that holds one
				must(t, c, "START TRANSACTION")
				must(t, c, fmt.Sprintf("INSERT INTO t VALUES (%d)", id))
			}
			must(t, other, "ROLLBACK")
			must(t, another, "ROLLBACK")
			for _, c := range []*mysqltest.RawClient{direct, proxied} {
				for range 2 { // the next transaction, and the one behind it
					must(t, c, "START TRANSACTION")
					r, err := c.Query("INSERT INTO t VALUES (2)")
					answers[c] += fmt.Sprintf(", %v %v", r.Err != nil, err)
					must(t, c, "ROLLBACK")
				}
			}
			if answers[proxied] != answers[direct] {
				t.Errorf("%s: %s, by the server %s", between, answers[proxied], answers[direct])
			}
			proxied.Close()
			mysqltest.WaitFor(t, "a client to be gone", func() bool { return p.Clients() == 2 })
		}
		if st := p.primary("n").Stats(); st.InUse != 0 {
			t.Errorf("%d connections are held", st.InUse)
		}
	})
}
