package proxy_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A connection that is lost while the collations of keys are looked at says nothing of them: they are asked for again.
func TestKeysAskedAgain(t *testing.T) {
	for _, lost := range []string{"information_schema.columns", "WEIGHT_STRING"} {
		t.Run(lost, func(t *testing.T) {
			var refuses atomic.Int32
			answer := answers("n")
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				text := string(payload)
				hit := strings.Contains(text, lost)
				switch {
				case hit && refuses.Load() == 0:
					c.Cut()
				case hit && refuses.Load() == 1:
					c.Error(1317, "Query execution was interrupted")
				case strings.Contains(text, "information_schema.columns"):
					c.Rows([]string{"column_name", "collation_name"}, []any{"name", "utf8mb4_general_ci"})
				case strings.Contains(text, "WEIGHT_STRING"):
					c.Rows([]string{"w"}, []any{"other"})
				default:
					answer(c, cmd, payload)
				}
			}})
			text := strings.Replace(oneNode(server.Addr, 2), "default: n}", "default: n, shard: [{db: shop, table: names, key: name, type: crc32, strings: utf8mb4_general_ci_v1, nodes: [n], locations: [2]}]}", 1)
			p := startProxy(t, text)
			for k := range int32(2) {
				refuses.Store(k)
				if p.TellOfKeys(t.Context()) {
					t.Errorf("%d: what was not answered counts as asked", k)
				}
			}
			if got := p.log.String(); strings.Contains(got, "compared otherwise") || !strings.Contains(got, "is not known, it is asked again") || !strings.Contains(got, "cannot be asked") {
				t.Errorf("the log says\n%s", got)
			}
			refuses.Store(2)
			if !p.TellOfKeys(t.Context()) {
				t.Error("what was answered counts as not asked")
			}
			if got := p.log.String(); !strings.Contains(got, "compared otherwise than its rule places it") {
				t.Errorf("the log says\n%s", got)
			}
		})
	}
}
