package proxy_test

import (
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A server that answers pings is not dead for what else probes ask: SHOW REPLICA STATUS waits behind a STOP REPLICA in a long transaction, and
// a long statement, on whose connection no byte comes meanwhile, goes on.
func TestPingsAloneTellWhoIsDead(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"STATUS", "Com_"} { // all, and those for definitions alone
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			answer, goOn := answers("replica"), make(chan struct{})
			replica := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				switch text := string(payload); {
				case cmd == mysql.ComQuery && strings.HasPrefix(text, "SHOW") && strings.Contains(text, question):
					c.Delay(time.Hour)
				case strings.Contains(text, "a long report"):
					<-goOn
					answer(c, cmd, []byte("SELECT name"))
				default:
					answer(c, cmd, payload)
				}
			}})
			primary := startScript(t, "primary")
			p := startProxy(t, strings.Replace(configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 2}}), "down_after_noalive: 1", "max_replica_lag: 0", 1),
				"health_interval: 100ms", "health_timeout: 100ms")
			instance := p.Nodes()["n"].Replicas[0]
			mysqltest.WaitFor(t, "a probe", func() bool { return instance.State() == backend.Up })
			c := p.client("")
			report := make(chan error, 1)
			go func() {
				r, err := c.Query("SELECT name /* a long report */")
				if err == nil && r.Err != nil {
					err = r.Err
				}
				report <- err
			}()
			began := time.Now()
			var failure error
			mysqltest.WaitFor(t, "probes to go on for longer than a silent server is let live", func() bool {
				select {
				case failure = <-report:
					return true
				default:
				}
				return instance.Answered().Sub(began) > 5*time.Second
			})
			if failure != nil || instance.State() != backend.Up {
				t.Fatalf("state %v, the report: %v", instance.State(), failure)
			}
			close(goOn)
			if err := <-report; err != nil {
				t.Error(err)
			}
		})
	}
}
