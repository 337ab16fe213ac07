package proxy_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// relayVariable has the test's binary do nothing but pass bytes between an address and a unix socket: "host:port path".
const relayVariable = "KS_TEST_RELAY"

// ranAsRelay is the process that the variable asks for; false without it.
func ranAsRelay() bool {
	addr, path, ok := strings.Cut(os.Getenv(relayVariable), " ")
	if !ok {
		return false
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Println(err)
		return true
	}
	fmt.Println("listening")
	for {
		near, err := l.Accept()
		if err != nil {
			return true
		}
		far, err := net.Dial("unix", path)
		if err != nil {
			near.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			go func() {
				_, _ = io.Copy(way[0], way[1])
				near.Close()
				far.Close()
			}()
		}
	}
}

// vanishing is a server that can become silent, and come back.
type vanishing struct {
	addr             string
	vanish, comeBack func()
}

// stopping is a server whose process stops: its system still acknowledges.
func stopping(t *testing.T, server *mysqltest.RealServer) vanishing {
	return vanishing{server.Addr, func() {
		server.Pause()
		mysqltest.WaitFor(t, "all threads to stop", func() bool {
			files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", server.PID()))
			if err != nil || len(files) == 0 {
				t.Fatal(err)
			}
			for _, file := range files {
				b, _ := os.ReadFile(file)
				if _, state, _ := strings.Cut(string(b), ") "); state != "" && state[0] != 'T' {
					return false
				}
			}
			return true
		})
	}, server.Resume}
}

// namespaces counts the network namespaces of this process.
var namespaces atomic.Int32

// behindVeth is a server behind a link of a network namespace that loses all packets. Where there can be no namespace it is one that
// stops.
func behindVeth(t *testing.T, server *mysqltest.RealServer) vanishing {
	nth := namespaces.Add(1) % 64 // they are of tests that run at once
	name := fmt.Sprintf("ks%d-%d", os.Getpid(), nth)
	host, inside := fmt.Sprintf("10.213.%d.%d", os.Getpid()%250, 4*nth+1), fmt.Sprintf("10.213.%d.%d", os.Getpid()%250, 4*nth+2)
	run := func(command string) error {
		words := strings.Fields(command)
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", command, err, out)
		}
		return err
	}
	if err := run("ip netns add " + name); err != nil {
		t.Log("no network namespace, the process stops instead:", err)
		return stopping(t, server)
	}
	t.Cleanup(func() {
		if err := run("ip netns del " + name); err != nil {
			t.Error(err)
		}
	})
	for _, command := range []string{
		"ip link add " + name + " type veth peer name inside netns " + name, "ip addr add " + host + "/30 dev " + name, "ip link set " + name + " up",
		"ip -n " + name + " addr add " + inside + "/30 dev inside", "ip -n " + name + " link set inside up",
	} {
		if err := run(command); err != nil {
			t.Log("no link into a network namespace, the process stops instead:", err)
			return stopping(t, server)
		}
	}
	addr := inside + ":" + strconv.Itoa(3306)
	cmd := exec.Command("ip", "netns", "exec", name, os.Args[0])
	cmd.Env = append(os.Environ(), relayVariable+"="+addr+" "+server.Socket)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	said := make([]byte, 9)
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "listening" {
		t.Fatalf("the relay: %q, %v", said, err)
	}
	link := func(state string) func() {
		return func() {
			if err := run("ip -n " + name + " link set inside " + state); err != nil {
				t.Fatal(err)
			}
		}
	}
	return vanishing{addr, link("down"), link("up")}
}

// vanished is the longest that a statement may be under way once its server has vanished, with as much again for a machine that has other work.
const vanished = 20 * time.Second

