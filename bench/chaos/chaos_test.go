package chaos

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// buildProxy builds this checkout's.
func buildProxy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kingshard")
	cmd := exec.Command("go", "build", "-o", path, "kingshard/cmd/kingshard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// A few faults, for a short time each: whatever fails, nothing that was acknowledged is lost, nothing is half done, and nothing is left behind. How long it may take is
// for make chaos to judge, on a machine that does nothing else.
func TestFaults(t *testing.T) {
	o := Options{
		Kind: mysqltest.MariaDB, Proxy: buildProxy(t), Revision: "test", Rate: 60, Warmup: time.Second, Lasts: 2 * time.Second, Behind: 2 * time.Second,
		Stuck: answerMax, Alone: answerMax, Done: func(r Result) { t.Log(r.String()) },
	}
	for _, f := range Faults() {
		if slices.Contains([]string{"server killed", "half-open", "proxy killed"}, f.Name) {
			o.Faults = append(o.Faults, f)
		}
	}
	results, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 3 {
		t.Errorf("%d results", len(results))
	}
	for _, r := range results {
		for guarantee, what := range r.Broken {
			t.Errorf("%s: %s: %s", r.Fault, guarantee, what)
		}
	}
}
