package mysqltest

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// shared are the servers that all tests of a process use, one of each kind, or why there is none.
var shared struct {
	sync.Mutex
	servers map[Kind]sharedServer
}

type sharedServer struct {
	server *RealServer
	err    error
}

// Shared gives the process's server of a kind, started at the first call: without a binary log, and with TLS where the
// kind can have it. A kind that does not start fails the test. TestMain must call [StopShared] before it exits, and
// before it looks for goroutines left behind.
func Shared(t testing.TB, kind Kind) *RealServer {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	s, ok := shared.servers[kind]
	if !ok {
		s.server, s.err = StartServer(context.Background(), ServerConfig{Kind: kind, TLS: kind != MySQL56})
		if shared.servers == nil {
			shared.servers = make(map[Kind]sharedServer)
		}
		shared.servers[kind] = s
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}

// Kinds are the kinds to test with: MariaDB, which every machine that runs the tests must have, and MySQL 9 and 5.6 where
// they are installed.
func Kinds() []Kind {
	list := []Kind{MariaDB}
	for _, kind := range []Kind{MySQL9, MySQL56} {
		if _, err := Find(kind); err == nil {
			list = append(list, kind)
		}
	}
	return list
}

// StopShared stops the servers that Shared started.
func StopShared() error {
	shared.Lock()
	defer shared.Unlock()
	var err error
	for _, s := range shared.servers {
		if s.server != nil {
			err = errors.Join(err, s.server.Stop())
		}
	}
	shared.servers = nil
	return err
}
