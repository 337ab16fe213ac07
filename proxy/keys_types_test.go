package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A key of text compared with a number is looked for on every shard, as every text that begins with no other number is 0.
func TestKeysOfTextAndNumbers(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		text := strings.Replace(oneNode(server.Addr, 6), "{user: root, nodes: [n], default: n}", "{user: root, nodes: [n], default: n, shard: [{db: "+database+
			", table: prices, key: region, nodes: [n], type: list, values: [[de, '0'], [us], [at, '7']], locations: [3]}]}", 1)
		p := startProxy(t, text)
		c := p.client(database)
		must(t, c, "CREATE TABLE prices (region VARCHAR(9) COLLATE utf8mb4_bin, n INT)")
		must(t, c, "INSERT INTO prices VALUES ('de', 1), ('0', 2), ('us', 3), ('at', 4), ('7', 5)")
		for condition, want := range map[string]string{
			"region = 0": "1,2,3,4", "region IN (0, 'us')": "1,2,3,4", "region <=> 0.0": "1,2,3,4", "region = 7": "5", "region = 'us'": "3", "NOT region <> 7e0": "5", "region = FALSE": "1,2,3,4",
		} {
			if got := value(t, c, "SELECT GROUP_CONCAT(n ORDER BY n) FROM prices WHERE "+condition); got != want {
				t.Errorf("%s: %s, want %s", condition, got, want)
			}
		}
		st, err := c.Prepare("SELECT GROUP_CONCAT(n ORDER BY n) FROM prices WHERE region = ?")
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range []any{0, 0.0, int8(0)} {
			if r, err := st.Execute(arg); err != nil || fmt.Sprint(r.Rows) != "[[1,2,3,4]]" {
				t.Errorf("%T: %+v, %v", arg, r, err)
			}
		}
		must(t, c, "SET sql_mode = ''") // else MySQL refuses to delete by such a comparison
		must(t, c, "DELETE FROM prices WHERE region = 0")
		if got := value(t, c, "SELECT GROUP_CONCAT(n ORDER BY n) FROM prices"); got != "5" {
			t.Errorf("left are %s", got)
		}
	})
}
