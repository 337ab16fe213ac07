package proxy_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// SHOW TABLES with sharded tables names its column as the server does, whatever LIKE looks for.
func TestShowTablesColumn(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, rootClient())
		for _, text := range []string{
			"DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "CREATE TABLE shop.orders_0000 (id INT)", "CREATE TABLE shop.orders_0001 (id INT)", "CREATE TABLE shop.`it's` (id INT)", "USE shop",
		} {
			must(t, direct, text)
		}
		t.Cleanup(func() { must(t, dial(t, server.Addr, rootClient()), "DROP DATABASE shop") })
		c := startProxy(t, shopText(server.Addr, server.Addr)).client("shop")
		for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"} {
			must(t, direct, "SET sql_mode = '"+mode+"'")
			must(t, c, "SET sql_mode = '"+mode+"'")
			for _, like := range []string{"", " LIKE 'it%'", " LIKE 'it''s'", ` LIKE 'it\_s'`, ` LIKE 'it\\%'`, " LIKE 'i`t'", " WHERE Tables_in_shop LIKE 'it%'"} {
				want, got := must(t, direct, "SHOW TABLES"+like), must(t, c, "SHOW TABLES"+like)
				if fmt.Sprintf("%q", got.Names()) != fmt.Sprintf("%q", want.Names()) {
					t.Errorf("%s: SHOW TABLES%s: %q, the server has %q", mode, like, got.Names(), want.Names())
				}
				if like != "" && fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
					t.Errorf("%s: SHOW TABLES%s: %v, the server has %v", mode, like, got.Rows, want.Rows)
				}
			}
		}
	})
}
