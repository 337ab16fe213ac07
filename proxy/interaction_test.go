package proxy_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
)

var rewrite = flag.Bool("rewrite", false, "have TestInteraction write what the scripts print into them")

// The drivers of a session: see docs/design/one-path.md.
const (
	onGoroutines = "goroutines"
	inLane       = "fast lane"
)

var drivers = []string{onGoroutines, inLane}

// Each script in testdata/interaction is a session as data: what clients send, what the servers answer, which statements reach which server in
// which order, and which packets the clients get. It is the same whoever drives the sessions. With -rewrite the scripts are written anew: commit
// what that changes only if it is what you meant.
func TestInteraction(t *testing.T) {
	files, err := filepath.Glob("testdata/interaction/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			runScript(t, file)
		})
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := parseScript(string(text), drivers)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(want) == 0 || !strings.HasPrefix(want[0].head[0], "# ") {
		t.Errorf("%s: the first line does not tell what the script shows", file)
	}
	got, _ := parseScript(string(text), drivers)
	ran := drivers
	if runtime.GOOS != "linux" {
		ran = drivers[:1]
	}
	for _, driver := range ran {
		runOn(t, file, driver, got)
	}
	for k, p := range got {
		same, _ := p.same(ran)
		if !same && p.differs == "" {
			t.Errorf("%s:%d: %s\n%s", file, p.line, p.directive, shownBoth(p))
		}
		if same && p.differs != "" {
			t.Errorf("%s:%d: %s: the drivers print the same", file, p.line, p.directive)
		}
		if *rewrite {
			continue
		}
		for _, driver := range ran {
			if !slices.Equal(p.prints[driver], want[k].prints[driver]) {
				t.Errorf("%s:%d: %s\n%s print\n%s\nwant\n%s", file, p.line, p.directive, driver, indented(p.prints[driver]), indented(want[k].prints[driver]))
			}
		}
	}
	if !*rewrite {
		return
	}
	if err := os.WriteFile(file, []byte(formatScript(got, drivers)), 0o644); err != nil {
		t.Error(err)
	}
}

// runOn runs a script on a driver and puts what it prints into its paragraphs.
func runOn(t *testing.T, file, driver string, list []*paragraph) {
	r := &interaction{
		t: t, lane: driver == inLane, nodes: map[string]*scriptNode{}, clients: map[string]*scriptClient{}, meetings: map[string]*meeting{}, over: make(chan struct{}),
	}
	defer r.end()
	for _, p := range list {
		if p.directive == "" {
			continue
		}
		lines, err := r.directive(p)
		if err != nil {
			t.Fatalf("%s:%d: %s: %v", file, p.line, driver, err)
		}
		delete(p.prints, driver)
		if lines != nil {
			p.prints[driver] = lines
		}
	}
}

// end closes what the script has left open.
func (r *interaction) end() {
	close(r.over)
	for _, c := range r.clients {
		c.conn.Conn.Close()
		if c.answer != nil {
			<-c.answer
		}
	}
}

func shownBoth(p *paragraph) string {
	var b strings.Builder
	for _, driver := range drivers {
		fmt.Fprintf(&b, "%s print\n%s\n", driver, indented(p.prints[driver]))
	}
	return b.String()
}

func indented(lines []string) string { return "\t" + strings.Join(lines, "\n\t") }

// asSQLError reports whether err is an error of a server, and which.
func asSQLError(err error, e **mysql.SQLError) bool { return errors.As(err, e) }
