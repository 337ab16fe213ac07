//go:build faultpoints

package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// commitPoints are those of a commit over nodes, in their order. kept says that a transfer whose commit comes there is one that all nodes keep.
var commitPoints = []struct {
	name string
	kept bool
}{
	{"before_prepare", false}, {"after_prepare", false}, {"before_decide", false},
	{"after_decide", true}, {"before_complete", true}, {"after_complete", true},
}

// Money is neither made nor lost, wherever a proxy dies, stands still or meets an error: no transfer is half, none that was acknowledged is lost, and
// none is in doubt for ever. Clients whose statements did not fail go on, and all connections come back.
func TestFaultPoints(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := startBank(t, kind)
			for _, p := range commitPoints {
				t.Run("a commit dies "+p.name, func(t *testing.T) { b.commitDies(t, p.name, p.kept) })
				t.Run("a commit fails "+p.name, func(t *testing.T) { b.commitFails(t, p.name, p.kept) })
				t.Run("a commit waits "+p.name, func(t *testing.T) { b.commitWaits(t, p.name) })
			}
			t.Run("statements die", b.statementsDie)
			t.Run("statements fail", b.statementsFail)
			t.Run("statements wait", b.statementsWait)
			t.Run("reloads", b.reloads)
			b.faultless()
		})
	}
}

// commitDies has a process die in a commit that is the only one, and another one among many.
func (b *bank) commitDies(t *testing.T, point string, kept bool) {
	w := b.open()
	c := b.client(t)
	if err := w.transfer(c); err != nil {
		t.Fatal(err)
	}
	b.set(t, point, "EXIT")
	b.died(t, w.transfer(c))
	b.audit(t)
	want := int64(1)
	if kept {
		want = 2
	}
	if got := w.acknowledged.Load(); got != want { // audit has added what it found
		t.Errorf("%d transfers are kept, want %d", got, want)
	}
	b.load(t, point)
	b.audit(t)
	if err := w.transfer(b.client(t)); err != nil { // nothing keeps a lock
		t.Error(err)
	}
}

// commitFails has a commit meet an error, and look for what became of it.
func (b *bank) commitFails(t *testing.T, point string, kept bool) {
	by, w := b.bystanders(t), b.open()
	b.set(t, point, "ERROR TIMES 1")
	err := w.transfer(b.client(t))
	switch {
	case kept && err != nil:
		t.Errorf("it is kept, and the client heard %v", err)
	case !kept && (err == nil || !heard(err)):
		t.Errorf("it is not kept, and the client heard %v", err)
	}
	by.end(t)
	b.audit(t)
	if err := w.transfer(b.client(t)); err != nil {
		t.Error(err)
	}
}

// commitWaits has a commit stand still, shorter than its deadlines, while others go on.
func (b *bank) commitWaits(t *testing.T, point string) {
	by, w := b.bystanders(t), b.open()
	b.waits(t, point, func() { by.end(t) }, w.transfer)
	b.audit(t)
}

// waits has a client stand still at a point while others do something; then it goes on.
func (b *bank) waits(t *testing.T, point string, meanwhile func(), do func(c *mysqltest.RawClient) error) {
	t.Helper()
	c, admin := b.client(t), b.client(t)
	b.set(t, point, "WAIT 60000 TIMES 1")
	over := make(chan error, 1)
	go func() { over <- do(c) }()
	mysqltest.WaitFor(t, "the client to stand still", func() bool {
		return len(must(t, admin, "SHOW KS FAULTPOINTS WHERE name = "+point+" AND waiting = 1").Rows) == 1
	})
	meanwhile()
	b.set(t, point, "NOTHING")
	if err := <-over; err != nil {
		t.Errorf("%s: %v", point, err)
	}
	b.whole(t)
}

// nobody is the id of no account, on the server of the accounts that statements change: its pool has a connection then.
const nobody = 1_000_001

