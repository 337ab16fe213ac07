package clients

import (
	"fmt"
	"testing"
)

// TestNode runs testdata/node/work.js with each driver.
func TestNode(t *testing.T) {
	node := tool(t, "node", "install Node.js")
	for _, driver := range []string{"mysql2", "mariadb"} {
		t.Run(driver, func(t *testing.T) {
			both(t, "kingshard_node", func(e endpoint) program {
				return program{
					path: node,
					args: []string{testdata(t, "node", "work.js"), driver, e.host, fmt.Sprint(e.port), e.ca, "kingshard_node"},
					env:  []string{"NODE_PATH=" + installed(t, "node", "node_modules")},
				}
			})
		})
	}
}
