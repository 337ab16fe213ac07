package mysqltest

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql"
)

// startRelayed starts a scripted server that counts its queries, and a relay before it.
func startRelayed(t *testing.T) (*Relay, *atomic.Int32) {
	t.Helper()
	var queries atomic.Int32
	server := StartScript(t, ScriptConfig{Handler: func(c *ScriptConn, cmd mysql.Command, _ []byte) {
		if cmd == mysql.ComQuery {
			queries.Add(1)
		}
		c.OK()
	}})
	r, err := StartRelay(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, &queries
}

func dialRelay(t *testing.T, r *Relay, timeout time.Duration) *RawClient {
	t.Helper()
	c, err := DialRaw(r.Addr(), ClientConfig{User: "root", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func setFault(t *testing.T, r *Relay, f RelayFault) {
	t.Helper()
	if err := r.Set(f); err != nil {
		t.Fatal(err)
	}
}

func answered(t *testing.T, c *RawClient, text string) {
	t.Helper()
	if r, err := c.Query(text); err != nil || r.Err != nil {
		t.Fatalf("%s: %+v, %v", text, r, err)
	}
}

// What a relay passes on arrives whole, at once, in single bytes and late.
func TestRelayPasses(t *testing.T) {
	r, queries := startRelayed(t)
	c := dialRelay(t, r, time.Minute)
	answered(t, c, "SELECT 1")
	setFault(t, r, RelayFault{Bytewise: true})
	answered(t, c, "SELECT 2")
	setFault(t, r, RelayFault{Delay: 30 * time.Millisecond})
	began := time.Now()
	answered(t, c, "SELECT 3")
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("there and back in %v", took)
	}
	if n := queries.Load(); n != 3 {
		t.Errorf("%d queries arrived", n)
	}
}

// Bytes that are held back arrive behind the fault; those that are swallowed do not, and their connection stays silent.
func TestRelaySilence(t *testing.T) {
	r, queries := startRelayed(t)
	held, lost := dialRelay(t, r, time.Minute), dialRelay(t, r, 100*time.Millisecond)
	setFault(t, r, RelayFault{Stall: true})
	if err := held.Send(mysql.ComQuery, "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if err := r.Heal(); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(); err != nil {
		t.Errorf("held back, and passed on: %v", err)
	}
	setFault(t, r, RelayFault{Swallow: true})
	if err := lost.Send(mysql.ComQuery, "SELECT 2"); err != nil {
		t.Fatal(err)
	}
	if _, err := lost.Read(); err == nil {
		t.Error("an answer to what was swallowed")
	}
	if err := r.Heal(); err != nil {
		t.Fatal(err)
	}
	if err := lost.Send(mysql.ComQuery, "SELECT 3"); err != nil {
		t.Fatal(err)
	}
	if _, err := lost.Read(); err == nil {
		t.Error("a connection that was forgotten answers")
	}
	answered(t, dialRelay(t, r, time.Minute), "SELECT 4")
	if n := queries.Load(); n != 2 {
		t.Errorf("%d queries arrived", n)
	}
}

// A server hears of a connection's end behind the fault, not in it.
func TestRelaySwallowsEnds(t *testing.T) {
	r, _ := startRelayed(t)
	c := dialRelay(t, r, time.Minute)
	answered(t, c, "SELECT 1")
	setFault(t, r, RelayFault{Swallow: true})
	c.Conn.Close()
	if r.Conns() != 1 {
		t.Error("the connection to the server has ended")
	}
	if err := r.Heal(); err != nil {
		t.Fatal(err)
	}
	WaitFor(t, "the connection to end", func() bool { return r.Conns() == 0 })
}

// A connection ends in order, by RST, behind a command that the server has carried out, or is not made at all.
func TestRelayEnds(t *testing.T) {
	r, queries := startRelayed(t)
	cut, reset, behind := dialRelay(t, r, time.Minute), dialRelay(t, r, time.Minute), dialRelay(t, r, time.Minute)
	setFault(t, r, RelayFault{CutAfter: func(command mysql.Command, body []byte) bool {
		return command == mysql.ComQuery && strings.HasPrefix(string(body), "XA PREPARE")
	}})
	answered(t, behind, "SELECT 1")
	if got, err := behind.Query("XA PREPARE 'a'"); err == nil {
		t.Errorf("an answer where the connection was to end: %+v", got)
	}
	if n := queries.Load(); n != 2 {
		t.Errorf("%d queries arrived", n)
	}
	setFault(t, r, RelayFault{Refuse: true})
	if _, err := DialRaw(r.Addr(), ClientConfig{User: "root"}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, want that nobody listens", err)
	}
	answered(t, cut, "SELECT 2") // what is there goes on
	if err := r.Heal(); err != nil {
		t.Fatal(err)
	}
	answered(t, dialRelay(t, r, time.Minute), "SELECT 3")
	_ = reset.Conn.Net.SetDeadline(time.Now().Add(time.Minute))
	r.Reset()
	if _, err := reset.Conn.ReadPacket(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a connection that was reset", err)
	}
	if _, err := cut.Conn.ReadPacket(); err == nil {
		t.Error("a connection goes on")
	}
	WaitFor(t, "the connections to end", func() bool { return r.Conns() == 0 })
}
