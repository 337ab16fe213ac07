package proxy_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// silent is a server that takes connections and says nothing.
type silent struct {
	net.Listener
	taken chan net.Conn
}

func startSilent(t *testing.T) *silent {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silent{l, make(chan net.Conn, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(s.taken)
				return
			}
			s.taken <- c
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return s
}

// While a change asks a server that does not answer others take nodes down and change settings, and the proxy stops.
func TestChangesAskWithoutTheLock(t *testing.T) {
	hang := startSilent(t)
	addr := hang.Addr().String()
	withReplica := func(a, b string) string {
		return configText([]node{{name: "n", master: a, conns: 2, slave: addr}, {name: "m", master: b, conns: 2}}, "max_login_delay: 0s", "connect_timeout: 10m")
	}
	changes := []string{"KS RELOAD", "KS NODE n SET PRIMARY '" + addr + "'", "KS NODE n SET PRIMARY '" + addr + "' FORCE 'meant'", "admin node(opt,node,k,v) values('up','n','master','" + addr + "')",
		"KS NODE n ADD REPLICA '" + addr + "'", "KS RELOAD of a replica"}
	for _, change := range changes {
		t.Run(change, func(t *testing.T) {
			first, second := startScript(t, "first"), startScript(t, "second")
			text := strings.Replace(pair(first.Addr, second.Addr), "connect_timeout: 2s", "connect_timeout: 10m", 1)
			p, operator, write := loaded(t, text)
			write(strings.Replace(text, first.Addr, addr, 1))
			if strings.HasSuffix(change, "replica") {
				write(strings.Replace(withReplica(first.Addr, second.Addr), "connect_timeout: 2s\n", "", 1))
			}
			ended := make(chan *mysqltest.RawResult, 1)
			asker := p.client("")
			go func() {
				r, _ := asker.Query(strings.TrimSuffix(change, " of a replica"))
				ended <- r
			}()
			taken := <-hang.taken
			must(t, operator, "KS NODE m DOWN")
			must(t, operator, "KS NODE m UP")
			must(t, operator, "KS SET slow_log_time = 217")
			if got := p.Config().SlowLogTime; got != 217 {
				t.Errorf("slow_log_time is %v", got)
			}
			select {
			case r := <-ended:
				t.Errorf("%s ended: %v", change, r)
			default:
			}
			// It asks again, for another configuration than the one it began with, and ends with the server.
			_ = taken.Close()
			again := <-hang.taken
			stopped := make(chan error, 1)
			go func() { stopped <- p.stop(time.Minute) }()
			select {
			case <-stopped:
			case <-time.After(30 * time.Second):
				t.Error("the proxy does not stop")
				_ = again.Close()
				<-stopped
			}
			if r := <-ended; r != nil && r.Err == nil {
				t.Errorf("%s: %v", change, r)
			}
			if master := p.Config().Node("n").Master; master != first.Addr {
				t.Errorf("the primary is %s", master)
			}
			if err := p.Reload(querylog.By{}, parse(t, pair(second.Addr, first.Addr)), true); err == nil {
				t.Error("a reload after the end")
			}
		})
	}
}

// A change that comes while another one asks is kept by both.
func TestChangesBetween(t *testing.T) {
	first, second := startScript(t, "first"), startScript(t, "second")
	asked, gate := make(chan struct{}, 10), make(chan struct{})
	answer := answers("third")
	third := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if strings.Contains(string(payload), "@@server_uuid") {
			asked <- struct{}{}
			<-gate
		}
		answer(c, cmd, payload)
	}})
	p, operator, _ := loaded(t, pair(first.Addr, second.Addr))
	ended := make(chan error, 1)
	go func() {
		ended <- p.Edit(querylog.By{}, false, func(cfg *config.Config) error {
			cfg.Node("n").Master = third.Addr
			return nil
		})
	}()
	<-asked
	must(t, operator, "KS SET slow_log_time = 217")
	must(t, operator, "KS NODE m DOWN")
	close(gate)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if cfg := p.Config(); cfg.Node("n").Master != third.Addr || cfg.SlowLogTime != 217 {
		t.Errorf("the primary is %s, slow_log_time %v", cfg.Node("n").Master, cfg.SlowLogTime)
	}
	if !p.primary("m").HeldDown() {
		t.Error("the node that was taken down is up")
	}
}

