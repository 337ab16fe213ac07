package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kingshard/mysql/mysqltest"
)

func TestTPCHOptions(t *testing.T) {
	if o, ok := parseTPCH(nil); !ok || o.scale != 0.01 || o.server != mysqltest.MariaDB || o.nodes != 3 || !o.run.MatchString("Q1") {
		t.Errorf("%v, %+v", ok, o)
	}
	for _, args := range [][]string{{"-scale", "0"}, {"-server", "oracle"}, {"-run", "("}, {"-rounds", "0"}, {"-nodes", "0"}, {"-limit", "0s"}, {"left", "over"}, {"-unknown"}} {
		if code := run(append([]string{"tpch"}, args...)); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}

// TestTPCH runs the command on few rows: all answers are the server's.
func TestTPCH(t *testing.T) {
	proxy := filepath.Join(t.TempDir(), "kingshard")
	cmd := exec.Command("go", "build", "-o", proxy, "kingshard/cmd/kingshard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if code := run([]string{"tpch", "-proxy", proxy, "-scale", "0.003", "-rounds", "1"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
