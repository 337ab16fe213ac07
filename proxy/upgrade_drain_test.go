package proxy_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
	"kingshard/proxy/handover"
)

// What cannot move, TLS and compression, goes on in the old process until upgrade_timeout; then it is drained as on SIGTERM: a
// transaction may end, idle sessions are closed.
func TestUpgradeTimeout(t *testing.T) {
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	d := startDaemon(t, buildBinary(t), oneNode(server.Addr, 8, "upgrade_timeout: 2s", fmt.Sprintf("tls: {cert: %s, key: %s}", cert, key)))
	secure := rootClient()
	secure.TLS = insecureTLS()
	compressed := rootClient()
	compressed.Compression = 1
	plain, idle, zip, busy := dial(t, d.addr, rootClient()), dial(t, d.addr, secure), dial(t, d.addr, compressed), dial(t, d.addr, secure)
	must(t, busy, "BEGIN")
	must(t, busy, "SELECT 1")
	began := time.Now()
	d.upgrade()
	d.came(1)
	for time.Since(began) < time.Second {
		must(t, idle, "SELECT 1")
		must(t, zip, "SELECT 1")
	}
	for name, c := range map[string]*mysqltest.RawClient{"TLS": idle, "compressed": zip} {
		if _, err := c.Read(); err == nil {
			t.Errorf("%s: an idle client was not sent away", name)
		}
	}
	if !alive(d.pids[0]) {
		t.Error("the old process did not wait for a transaction")
	}
	must(t, busy, "SELECT 2")
	must(t, busy, "COMMIT")
	d.onlyLast()
	must(t, plain, "SELECT 1")
	if n := d.metric("kingshard_sessions"); n != 1 {
		t.Errorf("%d sessions in the new process", n)
	}
}

// Two upgrades while a session cannot move: the first process goes on with it, the second does not wait for the first.
func TestUpgradeDuringUpgrade(t *testing.T) {
	t.Parallel()
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	d := startDaemon(t, buildBinary(t), oneNode(server.Addr, 8, "upgrade_timeout: 1h", "drain_timeout: 1s"))
	bound, plain := dial(t, d.addr, rootClient()), dial(t, d.addr, rootClient())
	must(t, bound, "BEGIN")
	must(t, bound, "SELECT 1")
	d.upgrade()
	d.came(1)
	d.upgrade()
	d.came(1)
	mysqltest.WaitFor(t, "the second process to end", func() bool { return !alive(d.pids[1]) })
	must(t, bound, "SELECT 2")
	must(t, bound, "COMMIT")
	must(t, bound, "SELECT 3")
	must(t, plain, "SELECT 4")
	bound.Close()
	d.onlyLast()
}

// The new process can be stopped while the old one still has a session, which goes on there until it is stopped, too.
func TestUpgradeThenStop(t *testing.T) {
	t.Parallel()
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	d := startDaemon(t, buildBinary(t), oneNode(server.Addr, 8, "upgrade_timeout: 1h"))
	bound, plain := dial(t, d.addr, rootClient()), dial(t, d.addr, rootClient())
	must(t, bound, "BEGIN")
	must(t, bound, "SELECT 1")
	d.upgrade()
	d.came(1)
	stop := func(pid int) {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		mysqltest.WaitFor(t, "a process to end", func() bool { return !alive(pid) })
	}
	stop(d.pids[1])
	if _, err := plain.Read(); err == nil {
		t.Error("the client that moved was not sent away")
	}
	must(t, bound, "SELECT 2")
	must(t, bound, "COMMIT")
	must(t, bound, "SELECT 3")
	stop(d.pids[0])
	if late, err := mysqltest.DialRaw(d.addr, rootClient()); err == nil {
		late.Close()
		t.Error("somebody still listens")
	}
}

// A client of the admin port keeps its connection, too.
func TestUpgradeOfAdminPort(t *testing.T) {
	t.Parallel()
	server := startScript(t, "n")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := l.Addr().String()
	l.Close()
	d := startDaemon(t, buildBinary(t), oneNode(server.Addr, 4, "admin_addr: "+admin))
	c := dial(t, admin, rootClient())
	for range 2 {
		if got := value(t, c, "KS UPGRADE"); !strings.HasPrefix(got, "process ") {
			t.Errorf("KS UPGRADE: %s", got)
		}
		d.upgraded()
		d.came(1)
		list := fmt.Sprint(must(t, c, "SHOW KS SESSIONS").Rows)
		if !strings.Contains(list, fmt.Sprint(c.Greeting.ConnectionID)) {
			t.Errorf("not listed: %s", list)
		}
	}
	d.onlyLast()
}