// FORCE takes a primary that answers, with whichever error, for a reason, which is kept; and only that.
func TestSetPrimaryForce(t *testing.T) {
	full := mysqltest.StartScript(t, mysqltest.ScriptConfig{Refuse: mysql.NewSQLError(1040, "Too many connections"), Handler: answers("full")})
	closed := mysqltest.StartScript(t, mysqltest.ScriptConfig{Passwords: map[string]string{"root": "another"}, Handler: answers("closed")})
	refusing := func(refuse func(c *mysqltest.ScriptConn, text string) bool) *mysqltest.ScriptServer {
		answer := answers("x")
		return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			if !refuse(c, string(payload)) {
				answer(c, cmd, payload)
			}
		}})
	}
	// Servers that lack variables, and one that does not tell them.
	lacking := func(known map[string]any) *mysqltest.ScriptServer {
		return refusing(func(c *mysqltest.ScriptConn, text string) bool {
			list, ok := strings.CutPrefix(text, "SELECT @@global.")
			if !ok || !strings.Contains(list, "read_only") {
				return false
			}
			var values []any
			for name := range strings.SplitSeq(list, ", @@global.") {
				value, ok := known[name]
				if !ok {
					c.Error(1193, "Unknown system variable '%s'", name)
					return true
				}
				values = append(values, value)
			}
			c.Rows(make([]string, len(values)), values)
			return true
		})
	}
	secret := refusing(func(c *mysqltest.ScriptConn, text string) bool {
		if !strings.Contains(text, "read_only") {
			return false
		}
		c.Error(1227, "Access denied; you need something")
		return true
	})
	none := closedAddr(t)
	for _, c := range []struct {
		addr, refusal string // "" where it is fit
		force         bool   // whether FORCE takes it
	}{
		{full.Addr, "cannot be reached, the primary of node \"n\" stays", true}, {closed.Addr, "cannot be reached", true}, {secret.Addr, "does not tell whether it takes writes", true}, {none, "cannot be reached", false},
		{lacking(map[string]any{"read_only": "0"}).Addr, "", true}, {lacking(map[string]any{"read_only": "ON"}).Addr, "takes no writes, read_only is set there", true}, {lacking(nil).Addr, "", true},
		{lacking(map[string]any{"innodb_read_only": "1"}).Addr, "takes no writes, innodb_read_only is set there", true}, {lacking(map[string]any{"read_only": 0, "innodb_read_only": "OFF"}).Addr, "", true},
	} {
		first := startScript(t, "first")
		p := startProxy(t, oneNode(first.Addr, 2))
		operator := p.client("")
		set := "KS NODE n SET PRIMARY '" + c.addr + "'"
		if c.refusal == "" {
			must(t, operator, set)
			if got := p.Config().Node("n").Master; got != c.addr {
				t.Errorf("%s: the primary is %s", set, got)
			}
			continue
		}
		hint := "say FORCE: " + set + " FORCE 'reason'"
		if e := fails(t, operator, set, 9032); !strings.Contains(e.Message, c.refusal) || strings.Contains(e.Message, hint) != c.force {
			t.Errorf("%s: %v", set, e)
		}
		for _, wrong := range []string{" FORCE", " FORCE ''", " FORCE 'a' 'b'"} {
			if e := fails(t, operator, set+wrong, 9031); !strings.Contains(e.Message, "expected") {
				t.Errorf("%s: %v", set+wrong, e)
			}
		}
		if !c.force {
			fails(t, operator, set+" FORCE 'meant'", 9032)
			continue
		}
		must(t, operator, set+" FORCE 'meant so'")
		if got := p.Config().Node("n").Master; got != c.addr {
			t.Errorf("%s FORCE: the primary is %s", set, got)
		}
		if got := fmt.Sprint(must(t, operator, "SHOW KS EVENTS WHERE what = 'set primary' AND outcome = 'ok'").Rows); !strings.Contains(got, "FORCE: meant so") {
			t.Errorf("events: %s", got)
		}
	}
}