// statementsDie has processes die in single statements, most of which loops of the fast lane run.
func (b *bank) statementsDie(t *testing.T) {
	for _, s := range []struct {
		point, before, text string
		kept                int64
	}{
		{"before_send", "", "UPDATE t SET v = v + 1 WHERE id = %d", 0},
		{"before_send", "", "SELECT v FROM t WHERE id = %d", 0},
		{"before_send", "BEGIN", "UPDATE t SET v = v + 1 WHERE id = %d", 0},
		{"before_send", "BEGIN", "UPDATE t SET v = v + 1 WHERE client > 0 AND v + id = %d", 0},
		{"before_send", "", "SELECT id FROM t WHERE client > 0 AND id <> %d ORDER BY id", 0},
		{"after_send", "", "UPDATE t SET v = v + 1 WHERE id = %d", 1},
		{"after_send", "BEGIN", "UPDATE t SET v = v + 1 WHERE id = %d", 0},
		{"in_result", "BEGIN", "SELECT REPEAT('x', 2000) FROM t WHERE id <> %d ORDER BY v", 0},
		{"in_result", "", "CALL two_results() # %d", 0},
	} {
		w, c := b.open(), b.client(t)
		if s.before != "" {
			must(t, c, s.before)
		}
		must(t, c, fmt.Sprintf(s.text, nobody)) // loops run statements whose plan is known
		b.set(t, s.point, "EXIT")
		b.died(t, failure(c, fmt.Sprintf(s.text, 2*w.id+1)))
		b.settled()
		if got := b.balances(t, w); got != [2]int{opening, opening + int(s.kept)} {
			t.Errorf("%s: %s: the accounts have %v", s.point, s.text, got)
		}
		b.close(t, w)
	}
	// Whether the answer was out already, nobody knows.
	w, c := b.open(), b.client(t)
	b.set(t, "before_return", "EXIT")
	_ = failure(c, fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id = %d", 2*w.id+1))
	mysqltest.WaitFor(t, "the process to die", func() bool { return !alive(b.d.pid()) })
	b.d = b.proxy()
	if got := b.balances(t, w); got != [2]int{opening, opening + 1} {
		t.Errorf("before_return: the accounts have %v", got)
	}
	b.close(t, w)
	b.audit(t)
}

// close takes the accounts of the last teller away, whose money is not that of transfers.
func (b *bank) close(t *testing.T, w *teller) {
	t.Helper()
	for k, s := range b.servers {
		must(t, dial(t, s.Addr, rootClient()), fmt.Sprintf("DELETE FROM shop.t_000%d WHERE client = %d", k, w.id))
	}
	b.tellers = b.tellers[:len(b.tellers)-1]
}

// statementsFail has single statements meet errors.
func (b *bank) statementsFail(t *testing.T) {
	for _, s := range []struct{ point, before, text string }{
		{"before_send", "BEGIN", "UPDATE t SET v = v + 1 WHERE id = 2"},
		{"before_send", "BEGIN", "SELECT id FROM t WHERE client > 0 ORDER BY id"},
		{"before_send", "", "UPDATE t SET v = v + 1 WHERE client > 0"},
		{"after_send", "", "SELECT v FROM t WHERE id = 2"},
		{"after_send", "BEGIN", "UPDATE t SET v = v + 1 WHERE id = 2"},
		{"after_send", "BEGIN", "SELECT id FROM t WHERE client > 0 ORDER BY id"},
		{"after_send", "", "UPDATE t SET v = v + 1 WHERE client > 0"},
		{"in_result", "BEGIN", "SELECT REPEAT('x', 2000) FROM t ORDER BY v"},
		{"in_result", "", "CALL two_results()"},
	} {
		by, c := b.bystanders(t), b.client(t)
		if s.before != "" {
			must(t, c, s.before)
		}
		b.set(t, s.point, "ERROR TIMES 1")
		if err := failure(c, s.text); !heard(err) {
			t.Errorf("%s: %s: the client heard %v", s.point, s.text, err)
		}
		by.end(t)
		c.Close()
		again := b.client(t)
		if got := fmt.Sprint(must(t, again, "SELECT COUNT(*) FROM t WHERE client > 0").Rows); got != fmt.Sprintf("[[%d]]", 2*len(b.tellers)) {
			t.Errorf("%s: %s: then %s accounts", s.point, s.text, got)
		}
		b.whole(t)
	}
	b.audit(t)
}

// statementsWait has single statements stand still.
func (b *bank) statementsWait(t *testing.T) {
	for _, s := range []struct{ point, text string }{
		{"before_send", "BEGIN; SELECT v FROM t WHERE id = 2; COMMIT"},
		{"before_send", "BEGIN; SELECT id FROM t WHERE client > 0 ORDER BY id; COMMIT"},
		{"after_send", "BEGIN; SELECT v FROM t WHERE id = 2; COMMIT"},
		{"in_result", "BEGIN; SELECT REPEAT('x', 2000) FROM t ORDER BY v; COMMIT"},
		{"before_return", "BEGIN; SELECT v FROM t WHERE id = 2; COMMIT"},
	} {
		by := b.bystanders(t)
		b.waits(t, s.point, func() { by.end(t) }, func(c *mysqltest.RawClient) error {
			for text := range strings.SplitSeq(s.text, "; ") {
				if err := failure(c, text); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b.audit(t)
}

// reloads has a reload stand still, and processes die in one.
func (b *bank) reloads(t *testing.T) {
	inForce := func() string {
		return must(t, b.client(t), "SHOW KS CONFIG LIKE 'slow_log_time'").Rows[0][1].(string)
	}
	configure := func(slow int) {
		b.d.configure(wholeConfig(b.servers[0].Addr, b.servers[1].Addr) + fmt.Sprintf("prometheus_addr: 127.0.0.1:0\nslow_log_time: %d\n", slow))
	}
	reload := func(c *mysqltest.RawClient) error { return failure(c, "KS RELOAD") }
	for _, c := range []struct {
		point, want string
		slow        int
	}{{"before_swap", inForce(), 70}, {"after_swap", "80", 80}} {
		by := b.bystanders(t)
		configure(c.slow)
		b.waits(t, c.point, func() {
			if got := inForce(); got != c.want {
				t.Errorf("%s: slow_log_time is %s, want %s", c.point, got, c.want)
			}
			by.end(t)
		}, reload)
		if got := inForce(); got != fmt.Sprint(c.slow) {
			t.Errorf("behind %s: slow_log_time is %s, want %d", c.point, got, c.slow)
		}
		b.audit(t)

		dying := b.client(t)
		b.set(t, c.point, "EXIT")
		configure(c.slow + 1)
		b.died(t, reload(dying))
		b.audit(t)
	}
}
