package observe

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/querylog"
)

// labelled returns the labels of all goroutines, as a profile shows them.
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

// A goroutine has the labels of its command, without values, then its plan, too; another one that goes on with the command has them, and
// neither at the end.
func TestCommandLabels(t *testing.T) {
	defer Unlabel()
	c := New(new(Stats), 1)
	c.Label("mary", "", sqltext.Mode{})
	if c.Labelled() {
		t.Error("labels without a text")
	}
	c.Label("mary", "SELECT a FROM t WHERE b = 'sesame'", sqltext.Mode{})
	if got := labelled(t); !c.Labelled() || !strings.Contains(got, `"user":"mary"`) || !strings.Contains(got, "FROM") || strings.Contains(got, "sesame") || strings.Contains(got, `"plan"`) {
		t.Errorf("at first: %q", got)
	}
	c.Exchange(&backend.Instance{}, time.Now())
	if got := labelled(t); !strings.Contains(got, `"plan":"forward"`) {
		t.Errorf("on a server: %q", got)
	}
	c.Spread(querylog.PlanMerge, 2)
	Unlabel()
	if got := labelled(t); got != "" {
		t.Errorf("the goroutine goes on with others: %q", got)
	}
	c.Relabel()
	if got := labelled(t); !strings.Contains(got, `"plan":"merge"`) || !strings.Contains(got, `"user":"mary"`) {
		t.Errorf("and with the command again: %q", got)
	}
	c.Unlabel()
	if got := labelled(t); got != "" || c.Labelled() {
		t.Errorf("at the end: %q", got)
	}
	c.Relabel()
	c.Spread(querylog.PlanWrite, 2)
	if got := labelled(t); got != "" {
		t.Errorf("a command without labels gave some: %q", got)
	}
}

// Labels are on while anybody wants them.
func TestLabels(t *testing.T) {
	var l Labels
	end := l.Want()
	l.Switch(true)
	l.Switch(true)
	if end(); !l.On() || !l.Switched() {
		t.Error("off, though they are switched on")
	}
	end = l.Want()
	l.Switch(false)
	l.Switch(false)
	if !l.On() || l.Switched() {
		t.Error("off, though somebody wants them")
	}
	if end(); l.On() {
		t.Error("on, though nobody wants them")
	}
}