// A replica that is another node's server is refused by whichever change, and warned of at a start; FORCE takes it.
func TestReplicaOfAnotherNode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers of its own")
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			like := mysqltest.ServerConfig{Kind: kind, ServerID: 1}
			first, second, third := startOwn(t, like), startOwn(t, like), startOwn(t, like)
			with := func(replica, other string) string {
				return configText([]node{{name: "n", master: first.Addr, slave: replica, conns: 2}, {name: "m", master: second.Addr, slave: other, conns: 2}}, "max_login_delay: 0s")
			}
			p, operator, write := loaded(t, with("", ""))
			replicas := func() string { return p.Config().Node("n").Slave }
			_, port, _ := net.SplitHostPort(second.Addr)
			names := []string{second.Addr, "localhost:" + port, second.Socket}
			for _, name := range names {
				refusal := name + `, a replica of node "n", is a server of node "m", which has it as ` + second.Addr
				for text, code := range map[string]uint16{"KS NODE n ADD REPLICA '" + name + "' WEIGHT 2": 9032, "admin node(opt,node,k,v) values('add','n','slave','" + name + "')": 1105,
					"admin node(opt,node,k,v) values('up','n','slave','" + name + "')": 1105} {
					if e := fails(t, operator, text, code); !strings.Contains(e.Message, refusal) || !strings.Contains(e.Message, "KS NODE n ADD REPLICA '"+name+"' FORCE 'reason'") {
						t.Errorf("%s: %v", text, e)
					}
				}
				write(with(name, ""))
				for _, text := range []string{"KS RELOAD", "KS UPGRADE"} {
					if e := fails(t, operator, text, 9032); !strings.Contains(e.Message, refusal) || !strings.Contains(e.Message, "KS RELOAD FORCE 'reason'") {
						t.Errorf("%s of %s: %v", text, name, e)
					}
				}
				if got := fmt.Sprint(must(t, operator, "KS RELOAD CHECK").Rows); !strings.Contains(got, refusal) {
					t.Errorf("KS RELOAD CHECK of %s: %s", name, got)
				}
			}
			write(with(third.Addr, third.Addr)) // two nodes to one server
			if e := fails(t, operator, "KS RELOAD", 9032); strings.Count(e.Message, "is a server of node") != 2 {
				t.Errorf("a replica of two nodes: %v", e)
			}
			if replicas() != "" {
				t.Fatalf("after refusals the replicas are %s", replicas())
			}
			// What is fit is taken, and what does not answer.
			must(t, operator, "KS NODE n ADD REPLICA '"+third.Addr+"'")
			write(with(third.Addr+","+closedAddr(t), ""))
			must(t, operator, "KS RELOAD")
			if e := fails(t, operator, "KS NODE m ADD REPLICA '"+third.Addr+"'", 9032); !strings.Contains(e.Message, `is a server of node "n"`) {
				t.Error(e)
			}
			for _, wrong := range []string{" FORCE", " FORCE ''", " FORCE 'x' WEIGHT 2"} {
				fails(t, operator, "KS NODE n ADD REPLICA '"+names[0]+"'"+wrong, 9031)
			}
			must(t, operator, "KS NODE n ADD REPLICA '"+names[0]+"' WEIGHT 2 FORCE 'they are one'")
			if !strings.Contains(replicas(), names[0]+"@2") {
				t.Errorf("by force: %s", replicas())
			}
			if got := fmt.Sprint(must(t, operator, "SHOW KS EVENTS WHERE what = 'add replica' AND outcome = 'ok'").Rows); !strings.Contains(got, "FORCE: they are one") {
				t.Errorf("events: %s", got)
			}
			must(t, operator, "KS NODE n ADD REPLICA '"+names[1]+"'") // the two share a server now
			write(with(names[0], ""))
			must(t, operator, "KS RELOAD FORCE 'meant'")

			warning := func(p *testProxy) bool { return strings.Contains(p.log.String(), "a replica is another node's server") }
			started := startProxy(t, with(third.Addr+","+names[1], ""))
			mysqltest.WaitFor(t, "the warning at a start", func() bool { return warning(started) })
			if text := started.log.String(); !strings.Contains(text, `replica=`+names[1]) || strings.Contains(text, `replica=`+third.Addr) {
				t.Errorf("at a start:\n%s", text)
			}
			// Nodes that have one primary may have one replica.
			one := func(a, b string) string {
				return configText([]node{{name: "n", master: a, slave: third.Addr, conns: 2}, {name: "m", master: b, slave: third.Addr, conns: 2}}, "max_login_delay: 0s")
			}
			shared := startProxy(t, one(second.Addr, names[1]))
			write(one(first.Addr, first.Addr))
			must(t, operator, "KS RELOAD FORCE 'to begin with'")
			mysqltest.WaitFor(t, "servers to be asked", func() bool { return shared.TellOfReplicas(t.Context()) })
			if warning(shared) {
				t.Errorf("nodes of one primary:\n%s", shared.log.String())
			}
		})
	}
}

// MariaDB servers with the same id, host, port and paths are told apart.
func TestServersOfOneImage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a server of its own")
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			server := startOwn(t, mysqltest.ServerConfig{Kind: kind, ServerID: 1})
			_, port, _ := net.SplitHostPort(server.Addr)
			ask := func(addr string) string {
				t.Helper()
				p := startProxy(t, oneNode(addr, 2))
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				found, err := p.primary("n").Inspect(ctx)
				if err != nil || found.Server == "" {
					t.Fatalf("%s: %+v, %v", addr, found, err)
				}
				return found.Server
			}
			was := ask(server.Addr)
			for _, addr := range []string{server.Addr, "localhost:" + port, server.Socket} {
				for range 3 {
					if got := ask(addr); got != was {
						t.Errorf("by %s it is %s, not %s", addr, got, was)
					}
				}
			}
			if kind != mysqltest.MariaDB {
				return // server_uuid is kept with the data
			}
			// Started again it stands for another server of the same image.
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := ask(server.Addr); got == was {
				t.Errorf("two servers are %s", got)
			}
		})
	}
}
