package proxy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// awaited is what became of a statement that another goroutine waits for.
type awaited struct {
	r   *mysqltest.RawResult
	err error
}

// later runs f beside the test.
func later(f func() (*mysqltest.RawResult, error)) <-chan awaited {
	done := make(chan awaited, 1)
	go func() {
		r, err := f()
		done <- awaited{r, err}
	}()
	return done
}

func query(c *mysqltest.RawClient, text string) func() (*mysqltest.RawResult, error) {
	return func() (*mysqltest.RawResult, error) { return c.Query(text) }
}

// heldUp waits until so many statements wait for the end of a pause.
func heldUp(t *testing.T, c *mysqltest.RawClient, n string) {
	t.Helper()
	mysqltest.WaitFor(t, n+" statements to wait", func() bool { return value(t, c, "SHOW KS STATUS LIKE 'Paused_statements'") == "Paused_statements,"+n })
}

// startTransactional is startScript with a server that says in its answers whether it is in a transaction.
func startTransactional(t *testing.T, name string) *mysqltest.ScriptServer {
	answer := answers(name)
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch text := strings.ToUpper(string(payload)); {
		case strings.HasPrefix(text, "BEGIN"):
			c.Status |= mysql.ServerStatusInTrans
		case strings.HasPrefix(text, "COMMIT"), strings.HasPrefix(text, "ROLLBACK"):
			c.Status &^= mysql.ServerStatusInTrans
		}
		answer(c, cmd, payload)
	}})
}

// A pause holds new statements of every kind up, and nothing else; afterwards they run on the servers of the configuration
// that is in force then.
func TestPause(t *testing.T) {
	first, second := startTransactional(t, "first"), startTransactional(t, "second")
	for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
		t.Run(lane, func(t *testing.T) {
			p := startProxy(t, oneNode(first.Addr, 20, lane))
			operator := p.client("")
			fresh := func() *mysqltest.RawClient {
				c := p.client("")
				if got := value(t, c, "SELECT name"); got != "first" { // in a lane the session is in its loop from here on
					t.Fatalf("served by %s", got)
				}
				return c
			}
			open := fresh()
			must(t, open, "BEGIN")
			must(t, open, "SELECT name FROM t FOR UPDATE")
			locked := fresh()
			must(t, locked, "LOCK TABLES t WRITE")
			begun := fresh()
			must(t, begun, "BEGIN") // no server has heard of it
			executing := fresh()
			st, err := executing.Prepare("SELECT ?")
			if err != nil {
				t.Fatal(err)
			}
			text, preparing, using := fresh(), fresh(), fresh()
			if got := value(t, operator, "KS PAUSE SECONDS 600"); !strings.HasPrefix(got, "paused,") || !strings.HasSuffix(got, ",0,0") {
				t.Errorf("KS PAUSE: %s", got)
			}
			waiting := map[string]<-chan awaited{
				"text": later(query(text, "SELECT name")), "begun": later(query(begun, "SELECT name")),
				"executing": later(func() (*mysqltest.RawResult, error) { return st.Execute(1) }),
				"preparing": later(func() (*mysqltest.RawResult, error) {
					_, err := preparing.Prepare("SELECT ?")
					return &mysqltest.RawResult{}, err
				}),
				"using": later(query(using, "USE other")),
			}
			heldUp(t, operator, "5")
			must(t, locked, "SELECT name FROM t")
			must(t, locked, "UNLOCK TABLES")
			must(t, open, "SELECT name FROM t FOR UPDATE")
			// A client has its answer a moment before its session is at rest again.
			mysqltest.WaitFor(t, "the transaction alone to be left", func() bool { return strings.HasPrefix(value(t, operator, "KS PAUSE"), "paused,1,5,") })
			must(t, open, "COMMIT")
			mysqltest.WaitFor(t, "the servers to be at rest", func() bool { return strings.HasPrefix(value(t, operator, "KS PAUSE SECONDS 600"), "paused,0,5,") })
			if got := value(t, operator, "SHOW KS STATUS LIKE 'State'"); got != "State,paused" {
				t.Error(got)
			}
			p.reload(oneNode(second.Addr, 20, lane))
			must(t, operator, "KS RESUME")
			for name, done := range waiting {
				o := <-done
				if o.err != nil || o.r.Err != nil {
					t.Errorf("%s: %v, %+v", name, o.err, o.r)
				} else if len(o.r.Rows) == 1 && o.r.Rows[0][0] != "second" {
					t.Errorf("%s was served by %v", name, o.r.Rows[0][0])
				}
			}
			heldUp(t, operator, "0")
			must(t, begun, "ROLLBACK")
			if got := value(t, operator, "SHOW KS STATUS LIKE 'State'"); got != "State,online" {
				t.Error(got)
			}
		})
	}
}

// The wait for the end of a pause ends: by its time, by KILL, and with the proxy.
func TestPauseEnds(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, oneNode(server.Addr, 4))
	operator, c, long := p.client(""), p.client(""), p.client("")
	must(t, operator, "KS PAUSE SECONDS 1")
	e := fails(t, c, "SELECT name", 9017)
	if !strings.Contains(e.Message, "KS PAUSE") || !strings.Contains(e.Message, "1s") {
		t.Errorf("%v", e)
	}
	if got := value(t, operator, "SHOW KS STATUS LIKE 'Paused_statements_failed'"); got != "Paused_statements_failed,1" {
		t.Error(got)
	}
	must(t, operator, "KS PAUSE SECONDS 3600")
	killed := later(query(c, "SELECT name"))
	heldUp(t, operator, "1")
	for _, row := range must(t, operator, "SHOW KS PROCESSLIST WHERE State = 'waiting for KS RESUME'").Rows {
		must(t, operator, "KS KILL QUERY "+row[0].(string))
	}
	if o := <-killed; o.err != nil || o.r.Err == nil || o.r.Err.Code != mysql.ERQueryInterrupted {
		t.Errorf("after KILL: %v, %+v", o.err, o.r)
	}
	cut := later(query(long, "SELECT name"))
	heldUp(t, operator, "1")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if o := <-cut; o.err != nil || o.r.Err == nil || o.r.Err.Code != 9017 {
		t.Errorf("after a shutdown: %v, %+v", o.err, o.r)
	}
}

// A retired instance that is down hands on to the one that took its place: who chose it before a reload is served.
func TestPauseWhilePrimaryDies(t *testing.T) {
	first, second := startScript(t, "first"), startScript(t, "second")
	p := startProxy(t, oneNode(first.Addr, 4))
	operator, c := p.client(""), p.client("")
	must(t, c, "SELECT name")
	must(t, operator, "KS PAUSE")
	using := later(query(c, "USE other"))
	heldUp(t, operator, "1")
	must(t, operator, "KS NODE n DOWN")
	p.reload(oneNode(second.Addr, 4))
	must(t, operator, "KS RESUME")
	if o := <-using; o.err != nil || o.r.Err != nil {
		t.Errorf("%v, %+v", o.err, o.r)
	}
}
