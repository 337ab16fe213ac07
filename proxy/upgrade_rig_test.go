package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// daemon is a run of the binary that may go through several processes. They are not all this one's children, and so write to
// files.
type daemon struct {
	t              *testing.T
	binary, config string
	stderr, logs   string // the same file, unless the configuration has a log_path
	addr, metrics  string
	pids           []int // the last one serves
}

var (
	serves    = regexp.MustCompile(`prometheus_addr=(\S+)`)
	handsOver = regexp.MustCompile(`msg="handing over" to=(\d+)`)
	logPath   = regexp.MustCompile(`(?m)^log_path: (.+)$`)
)

// startDaemon runs a copy of the binary, which a test may replace, until the test ends; env is added to its environment.
func startDaemon(t *testing.T, binary, text string, env ...string) *daemon {
	t.Helper()
	dir := t.TempDir()
	d := &daemon{t: t, binary: filepath.Join(dir, "kingshard"), config: filepath.Join(dir, "ks.yaml"), stderr: filepath.Join(dir, "stderr")}
	d.logs = d.stderr
	if m := logPath.FindStringSubmatch(text); m != nil {
		d.logs = filepath.Join(m[1], "sys.log")
	}
	if os.Link(binary, d.binary) != nil { // another file system
		d.install(binary)
	}
	d.configure(text + "prometheus_addr: 127.0.0.1:0\n")
	stderr, err := os.Create(d.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	cmd := exec.Command(d.binary, "-config", d.config)
	cmd.Stdout, cmd.Stderr, cmd.Env = stderr, stderr, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	d.pids = []int{cmd.Process.Pid}
	t.Cleanup(func() {
		for _, m := range handsOver.FindAllStringSubmatch(d.log(), -1) {
			if pid, _ := strconv.Atoi(m[1]); alive(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Log(d.log())
		}
		for _, word := range []string{"panic", "DATA RACE"} {
			if _, after, found := strings.Cut(d.log(), word); found {
				t.Errorf("%s in a process%.4000s", word, after)
			}
		}
	})
	mysqltest.WaitFor(t, "the daemon to listen", func() bool { return listens.MatchString(d.log()) && serves.MatchString(d.log()) })
	d.addr, d.metrics = listens.FindStringSubmatch(d.log())[1], serves.FindStringSubmatch(d.log())[1]
	return d
}

// install puts another binary in the place of the one that runs, in one step as a package manager does.
func (d *daemon) install(binary string) {
	d.t.Helper()
	if out, err := exec.Command("cp", binary, d.binary+".new").CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	if err := os.Rename(d.binary+".new", d.binary); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) configure(text string) {
	d.t.Helper()
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) log() string {
	b, err := os.ReadFile(d.logs)
	if err != nil && !os.IsNotExist(err) { // it is the process that makes the one under log_path
		d.t.Error(err)
	}
	return string(b)
}

// pid is the process that serves.
func (d *daemon) pid() int { return d.pids[len(d.pids)-1] }

// signal asks the process that serves for an upgrade.
func (d *daemon) signal() {
	d.t.Helper()
	if err := syscall.Kill(d.pid(), syscall.SIGUSR2); err != nil {
		d.t.Fatal(err)
	}
}

// upgrade asks for an upgrade and waits until the new process serves.
func (d *daemon) upgrade() {
	d.t.Helper()
	d.signal()
	d.upgraded()
}

// upgraded waits until the upgrade that was asked for is made.
func (d *daemon) upgraded() {
	d.t.Helper()
	n := len(d.pids)
	mysqltest.WaitFor(d.t, "a new process", func() bool { return len(handsOver.FindAllString(d.log(), -1)) == n })
	pid, err := strconv.Atoi(handsOver.FindAllStringSubmatch(d.log(), -1)[n-1][1])
	if err != nil {
		d.t.Fatal(err)
	}
	d.pids = append(d.pids, pid)
}

// metric reads a value from the process that serves; -1 if it is not there.
func (d *daemon) metric(name string) int {
	d.t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var b []byte
	// A process that ends does not answer a request whose header it has not read.
	mysqltest.WaitFor(d.t, "metrics", func() bool {
		r, err := client.Get("http://" + d.metrics + "/metrics")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		b, err = io.ReadAll(r.Body)
		return err == nil
	})
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				d.t.Fatal(err)
			}
			return int(v)
		}
	}
	return -1
}

// alive tells whether a process runs; one that has ended and was not waited for does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// came waits until so many sessions have moved to the process that serves.
func (d *daemon) came(n int) {
	d.t.Helper()
	mysqltest.WaitFor(d.t, fmt.Sprintf("%d sessions to move", n), func() bool { return d.metric("kingshard_sessions_taken_over_total") >= n })
}

// onlyLast waits until all processes but the one that serves have ended, as they do when they have no session left.
func (d *daemon) onlyLast() {
	d.t.Helper()
	for _, pid := range d.pids[:len(d.pids)-1] {
		mysqltest.WaitFor(d.t, "an old process to end", func() bool { return !alive(pid) })
	}
}

// terminate ends all processes in order.
func (d *daemon) terminate() {
	d.t.Helper()
	for _, pid := range d.pids {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && alive(pid) {
			d.t.Fatal(err)
		}
	}
	for _, pid := range d.pids {
		mysqltest.WaitFor(d.t, "a process to end", func() bool { return !alive(pid) })
	}
}
