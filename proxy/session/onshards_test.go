package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// nodeServers are the servers that tests use as nodes, by kind: started when first asked for, stopped by TestMain.
var nodeServers = map[mysqltest.Kind][]*mysqltest.RealServer{}

func nodesOf(t *testing.T, kind mysqltest.Kind) []*mysqltest.RealServer {
	t.Helper()
	for len(nodeServers[kind]) < 2 {
		s, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		nodeServers[kind] = append(nodeServers[kind], s)
	}
	return nodeServers[kind]
}

func stopNodes() (err error) {
	for _, servers := range nodeServers {
		for _, s := range servers {
			err = errors.Join(err, s.Stop())
		}
	}
	return err
}

// onShards runs a test with proxies over tables of a schema on two nodes, of one and of two sub-tables each.
func onShards(t *testing.T, schema string, f func(t *testing.T, s *shards)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			for _, locations := range [][]int{{1, 1}, {2, 2}} {
				t.Run(fmt.Sprint(locations), func(t *testing.T) { f(t, startShards(t, servers, locations, schema)) })
			}
		})
	}
}
