package proxy_test

import (
	"fmt"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A connection that was reset for another session is in its database as one that has just gone there.
func TestDatabaseOverAReset(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, oneNode(server.Addr, 1))
		const question = "SELECT DATABASE(), @@character_set_database, @@collation_database"
		setup := p.client(database)
		for _, charset := range []string{"latin2", "utf8mb4"} {
			must(t, setup, "DROP DATABASE IF EXISTS ks_charset")
			must(t, setup, "CREATE DATABASE ks_charset CHARACTER SET "+charset)
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "ks_charset"})
			want := fmt.Sprint(must(t, direct, question).Rows)
			for range 2 {
				c := p.client("ks_charset")
				must(t, c, "SELECT 1 INTO @x") // for which the connection is reset in the end
				if got := fmt.Sprint(must(t, c, question).Rows); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				if _, err := c.Command(mysql.ComResetConnection, ""); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(must(t, c, question).Rows); got != want {
					t.Errorf("after a reset: %s, want %s", got, want)
				}
				_ = c.Close()
				other := p.client("ks_charset")
				if got := fmt.Sprint(must(t, other, question).Rows); got != want {
					t.Errorf("of another session: %s, want %s", got, want)
				}
				_ = other.Close()
			}
		}
		must(t, setup, "DROP DATABASE ks_charset")
	})
}
