package differential

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"kingshard/mysql/mysqltest"
)

// kinds are the servers that statements are compared on.
var kinds = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9}

// nodes are two servers more of each kind that is used, started when first needed.
var nodes = struct {
	sync.Mutex
	servers map[mysqltest.Kind][2]*mysqltest.RealServer
}{servers: map[mysqltest.Kind][2]*mysqltest.RealServer{}}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	err := mysqltest.StopShared()
	for _, pair := range nodes.servers {
		for _, s := range pair {
			if failed := s.Stop(); err == nil {
				err = failed
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// oracle gives the server that is right.
func oracle(t *testing.T, kind mysqltest.Kind) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs database servers")
	}
	return mysqltest.Shared(t, kind).Addr
}

// twoNodes gives the addresses of two servers beside the oracle.
func twoNodes(t *testing.T, kind mysqltest.Kind) [2]string {
	t.Helper()
	nodes.Lock()
	defer nodes.Unlock()
	pair, ok := nodes.servers[kind]
	if !ok {
		for k := range pair {
			s, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{
				Kind: kind, MaxConnections: 300, Settings: map[string]string{"innodb-buffer-pool-size": "32M"},
			})
			if err != nil {
				t.Fatal(err)
			}
			pair[k] = s
		}
		nodes.servers[kind] = pair
	}
	return [2]string{pair[0].Addr, pair[1].Addr}
}
