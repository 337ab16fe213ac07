package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Threat 23: whatever a character set makes of the bytes of a client's literals and names, nothing behind their quotes is read as SQL where
// the proxy writes them into texts of its own. The tail would be seen in what comes back: the server's own answer has no such row.
func TestNothingBehindALiteralIsSQL(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, server *mysqltest.RealServer, plain string) {
		addr := startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
pool_wait_timeout: 5s
user_list: [{user: root, password: root}]
nodes: [{name: n, max_conns_limit: 4, user: root, password: root, master: "%s"}]
schema_list: [{user: root, nodes: [n], default: n, shard: [{db: accept, table: spread, key: id, nodes: [n], type: mod, locations: [2]}]}]
`, server.Addr))
		direct := dial(t, server.Addr, accept())
		for _, text := range []string{"DROP TABLE IF EXISTS spread, spread_0000, spread_0001", "CREATE TABLE spread (id INT PRIMARY KEY, v INT)", "CREATE TABLE spread_0000 LIKE spread", "CREATE TABLE spread_0001 LIKE spread"} {
			must(t, direct, text)
		}
		through, ruled := dial(t, plain, accept()), dial(t, addr, accept())
		for _, charset := range []string{"gbk", "sjis", "big5", "gb18030", "cp932", "euckr", "gb2312", "ujis", "eucjpms", "latin1", "utf8mb4"} {
			if r, err := direct.Query("SET NAMES " + charset); err != nil || r.Err != nil {
				continue // the server has it not
			}
			must(t, through, "SET NAMES "+charset)
			must(t, ruled, "SET NAMES "+charset)
			for _, lead := range []string{"\x81", "\xbf", "\xa1\xa1\x95"} {
				for _, trail := range []string{"\x5c", "\x60", "''", "\x22", "\x5c''", "\x60`"} {
					for _, place := range []string{
						"SELECT CONCAT(USER(), '%s, 0x656e74657265 -- ')",
						"SELECT CONCAT(CONNECTION_ID(), '%s, 0x656e74657265 -- ')",
						"SELECT CONCAT(ROW_COUNT(), '%s, 0x656e74657265 -- ')",
						"SHOW TABLES LIKE '%s, 0x656e74657265 AS x FROM (SELECT 1 AS TABLE_NAME) AS z -- '",
						"SHOW TABLES FROM `%s` LIKE 'x'",
						"SHOW TABLE STATUS LIKE '%s OR 1 -- '",
						"SHOW TRIGGERS LIKE '%s OR 1 -- '",
						"SELECT CONCAT(spread.v, '%s, 0x656e74657265 -- ') FROM spread",
						"SELECT MAX(CONCAT(spread.v, '%s, 0x656e74657265 -- ')) FROM spread",
						"SELECT a.id, ROW_NUMBER() OVER (ORDER BY a.id) AS `%s, 0x656e74657265` FROM spread AS a",
						"SELECT `%s, 0x656e74657265 -- `.id FROM spread AS `%s, 0x656e74657265 -- ` JOIN spread AS b ON b.v = 1",
						"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME = '%s, 0x656e74657265 -- '",
						"SET @'%s=1, @entered=1 -- '=1",
						"SELECT @entered",
					} {
						text := strings.ReplaceAll(place, "%s", lead+trail)
						want, err := direct.Query(text)
						if err != nil {
							t.Fatal(err)
						}
						clients := []*mysqltest.RawClient{ruled}
						if !strings.Contains(place, "spread") {
							clients = append(clients, through)
						}
						for _, c := range clients {
							got, err := c.Query(text)
							if err != nil {
								t.Fatalf("%s %q: %v", charset, text, err)
							}
							if got.Err != nil && (want.Err != nil || got.Err.Code != 1064 && got.Err.Code != 1054) {
								continue // bytes that are no characters: refused, by the server at the latest, and read as nothing else
							}
							if strings.Contains(text, "ROW_COUNT") || strings.Contains(text, "CONNECTION_ID") || strings.Contains(text, "USER()") {
								if len(got.Columns) != len(want.Columns) {
									t.Errorf("%s %q: %d columns, the server: %d", charset, text, len(got.Columns), len(want.Columns))
								}
								continue
							}
							if a, b := outcome(want), outcome(got); a != b {
								t.Errorf("%s %q: %s, the server: %s", charset, text, b, a)
							}
						}
					}
				}
			}
		}
	})
}
