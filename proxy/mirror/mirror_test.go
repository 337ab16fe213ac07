package mirror

import (
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/queryrule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is more than the bounds is dropped and counted; one session's statements do not take the places of all.
func TestOfferIsBounded(t *testing.T) {
	m := New(slog.New(slog.DiscardHandler))
	rule := &queryrule.Rule{Mirrored: new(queryrule.MirrorCounts)}
	offer := func(session uint32, text string) (dropped uint64) {
		before := rule.Mirrored.Dropped.Load()
		m.Offer(Statement{Rule: rule, Session: session, Text: text})
		return rule.Mirrored.Dropped.Load() - before
	}
	for range waitingMax {
		if offer(workers, "SELECT 1") != 0 {
			t.Fatal("dropped too early")
		}
	}
	if offer(0, "SELECT 1") != 1 || offer(1, "SELECT 1") != 0 {
		t.Error("the bound of a worker's statements")
	}
	if offer(1, strings.Repeat("x", textMax+1)) != 1 {
		t.Error("the bound of a text")
	}
	had := m.bytes.Load()
	long := strings.Repeat("x", textMax)
	for k := range bytesMax/textMax - 1 {
		if offer(uint32(k), long) != 0 && k%workers != 0 {
			t.Fatalf("dropped number %d", k)
		}
	}
	for offer(2, long) == 0 {
	}
	if n := m.bytes.Load(); n > bytesMax || n <= had {
		t.Errorf("%d bytes wait", n)
	}
}

// A node that cannot be reached is a failure that is counted, and Run ends when it is told.
func TestRunFails(t *testing.T) {
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	m := New(slog.New(slog.DiscardHandler))
	rule := &queryrule.Rule{Mirrored: new(queryrule.MirrorCounts)}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { m.Run(stop); close(ended) }()
	m.Offer(Statement{Rule: rule, Node: nodes["n"], Setting: backend.Intern("", 0, nil), Text: "SELECT 1"})
	mysqltest.WaitFor(t, "the failure", func() bool { return rule.Mirrored.Failed.Load() == 1 })
	close(stop)
	<-ended
	if m.bytes.Load() != 0 {
		t.Error("bytes are left")
	}
}
