package main

import (
	"os"
	"testing"
)

// Each kind leaves a file in the working directory when it is stopped.
func TestProfile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []string{"cpu", "mem", "mutex", "block", "trace"} {
		stop, err := startProfile(kind)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		name := kind + ".pprof"
		if kind == "trace" {
			name = "trace.out"
		}
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := startProfile("heap"); err == nil {
		t.Error("any kind is taken")
	}
	if stop, err := startProfile(""); err != nil {
		t.Error(err)
	} else {
		stop()
	}
}
