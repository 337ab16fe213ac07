package demo

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// step is a command of the tour, with the lines that it shows there.
type step struct {
	command string
	shows   []string
}

// steps reads the commands of a document: lines after "$ ", gone on with after "> ".
func steps(t *testing.T, path string) (list []step) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		text, indented := strings.CutPrefix(line, "    ")
		switch {
		case !indented:
			inside = false
		case strings.HasPrefix(text, "$ "):
			list = append(list, step{command: text[2:]})
			inside = true
		case !inside: // of the other terminal
		case strings.HasPrefix(text, "> "):
			list[len(list)-1].command += "\n" + text[2:]
		default:
			list[len(list)-1].shows = append(list[len(list)-1].shows, text)
		}
	}
	return list
}

var (
	digits = regexp.MustCompile(`\d{4,}`)
	blanks = regexp.MustCompile(`(\\t|\s)+`)
)

// pattern is what a line of the document stands for: numbers from 1000 on, as ports and processes have, may be others, "..." is anything.
func pattern(line string) *regexp.Regexp {
	p := regexp.QuoteMeta(strings.TrimSpace(line))
	p = strings.ReplaceAll(p, `\.\.\.`, `.*`)
	p = blanks.ReplaceAllString(digits.ReplaceAllString(p, `\d+`), `\s+`)
	return regexp.MustCompile(p)
}

// The commands of docs/tour.md do what it says, in one shell, in front of the demo.
func TestTour(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	list := steps(t, "../../../docs/tour.md")
	if len(list) < 25 {
		t.Fatalf("only %d commands", len(list))
	}
	work := keptDir(t)
	binary := filepath.Join(work, "bin", "kingshard")
	build := exec.Command("go", "build", "-o", binary, "kingshard/cmd/kingshard")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is delivered, of packages that make lint has compiled
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ports := map[string]string{}
	for _, port := range []string{"9696", "9797", "9698", "9799"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, ports[port], _ = net.SplitHostPort(l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := open(t.Context(), options{dir: filepath.Join(work, "shop"), addr: "127.0.0.1:" + ports["9696"], web: "127.0.0.1:" + ports["9797"]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	var script strings.Builder
	for k, s := range list {
		fmt.Fprintf(&script, "echo; echo '@@@ %d'\n%s\n", k, s.command)
	}
	text := script.String()
	for port, free := range ports {
		text = strings.ReplaceAll(text, port, free)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", text+"wait\n")
	shell.Dir = work
	shell.WaitDelay = time.Second
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	shown := strings.Split(string(out), "\n@@@ ")
	if len(shown) != len(list)+1 {
		t.Fatalf("%d of %d commands ran:\n%s", len(shown)-1, len(list), out)
	}
	for k, s := range list {
		_, got, _ := strings.Cut(shown[k+1], "\n")
		if len(s.shows) == 0 && strings.TrimSpace(got) != "" {
			t.Errorf("$ %s\nshows\n%s", s.command, got)
		}
		for _, want := range s.shows {
			if !pattern(want).MatchString(got) {
				t.Errorf("$ %s\nshows\n%swant\n%s", s.command, got, want)
			}
		}
	}
}
