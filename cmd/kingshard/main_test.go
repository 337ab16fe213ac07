package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRunExitCodes(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("addr: 127.0.0.1:0\nlow_log_time: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	badRules := filepath.Join(dir, "rules.yaml")
	minimal, err := os.ReadFile("../../etc/ks.yaml")
	if err == nil {
		err = os.WriteFile(badRules, append(minimal, "\nquery_rules: [{name: r, pattern: '(', block: no}]\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(dir, "no-such-directory", "ks.yaml")
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"version", []string{"-version"}, 0},
		{"short version", []string{"-v"}, 0},
		{"valid file", []string{"-check", "-config", "../../etc/ks.yaml"}, 0},
		{"every key", []string{"-check", "-config", "../../etc/full.yaml"}, 0},
		{"faults", []string{"-check", "-config", bad}, 1},
		{"faults without -check", []string{"-config", bad}, 1},
		{"no file", []string{"-config", taken}, 1},
		{"unknown flag", []string{"-no-such-flag"}, 2},
		{"unknown command", []string{"start"}, 2},
		{"check", []string{"check", "../../etc/ks.yaml"}, 0},
		{"check with -config", []string{"check", "-config", "../../etc/full.yaml"}, 0},
		{"check finds faults", []string{"check", bad}, 1},
		{"check finds faults of query rules", []string{"check", badRules}, 1},
		{"check of two", []string{"check", bad, bad}, 2},
		{"admin of an unknown format", []string{"admin", "-format", "xml", "-e", "KS HELP"}, 2},
		{"admin without an address", []string{"admin", "-config", taken, "-e", "KS HELP"}, 1},
		{"admin, words without -e", []string{"admin", "KS", "HELP"}, 2},
		{"completion of no shell", []string{"completion"}, 2},
		{"completion of an unknown shell", []string{"completion", "csh"}, 2},
		{"unknown profile", []string{"-profile", "heap", "-config", "../../etc/ks.yaml"}, 2},
		{"hash-password without a plugin", []string{"hash-password"}, 2},
		{"demo with a wrong flag", []string{"demo", "-no-such-flag"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(c.args); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}
