package mysqltest

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// shared are the servers that all tests of a process use, one of each kind.
var shared struct {
	sync.Mutex
	servers map[Kind]*RealServer
}

// Shared gives the process's server of a kind, with TLS and without a binary log, started at the first call. TestMain
// must call StopShared.
func Shared(t testing.TB, kind Kind) *RealServer {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if s := shared.servers[kind]; s != nil {
		return s
	}
	s, err := StartServer(context.Background(), ServerConfig{Kind: kind, TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	if shared.servers == nil {
		shared.servers = make(map[Kind]*RealServer)
	}
	shared.servers[kind] = s
	return s
}

// StopShared stops the servers that Shared started.
func StopShared() error {
	shared.Lock()
	defer shared.Unlock()
	var err error
	for _, s := range shared.servers {
		err = errors.Join(err, s.Stop())
	}
	shared.servers = nil
	return err
}
