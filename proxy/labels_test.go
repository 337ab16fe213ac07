package proxy_test

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// labelled gives the goroutines' labels.
func labelled(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "# labels:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// While labels are wanted a goroutine has those of its statement, and none before and afterwards; values are not shown.
func TestLabels(t *testing.T) {
	answer, asked, goOn := answers("script"), make(chan bool), make(chan bool)
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if bytes.Contains(payload, []byte("slowly")) && cmd != mysql.ComStmtPrepare || cmd == mysql.ComStmtExecute {
			asked <- true
			<-goOn
		}
		answer(c, cmd, payload)
	}})
	p := startProxy(t, oneNode(server.Addr, 4), "fast_lane: false")
	c, operator := p.client(""), p.client("")
	st, err := c.Prepare("SELECT slowly FROM u WHERE b = ? AND c = 4711")
	if err != nil {
		t.Fatal(err)
	}
	during := func(run func() (*mysqltest.RawResult, error)) string {
		t.Helper()
		done := later(run)
		<-asked
		labels := labelled(t)
		goOn <- true
		if o := <-done; o.err != nil || o.r.Err != nil {
			t.Fatalf("%v, %+v", o.err, o.r)
		}
		return labels
	}
	text := query(c, "SELECT slowly FROM t WHERE a = 'sesame'")
	if got := during(text); got != "" {
		t.Errorf("labels that nobody wants: %s", got)
	}
	must(t, operator, "KS SET profile_labels = on")
	if got := during(text); got != `# labels: {"digest":"SELECT slowly FROM t WHERE a = ?", "plan":"forward", "user":"root"}`+"\n" {
		t.Errorf("got %s", got)
	}
	execution := func() (*mysqltest.RawResult, error) { return st.Execute(1) }
	if got := during(execution); got != `# labels: {"digest":"SELECT slowly FROM u WHERE b = ? AND c = ?", "plan":"forward", "user":"root"}`+"\n" {
		t.Errorf("got %s", got)
	}
	mysqltest.WaitFor(t, "the labels to be gone", func() bool { return labelled(t) == "" })
	if got := value(t, operator, "SHOW KS STATUS LIKE 'Profile_labels'"); got != "Profile_labels,on" {
		t.Error(got)
	}
	fails(t, operator, "KS SET profile_labels = perhaps", 9032)
	must(t, operator, "KS SET profile_labels = off")
	mysqltest.WaitFor(t, "that statement's own labels to be gone", func() bool { return labelled(t) == "" })
	if got := during(text); got != "" {
		t.Errorf("labels after they were switched off: %s", got)
	}
}

// Whatever part of a CPU profile a loop spends on the statement or the response of a session has that statement's labels, and what it
// spends between handlers has none.
func TestLabelsInLane(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, oneNode(server.Addr, 8), "fast_lane: true")
	must(t, p.client(""), "KS SET profile_labels = on")
	c := p.client("")
	st, err := c.Prepare("SELECT name FROM u WHERE b = ?")
	if err != nil {
		t.Fatal(err)
	}
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-quit:
				return
			default:
			}
			if _, err := c.Query("SELECT name FROM t WHERE a = 4711"); err != nil {
				t.Error(err)
				return
			}
			if _, err := st.Execute(1); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	defer func() { close(quit); <-over }()
	wanted := map[string]bool{"SELECT name FROM t WHERE a = ?": true, "SELECT name FROM u WHERE b = ?": true}
	seen := make(map[string]bool)
	mysqltest.WaitFor(t, "samples of both statements in a loop", func() bool {
		var b bytes.Buffer
		if err := pprof.StartCPUProfile(&b); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		pprof.StopCPUProfile()
		samples, err := profile.Parse(&b)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples.Sample {
			stack := ""
			for _, l := range s.Location {
				for _, line := range l.Line {
					stack += line.Function.Name + "\n"
				}
			}
			if !strings.Contains(stack, "fastlane.(*Loop).run") {
				continue
			}
			digests := s.Label["digest"]
			switch {
			case strings.Contains(stack, "label"): // while they are set, or taken away
			case strings.Contains(stack, "session.(*Session).launch"), strings.Contains(stack, "session.(*Session).answer"):
				if len(digests) != 1 || !wanted[digests[0]] || len(s.Label["user"]) != 1 || s.Label["user"][0] != "root" {
					t.Errorf("labels %v of\n%s", s.Label, stack)
				}
			case !strings.Contains(stack, "kingshard/proxy/session."):
				if digests != nil {
					t.Errorf("labels %v between handlers:\n%s", s.Label, stack)
				}
			}
			if len(digests) == 1 {
				seen[digests[0]] = true
			}
		}
		return len(seen) == len(wanted)
	})
}