// What is in flight on a server that has become silent ends, whatever it waits for and on whatever it runs: answers of statements that
// were sent long ago, acknowledgements of those that are sent now, a connection.
func TestServerVanishes(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*testing.T, *mysqltest.RealServer) vanishing{"its process stops": stopping, "its packets are lost": behindVeth} {
		for _, lane := range []string{"fast_lane: true", "fast_lane: false"} {
			t.Run(name+", "+lane, func(t *testing.T) {
				t.Parallel()
				server := startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB})
				v := how(t, server)
				other := startScript(t, "other")
				p := startProxy(t, configText([]node{{name: "n", master: v.addr, conns: 16}, {name: "other", master: other.Addr, conns: 2}}, lane), "health_interval: 1s")
				c := p.client("test")
				must(t, c, "CREATE TABLE v (id INT PRIMARY KEY, n INT)")
				must(t, c, "INSERT INTO v VALUES (1, 0), (2, 0)")
				must(t, c, "CREATE TABLE locked (id INT PRIMARY KEY)")
				holder, later, waiting, plain, reader := p.client("test"), p.client("test"), p.client("test"), p.client("test"), p.client("test")
				locker := dial(t, server.Addr, rootClient())
				must(t, locker, "LOCK TABLES test.locked WRITE")
				defer locker.Close()
				for _, one := range []*mysqltest.RawClient{holder, later} {
					must(t, one, "BEGIN")
				}
				must(t, holder, "UPDATE v SET n = 1 WHERE id = 1")
				must(t, later, "UPDATE v SET n = 1 WHERE id = 2")
				must(t, plain, "SELECT n FROM v WHERE id = 2")
				clients := map[string]*mysqltest.RawClient{}
				send := func(one *mysqltest.RawClient, text string) {
					t.Helper()
					clients[text] = one
					if err := one.Send(mysql.ComQuery, text); err != nil {
						t.Fatal(err)
					}
				}
				send(c, "SELECT SLEEP(600)")
				send(waiting, "UPDATE v SET n = 2 WHERE id = 1")
				const read = "SELECT id FROM locked" // another connection might answer it, but not to this server
				send(reader, read)
				direct := dial(t, server.Addr, rootClient())
				mysqltest.WaitFor(t, "three statements to run", func() bool {
					return value(t, direct, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%' OR info LIKE 'UPDATE v SET n = 2%' OR info = '"+read+"'") == "3"
				})
				direct.Close()
				began := time.Now()
				v.vanish()
				defer v.comeBack()
				send(later, "UPDATE v SET n = 3 WHERE id = 2")
				send(plain, "SELECT n FROM v WHERE id = 1")
				for text, one := range clients {
					_ = one.Conn.Net.SetDeadline(began.Add(vanished))
					got, err := one.Conn.ReadPacket()
					if err != nil || len(got) == 0 || got[0] != mysql.ErrHeader {
						t.Errorf("%s: %x, %v, want an error", text, got, err)
						continue
					}
					// The later change is in a transaction, which is lost.
					if e := decodeError(got); !isCode(e, 9003) && (text == read || !isCode(e, 9002)) && (!strings.Contains(text, "n = 3") || !isCode(e, 1213)) {
						t.Errorf("%s: %v", text, e)
					}
				}
				t.Logf("all had an answer after %v", time.Since(began).Round(time.Millisecond))
				mysqltest.WaitFor(t, "the server to be down", func() bool { return p.primary("n").State() == backend.Down })
				v.comeBack()
				mysqltest.WaitFor(t, "the server to be up", func() bool { return p.primary("n").State() == backend.Up })
				again := p.client("test")
				if got := value(t, again, "SELECT n FROM v WHERE id = 2"); got != "0" {
					t.Errorf("n is %s after its transaction was lost", got)
				}
			})
		}
	}
}