// Systemd hears of the new main process, and that it serves; it hears nothing of one that refused but that.
func TestUpgradeNotifies(t *testing.T) {
	systemd := mysqltest.ListenNotify(t)
	text := oneNode(startScript(t, "n").Addr, 4)
	d := startDaemon(t, buildBinary(t), text)
	const serving = "READY=1\nSTATUS=serving"
	systemd.Hear(serving)
	d.configure(text + "no_such_key: 1\n")
	d.signal()
	systemd.Hear("RELOADING=1\nMONOTONIC_USEC=[0-9]+")
	systemd.Hear(serving + "; the last upgrade was refused, see the log")
	d.configure(text + "prometheus_addr: 127.0.0.1:0\n")
	d.upgrade()
	systemd.Hear("RELOADING=1\nMONOTONIC_USEC=[0-9]+")
	if got := systemd.Hear("MAINPID=[0-9]+\n" + serving); got != fmt.Sprintf("MAINPID=%d\n%s", d.pid(), serving) {
		t.Errorf("heard %q of process %d", got, d.pid())
	}
	d.onlyLast()
	d.upgrade() // the new process knows the supervisor
	systemd.Hear("RELOADING=1\nMONOTONIC_USEC=[0-9]+")
	systemd.Hear("MAINPID=[0-9]+\n" + serving)
}

// An upgrade can be asked for by REST and from the command line too, by those who may.
func TestUpgradeByRESTAndCommand(t *testing.T) {
	t.Parallel()
	text := oneNode(startScript(t, "n").Addr, 4, "web_addr: 127.0.0.1:0",
		"web_tokens: [{name: reader, token: reader-of-sixteen, rights: read}, {name: operator, token: operator-of-sixteen, rights: operate}]")
	d := startDaemon(t, buildBinary(t), text)
	web := "http://" + regexp.MustCompile(`web_addr=(\S+)`).FindStringSubmatch(d.log())[1]
	ask := func(token string) (status int, body string) {
		t.Helper()
		r, err := http.NewRequest("POST", web+"/api/v2/upgrade", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		return answered(t, &httpClient, r)
	}
	command := func(password string) (code int, out string) {
		t.Helper()
		cmd := exec.Command(d.binary, "upgrade", "-addr", d.addr, "-user", "root")
		cmd.Env = append(os.Environ(), "KS_PASSWORD="+password)
		b, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(b)
	}
	c := dial(t, d.addr, rootClient())
	if status, body := ask("reader-of-sixteen"); status != http.StatusForbidden {
		t.Errorf("by one who may only read: %d %s", status, body)
	}
	if status, body := ask("operator-of-sixteen"); status != http.StatusOK || !strings.Contains(body, `{"successor":"process `) {
		t.Errorf("%d %s", status, body)
	}
	d.upgraded()
	d.came(1)
	d.onlyLast()
	if code, out := command("wrong"); code != 1 || !strings.Contains(out, "ERROR 1045") {
		t.Errorf("with a wrong password: exit status %d, %s", code, out)
	}
	if code, out := command("root"); code != 0 || !strings.HasPrefix(out, "handed over to process ") {
		t.Errorf("exit status %d, %s", code, out)
	}
	d.upgraded()
	d.came(1)
	must(t, c, "SELECT name")
	d.configure("addr: [")
	if status, body := ask("operator-of-sixteen"); status != http.StatusConflict || !strings.Contains(body, "is not valid") {
		t.Errorf("with a faulty file: %d %s", status, body)
	}
	if code, out := command("root"); code != 1 || !strings.Contains(out, "is not valid") {
		t.Errorf("with a faulty file: exit status %d, %s", code, out)
	}
	must(t, c, "SELECT name")
}

// Who hears that an upgrade was refused may ask for the next one at once.
func TestUpgradeAfterARefusal(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4))
	answers := make(chan error, 1)
	failures := 0
	p.Upgrading = proxy.Upgrading{
		Command: handover.Command{Path: "/nonexistent/kingshard"}, Begun: func() {}, Successor: func(int) {},
		Failed: func() {
			if failures++; failures > 1 {
				return
			}
			go func() {
				_, err := p.Upgrade()
				answers <- err
			}()
			select {
			case err := <-answers:
				answers <- err
			case <-time.After(50 * time.Millisecond): // it waits for this to end
			}
		},
	}
	if _, err := p.Upgrade(); err == nil {
		t.Fatal("a binary that is not there took over")
	}
	if err := <-answers; err == nil || strings.Contains(err.Error(), "under way") {
		t.Errorf("the next one: %v", err)
	}
}
