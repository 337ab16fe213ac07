package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// Statements of a throttled kind wait for one another over all sessions, and can be killed while they do; what is refused reaches no
// server, and no place is lost.
func TestRulesThrottle(t *testing.T) {
	for _, lane := range []string{"", "fast_lane: true\n"} {
		begun, release := make(chan struct{}, 10), make(chan struct{}, 10)
		server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			if strings.Contains(string(payload), "report") || cmd == mysql.ComStmtExecute {
				begun <- struct{}{}
				<-release
			}
			oldServer(c, cmd, payload)
		}})
		addr := startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 8, `query_rules:
- {name: reports, tables: [report], max_concurrent: 1, max_wait: 1m}
- {name: hasty, tables: [hasty], max_concurrent: 1}
`, lane)
		var clients []*mysqltest.RawClient
		for range 3 {
			clients = append(clients, dial(t, addr, rootClient()))
		}
		answers := make([]chan *mysqltest.RawResult, 3)
		ask := func(k int, text string) {
			answers[k] = make(chan *mysqltest.RawResult, 1)
			go func() {
				r, err := clients[k].Query(text)
				if err != nil {
					t.Error(err)
				}
				answers[k] <- r
			}()
		}
		ask(0, "SELECT rows FROM report")
		<-begun
		ask(1, "SELECT rows FROM report")
		var second []any
		mysqltest.WaitFor(t, "the second to wait", func() bool {
			second = must(t, clients[2], "SHOW PROCESSLIST").Rows[1]
			return second[4] == "Query"
		})
		must(t, clients[2], "KILL QUERY "+second[0].(string))
		if r := <-answers[1]; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
			t.Errorf("killed: %+v", r)
		}
		ask(1, "SELECT rows FROM report")
		release <- struct{}{}
		if r := <-answers[0]; r == nil || r.Err != nil {
			t.Errorf("the first: %+v", r)
		}
		<-begun
		release <- struct{}{}
		if r := <-answers[1]; r == nil || r.Err != nil {
			t.Errorf("the second: %+v", r)
		}

		st, err := clients[0].Prepare("SELECT n FROM hasty WHERE a = ?")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := st.Execute("1")
			done <- err
		}()
		<-begun
		fails(t, clients[1], "SELECT rows FROM hasty", kserror.Throttled)
		release <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
		mysqltest.WaitFor(t, "the place", func() bool { // it comes back behind the answer
			r, err := clients[1].Query("SELECT rows FROM hasty")
			return err == nil && r.Err == nil
		})
		must(t, clients[1], "SELECT rows FROM hasty")
	}
}
