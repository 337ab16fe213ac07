package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
	"kingshard/proxy/kserror"
)

// An idle client costs no goroutine. Time-out, KILL and drain reach it.
func TestLaneOfIdleClients(t *testing.T) {
	server := laneServer(t)
	text := oneNode(server.Addr, 4)
	p := startLane(t, text)
	before := runtime.NumGoroutine()
	var clients []*mysqltest.RawClient
	for range 200 {
		c := p.client("")
		must(t, c, "SELECT 1")
		clients = append(clients, c)
	}
	mysqltest.WaitFor(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() < before+60 })
	killer := p.client("")
	must(t, killer, fmt.Sprintf("KILL %d", clients[0].Greeting.ConnectionID))
	if _, err := clients[0].Read(); err == nil {
		t.Error("a client that was killed is connected")
	}
	p.reload(text + laneOn + "\nidle_timeout: 1s\n")
	mysqltest.WaitFor(t, "the idle time-out", func() bool {
		must(t, killer, "SELECT 1")
		return p.Clients() == 1
	})
	if _, err := clients[199].Read(); err == nil {
		t.Error("an idle client is connected")
	}
}

func TestLaneDrains(t *testing.T) {
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 4))
	idle, busy, inTransaction := p.client(""), p.client(""), p.client("")
	must(t, idle, "SELECT 1")
	must(t, busy, "SELECT 1")
	must(t, inTransaction, "BEGIN")
	must(t, inTransaction, "SELECT 1")
	if err := busy.Send(mysql.ComQuery, "SELECT slow"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	over := make(chan error, 1)
	go func() {
		over <- p.stop(10 * time.Second)
	}()
	if _, err := idle.Read(); err == nil {
		t.Error("an idle client got an answer")
	}
	readAnswer(t, busy)
	must(t, inTransaction, "SELECT 2")
	must(t, inTransaction, "COMMIT")
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// Clients under load hear of no reload.
func TestLaneReloads(t *testing.T) {
	servers := []*mysqltest.ScriptServer{laneServer(t), laneServer(t)}
	text := oneNode(servers[0].Addr, 4) + laneOn + "\n"
	p := startLane(t, oneNode(servers[0].Addr, 4))
	var all sync.WaitGroup
	var stop atomic.Bool
	for range 8 {
		c := p.client("")
		all.Go(func() {
			for !stop.Load() {
				must(t, c, "SELECT 1")
			}
		})
	}
	for k := range 20 {
		time.Sleep(10 * time.Millisecond)
		p.reload(strings.ReplaceAll(text, servers[0].Addr, servers[k%2].Addr))
	}
	stop.Store(true)
	all.Wait()
	p.quiet(8)
	if n := len(servers[0].Queries()) + len(servers[1].Queries()); n < 100 {
		t.Errorf("%d queries", n)
	}
}

// Clients that work, leave, vanish and are killed at random: every statement has its own answer, and nothing is left behind.
func TestLaneAtRandom(t *testing.T) {
	for name, login := range map[string]mysqltest.ClientConfig{"plain": rootClient(), "TLS": overTLS("")} {
		t.Run(name, func(t *testing.T) { laneAtRandom(t, login) })
	}
}

func laneAtRandom(t *testing.T, login mysqltest.ClientConfig) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		if at := strings.Index(text, "SELECT n"); cmd == mysql.ComQuery && at >= 0 {
			if rand.IntN(50) == 0 {
				time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
			}
			if rand.IntN(200) == 0 {
				c.Cut()
				return
			}
			c.Rows([]string{"a"}, []any{text[at:]})
			return
		}
		answers("n")(c, cmd, payload)
	}})
	p := startTLSLane(t, oneNode(server.Addr, 6))
	killer := p.client("")
	must(t, killer, "SELECT 1") // the server is known from here on
	var all sync.WaitGroup
	var ids sync.Map
	stop := time.Now().Add(2 * time.Second)
	for w := range 12 {
		all.Go(func() {
			for n := 0; time.Now().Before(stop); {
				c, err := mysqltest.DialRaw(p.addr, login)
				if err != nil {
					continue // killed at the door
				}
				ids.Store(c.Greeting.ConnectionID, true)
				for range rand.IntN(100) {
					n++
					text := fmt.Sprintf("SELECT n%d_%d", w, n)
					r, err := c.Query(text)
					if err != nil {
						break
					}
					if r.Err != nil {
						if r.Err.Code != mysql.ERQueryInterrupted && r.Err.Code != kserror.BackendLost {
							t.Errorf("%s: %v", text, r.Err)
						}
						continue
					}
					if len(r.Rows) != 1 || r.Rows[0][0] != text {
						t.Errorf("%s: %v", text, r.Rows)
					}
				}
				ids.Delete(c.Greeting.ConnectionID)
				switch rand.IntN(3) {
				case 0:
					_ = c.Send(mysql.ComQuery, "SELECT n and gone")
					_ = c.Conn.Close()
				case 1:
					_ = c.Conn.Close()
				default:
					_ = c.Close()
				}
			}
		})
	}
	for time.Now().Before(stop) {
		ids.Range(func(id, _ any) bool {
			text := "KILL %d"
			if rand.IntN(2) == 0 {
				text = "KILL QUERY %d"
			}
			_, _ = killer.Query(fmt.Sprintf(text, id))
			return rand.IntN(4) > 0
		})
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
	}
	all.Wait()
	p.quiet(1)
	if p.Totals().Looped < 100 {
		t.Errorf("%d statements were in the fast lane", p.Totals().Looped)
	}
}

// Sessions move between loops at any moment as the number of processors changes, and nobody notices.
func TestLaneWithProcessorsThatChange(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startLane(t, oneNode(server.Addr, 4)+"pipelined_sharing: true\n")
		defer p.UseProcessors(proxy.ProcessorsMax)
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE moves (id INT PRIMARY KEY, n INT)")
		must(t, direct, "INSERT INTO moves VALUES (0,0),(1,0),(2,0),(3,0),(4,0),(5,0),(6,0),(7,0)")
		const clients, rounds = 8, 150
		before := p.Totals().Looped
		var all sync.WaitGroup
		stop := make(chan struct{})
		for id := range clients {
			c := p.client(database)
			all.Go(func() {
				for k := range rounds {
					for _, text := range []string{
						fmt.Sprintf("UPDATE moves SET n = n + 1 WHERE id = %d", id), fmt.Sprintf("SELECT n FROM moves WHERE id = %d", id),
						"BEGIN", fmt.Sprintf("SELECT n FROM moves WHERE id = %d", id), "COMMIT", "SET @a = 1", "SELECT n FROM moves WHERE id = -1",
					}[:2+k%6] {
						r, err := c.Query(text)
						if err == nil && r.Err != nil {
							err = r.Err
						}
						if err != nil {
							t.Errorf("client %d, %s: %v", id, text, err)
							return
						}
						if len(r.Rows) == 1 && fmt.Sprint(r.Rows[0]) != fmt.Sprintf("[%d]", k+1) {
							t.Errorf("client %d: %v in round %d", id, r.Rows[0], k)
							return
						}
					}
				}
			})
		}
		flipped := make(chan struct{})
		go func() {
			defer close(flipped)
			for n := 1; ; n = n%proxy.ProcessorsMax + 1 {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					p.UseProcessors(n)
				}
			}
		}()
		all.Wait()
		close(stop)
		<-flipped
		if n := p.Totals().Looped - before; n < clients*rounds {
			t.Errorf("%d statements were in the fast lane", n)
		}
	})
}
