package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// -h of the binary and of each command says what it takes, on standard output, and is no error.
func TestHelp(t *testing.T) {
	for _, c := range append([]*command{&daemon}, commands...) {
		args := []string{"-h"}
		if c.name != "" {
			args = []string{c.name, "-h"}
		}
		out, code := capture(t, args...)
		wants := []string{"usage: " + c.title() + " [flags]", c.about}
		for _, o := range c.options() {
			wants = append(wants, "  -"+o.name)
			if o.about == "" {
				t.Errorf("%s -%s: what for?", c.title(), o.name)
			}
		}
		if c.name == "" {
			for _, other := range commands {
				wants = append(wants, "kingshard "+other.name, other.summary)
			}
		} else if c.summary == "" {
			t.Errorf("%s: no summary", c.name)
		}
		for _, want := range wants {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%v: exit code %d, no %q in\n%s", args, code, want, out)
			}
		}
		for _, line := range strings.Split(c.about, "\n") {
			if len(line) > 130 {
				t.Errorf("%s: a line of %d bytes", c.title(), len(line))
			}
		}
	}
}

// bash takes the script and completes commands, flags, arguments and files by it.
func TestBashCompletion(t *testing.T) {
	script, code := capture(t, "completion", "bash")
	if code != 0 {
		t.Fatal(code)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ks-one.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line []string
		want string
	}{
		{[]string{"e"}, "explain"},
		{[]string{"ch"}, "check"},
		{[]string{"-lo"}, "-log-level"},
		{[]string{"explain", "-le"}, "-lenient"},
		{[]string{"admin", "-pass"}, "-password-file"},
		{[]string{"hash-password", "cach"}, "caching_sha2_password"},
		{[]string{"completion", "f"}, "fish"},
		{[]string{"check", "-config", "ks-"}, "ks-one.yaml"},
		{[]string{"-config", "ks-"}, "ks-one.yaml"},
		{[]string{"-config", "ks.yaml", "-che"}, "-check"},
	} {
		cmd := exec.Command("bash", append([]string{"-c", `eval "$1"; shift; COMP_WORDS=(kingshard "$@"); COMP_CWORD=$#; _kingshard; printf '%s\n' "${COMPREPLY[@]}"`, "bash", script}, c.line...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%v: %q, %v; want %s", c.line, got, err, c.want)
		}
	}
}

// The scripts of the other shells name every command and every flag, and close what they open.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		script, code := capture(t, "completion", shell)
		if code != 0 {
			t.Fatal(code)
		}
		words := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" \n':)", r) })
		for _, c := range append([]*command{&daemon}, commands...) {
			if c.name != "" && !slices.Contains(words, c.name) {
				t.Errorf("%s: no %s", shell, c.name)
			}
			for _, o := range c.options() {
				if !slices.Contains(words, "-"+o.name) && !(shell == "fish" && slices.Contains(words, o.name)) {
					t.Errorf("%s: no -%s of %s", shell, o.name, c.title())
				}
			}
		}
		for k, line := range strings.Split(script, "\n") {
			if strings.Count(line, "'")%2 != 0 {
				t.Errorf("%s: line %d has an open quote: %s", shell, k+1, line)
			}
		}
	}
}