// A server that answers no probe, but whose statement goes on to send, is left alone: neither down nor dead.
func TestSlowProbesKillNothing(t *testing.T) {
	t.Parallel()
	var deaf atomic.Bool
	var unanswered atomic.Int32
	began := make(chan struct{})
	good := answers("n")
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch {
		case strings.Contains(string(payload), "long"):
			c.Columns(mysqltest.Strings("n")...)
			deaf.Store(true)
			close(began)
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for unanswered.Load() < 30 { // a cycle of the probes is a tenth of a second and more: that is longer than a silent server has
				c.Row("1")
				if c.Conn.Flush() != nil {
					return
				}
				<-tick.C
			}
			c.End()
			deaf.Store(false)
		case deaf.Load():
			unanswered.Add(1)
		default:
			good(c, cmd, payload)
		}
	}})
	p := startProxy(t, oneNode(server.Addr, 4), "health_timeout: 100ms")
	c := p.client("")
	must(t, c, "SELECT 1 FROM t")
	r, err := c.Query("SELECT long")
	if err != nil || r.Err != nil || len(r.Rows) < 10 {
		t.Fatalf("%v, %v", err, r)
	}
	<-began
	if log := p.log.String(); strings.Contains(log, "is dead") || strings.Contains(log, "is down") || !strings.Contains(log, "probe failed") {
		t.Error(log)
	}
	if p.primary("n").State() != backend.Up {
		t.Errorf("the server is %v", p.primary("n").State())
	}
}

// A server that is slow to answer probes, and that nobody asks for anything else, is left alone as long as it says anything: here that a
// login is good.
func TestSlowProbesOfAnIdleServerKillNothing(t *testing.T) {
	t.Parallel()
	var deaf atomic.Bool
	var unanswered atomic.Int32
	good := answers("n")
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if deaf.Load() {
			unanswered.Add(1)
			return
		}
		good(c, cmd, payload)
	}})
	p := startProxy(t, oneNode(server.Addr, 4), "health_timeout: 100ms")
	c := p.client("")
	must(t, c, "SELECT 1 FROM t")
	deaf.Store(true)
	// A cycle of the probes is a tenth of a second and more: that is longer than a silent server has.
	mysqltest.WaitFor(t, "probes without an answer", func() bool { return unanswered.Load() >= 40 || strings.Contains(p.log.String(), "is d") })
	deaf.Store(false)
	must(t, c, "SELECT 1 FROM t")
	if log := p.log.String(); strings.Contains(log, "is dead") || strings.Contains(log, "is down") || !strings.Contains(log, "probe failed") {
		t.Error(log)
	}
}

// Who logs in while the default node is silent needs it for nothing but its own rows.
func TestLoginWithoutTheDefaultNode(t *testing.T) {
	t.Parallel()
	other := startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB}) // no other test has changed its variables
	for _, name := range []string{"stops", "is killed"} {
		t.Run(name, func(t *testing.T) {
			server := startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB})
			v := stopping(t, server)
			// Whatever waits for the silent node is seen to hang: nothing else ends within the test's time.
			p := startProxy(t, configText([]node{{name: "n", master: v.addr, conns: 16}, {name: "other", master: other.Addr, conns: 4}}), "pool_wait_timeout: 1h", "connect_timeout: 1h")
			mysqltest.WaitFor(t, "both nodes", func() bool {
				return p.primary("n").State() == backend.Up && p.primary("other").State() == backend.Up && p.primary("n").Variables.Same(&p.primary("other").Variables, "autocommit")
			})
			if name == "stops" {
				v.vanish()
				defer v.comeBack()
			} else {
				server.Kill()
			}
			mysqltest.WaitFor(t, "doubt", p.primary("n").Doubted)
			c := p.client("test")
			for _, set := range []string{"SET NAMES utf8mb4", "SET autocommit = 1", "SET sql_mode = 'ANSI'", "SET NAMES latin1"} {
				must(t, c, set)
			}
			if got := value(t, c, "/*other*/ SELECT DATABASE(), @@sql_mode LIKE '%ANSI_QUOTES%', @@character_set_client"); got != "test,1,latin1" {
				t.Errorf("the session is %s", got)
			}
		})
	}
}
