package proxy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"kingshard/mysql/mysqltest"
)

// process is a run of the daemon.
type process struct {
	*exec.Cmd
	file, addr string // its configuration, and where it listens
	log        *mysqltest.LogBuffer
	ended      chan struct{} // closed when ProcessState is there
	t          *testing.T
}

var listens = regexp.MustCompile(`msg=listening addr=(\S+)`)

// startProcess runs the daemon until the test ends; it is killed then if it has not ended by itself.
func startProcess(t *testing.T, path, text string) *process {
	t.Helper()
	p := &process{file: filepath.Join(t.TempDir(), "ks.yaml"), log: new(mysqltest.LogBuffer), ended: make(chan struct{}), t: t}
	p.configure(text)
	p.Cmd = exec.Command(path, "-config", p.file)
	p.Stderr = p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.Wait()
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
	mysqltest.WaitFor(t, "the daemon to listen", func() bool { return listens.MatchString(p.log.String()) })
	p.addr = listens.FindStringSubmatch(p.log.String())[1]
	return p
}

func (p *process) configure(text string) {
	p.t.Helper()
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// signal sends a signal and waits for what the log says then, and has not said before.
func (p *process) signal(s os.Signal, says string) {
	p.t.Helper()
	before := strings.Count(p.log.String(), says)
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	mysqltest.WaitFor(p.t, says+" in the log", func() bool { return strings.Count(p.log.String(), says) > before })
}

// end waits for the daemon to end with status 0.
func (p *process) end() {
	p.t.Helper()
	<-p.ended
	if status := p.ProcessState.ExitCode(); status != 0 {
		p.t.Errorf("exit status %d:\n%s", status, p.log.String())
	}
}

// The real process reads its file again on SIGHUP and SIGUSR1; a wrong file changes nothing.
func TestReloadSignals(t *testing.T) {
	first, second := startScript(t, "first"), startScript(t, "second")
	p := startProcess(t, buildBinary(t), oneNode(first.Addr, 2))
	c := dial(t, p.addr, rootClient())
	if got := value(t, c, "SELECT name"); got != "first" {
		t.Fatalf("served by %s", got)
	}
	for k, step := range []struct {
		signal     os.Signal
		text, says string
		want       string
	}{
		{syscall.SIGHUP, oneNode(second.Addr, 2), "generation=2", "second"},
		{syscall.SIGUSR1, oneNode(first.Addr, 2), "generation=3", "first"},
		{syscall.SIGHUP, oneNode(second.Addr, 2, "no_such_key: 1"), "no_such_key", "first"},
		{syscall.SIGUSR1, oneNode(second.Addr, 2, "tls: {cert: missing.pem, key: missing.pem}"), "missing.pem", "first"},
		{syscall.SIGHUP, replaceLine(oneNode(second.Addr, 2), "addr: 127.0.0.1:1"), "addr cannot change", "first"},
		{syscall.SIGUSR1, "", "reload refused", "first"},
		{syscall.SIGHUP, oneNode(first.Addr, 2, "log_level: debug"), "generation=4", "first"},
	} {
		p.configure(step.text)
		p.signal(step.signal, step.says)
		if got := value(t, c, "SELECT name"); got != step.want {
			t.Errorf("step %d: served by %s, want %s", k, got, step.want)
		}
		next := dial(t, p.addr, rootClient())
		if got := value(t, next, "SELECT name"); got != step.want {
			t.Errorf("step %d: a new client is served by %s, want %s", k, got, step.want)
		}
		next.Close()
	}
}

// Item 18 through the real process: SIGTERM refuses new clients, waits for a transaction and ends with status 0; a second
// signal, or the end of drain_timeout, cuts off what is left.
func TestTerminationSignals(t *testing.T) {
	path := buildBinary(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE ended_rows (id INT PRIMARY KEY)")
		before := number(t, direct, connections)
		begin := func(text string) (*process, *mysqltest.RawClient) {
			p := startProcess(t, path, text)
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			must(t, c, "BEGIN")
			must(t, c, "INSERT INTO ended_rows VALUES (1)")
			return p, c
		}

		p, c := begin(replaceLine(oneNode(server.Addr, 2), "drain_timeout: 1h"))
		idle := dial(t, p.addr, rootClient())
		p.signal(syscall.SIGTERM, "draining")
		if _, err := idle.Read(); err == nil {
			t.Error("an idle client was not sent away")
		}
		if late, err := mysqltest.DialRaw(p.addr, rootClient()); err == nil {
			late.Close()
			t.Error("a new client was let in")
		}
		must(t, c, "INSERT INTO ended_rows VALUES (2)")
		must(t, c, "COMMIT")
		p.end()
		if n := number(t, direct, "SELECT COUNT(*) FROM ended_rows"); n != 2 {
			t.Errorf("%d rows of the drained transaction, want 2", n)
		}
		must(t, direct, "DELETE FROM ended_rows")

		p, _ = begin(replaceLine(oneNode(server.Addr, 2), "drain_timeout: 1h"))
		p.signal(syscall.SIGINT, "draining")
		p.signal(syscall.SIGTERM, "cut off")
		p.end()
		mysqltest.WaitFor(t, "the roll-back", func() bool { return number(t, direct, connections) == before })

		p, _ = begin(replaceLine(oneNode(server.Addr, 2), "drain_timeout: 300ms"))
		p.signal(syscall.SIGTERM, "cut off")
		p.end()
		mysqltest.WaitFor(t, "the roll-back", func() bool { return number(t, direct, connections) == before })
		if n := number(t, direct, "SELECT COUNT(*) FROM ended_rows"); n != 0 {
			t.Errorf("%d rows of transactions that were cut off", n)
		}
	})
}

// -check tells by its exit status, and with the place of every fault, whether a file is valid. It listens on nothing, dials
// nobody and shows no password.
func TestCheck(t *testing.T) {
	const canary = "canary-7153"
	path, file := buildBinary(t), filepath.Join(t.TempDir(), "ks.yaml")
	server := startScript(t, "script")
	good := strings.ReplaceAll(oneNode(server.Addr, 2), "password: ks}", "password: "+canary+"}")
	for name, c := range map[string]struct {
		text   string
		status int
		says   []string
	}{
		"valid":             {good, 0, []string{"is valid"}},
		"two faults":        {good + "log_level: loud\nmax_allowed_packet: 1\n", 1, []string{"log_level", "max_allowed_packet", "is not valid"}},
		"a node's number":   {strings.Replace(good, "max_conns_limit: 2", "max_conns_limit: 4000000", 1), 1, []string{"nodes[0].max_conns_limit"}},
		"a node of no name": {strings.Replace(good, "default: n}", "default: nowhere}", 1), 1, []string{"schema_list[0].default"}},
		"an unknown key":    {good + "no_such_key: " + canary + "\n", 1, []string{"no_such_key"}},
		"no file of TLS":    {good + "tls: {cert: missing.pem, key: missing.pem}\n", 1, []string{"tls: ", "missing.pem"}},
		"no YAML":           {good + "addr: [", 1, []string{"is not valid"}},
		"empty":             {"", 1, []string{"is not valid"}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd := exec.Command(path, "-check", "-config", file)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != c.status {
			t.Errorf("%s: exit status %d, want %d:\n%s", name, status, c.status, out.String())
		}
		for _, text := range c.says {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: %q is not in\n%s", name, text, out.String())
			}
		}
		if strings.Contains(out.String(), canary) {
			t.Errorf("%s: a password is shown:\n%s", name, out.String())
		}
	}
	if n := server.Accepted(); n != 0 {
		t.Errorf("%d connections to the server", n)
	}
}
