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

// What a client sets for its next transaction only stays its own when it changes its database first.
func TestUseBeforeATransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, oneNode(server.Addr, 1))
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE t (id INT PRIMARY KEY)")
		proxied, other := p.client(""), p.client(database)
		for _, c := range []*mysqltest.RawClient{direct, proxied} {
			must(t, c, "SET TRANSACTION READ ONLY")
			must(t, c, "USE "+database)
		}
		must(t, other, "START TRANSACTION")
		must(t, other, "INSERT INTO t VALUES (1)")
		must(t, other, "ROLLBACK")
		for _, c := range []*mysqltest.RawClient{direct, proxied} {
			must(t, c, "START TRANSACTION")
			fails(t, c, "INSERT INTO t VALUES (2)", 1792)
			must(t, c, "ROLLBACK")
		}
	})
}
