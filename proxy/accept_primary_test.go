package proxy_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A server that takes no writes does not become the primary, by whichever variable, unless FORCE says so.
func TestSetPrimaryReadOnly(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			server := startOwn(t, mysqltest.ServerConfig{Kind: kind})
			direct := dial(t, server.Addr, rootClient())
			operator := startProxy(t, oneNode(startScript(t, "old").Addr, 2)).client("")
			set := "KS NODE n SET PRIMARY '" + server.Addr + "'"
			variables := []string{"read_only"}
			if kind != mysqltest.MariaDB {
				variables = append(variables, "super_read_only")
			}
			for _, variable := range variables {
				must(t, direct, "SET GLOBAL "+variable+" = 1")
				if e := fails(t, operator, set, 9032); !strings.Contains(e.Message, server.Addr+" takes no writes, read_only is set there") || !strings.Contains(e.Message, "say FORCE") {
					t.Errorf("%s: %v", variable, e)
				}
			}
			if got := must(t, operator, set+" FORCE").Rows; len(got) != 1 || got[0][1] != server.Addr || got[0][2] != "primary" {
				t.Errorf("by force: %v", got)
			}
			fails(t, operator, "KS NODE n SET PRIMARY '127.0.0.1:1' FORCE", 9032) // nobody answers there
		})
	}
}
