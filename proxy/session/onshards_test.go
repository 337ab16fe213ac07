package session_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"kingshard/mysql/mysqltest"
)

// nodeServers are the servers that tests use as nodes, two of each sort: started when first asked for, stopped by TestMain.
var nodeServers = map[nodeSort][]*mysqltest.RealServer{}

var nodesMu sync.Mutex // guards nodeServers

// nodeSort is what tells servers apart that tests use as nodes.
type nodeSort struct {
	kind     mysqltest.Kind
	observed bool // performance_schema is on
}

// nodesOf returns the two nodes of a kind, which do not observe themselves.
func nodesOf(t *testing.T, kind mysqltest.Kind) []*mysqltest.RealServer {
	t.Helper()
	return nodesOfSort(t, nodeSort{kind: kind})
}

func nodesOfSort(t *testing.T, sort nodeSort) []*mysqltest.RealServer {
	t.Helper()
	cfg := mysqltest.ServerConfig{Kind: sort.kind}
	if sort.observed {
		cfg.Settings = map[string]string{"performance-schema": "ON", "innodb-buffer-pool-size": "64M"}
	}
	nodesMu.Lock()
	defer nodesMu.Unlock()
	for len(nodeServers[sort]) < 2 {
		s, err := mysqltest.StartServer(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		nodeServers[sort] = append(nodeServers[sort], s)
	}
	return nodeServers[sort]
}

func stopNodes() (err error) {
	for _, servers := range nodeServers {
		for _, s := range servers {
			err = errors.Join(err, s.Stop())
		}
	}
	return err
}

// onShardsAtOnce is onShards for a test that waits most of its time: it runs on the servers of both kinds at once.
func onShardsAtOnce(t *testing.T, schema string, f func(t *testing.T, s *shards)) {
	onShardsOf(t, (*testing.T).Parallel, schema, f)
}

// onShards runs a test with proxies over tables of a schema on two nodes, of one and of two sub-tables each.
func onShards(t *testing.T, schema string, f func(t *testing.T, s *shards)) {
	onShardsOf(t, func(*testing.T) {}, schema, f)
}

func onShardsOf(t *testing.T, begin func(t *testing.T), schema string, f func(t *testing.T, s *shards), more ...string) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			begin(t)
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			for _, locations := range [][]int{{1, 1}, {2, 2}} {
				t.Run(fmt.Sprint(locations), func(t *testing.T) { f(t, startShards(t, servers, locations, schema, more...)) })
			}
		})
	}
}
