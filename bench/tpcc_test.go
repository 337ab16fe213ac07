package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kingshard/bench/report"
	"kingshard/bench/tpcc"
	"kingshard/mysql/mysqltest"
)

func TestTPCCOptions(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		check func(o tpccOptions) bool
	}{
		"nothing": {nil, func(o tpccOptions) bool {
			return o.size.Warehouses == 3 && o.size.Items == 100_000 && o.remote && !o.prepared && slices.Equal(o.setups, []tpccSetup{directSetup, proxySetup, shardedSetup}) && o.server == mysqltest.MariaDB
		}},
		"some": {[]string{"-warehouses", "5", "-clients", "2", "-duration", "3s", "-kills", "4", "-remote", "off", "-setups", "sharded", "-prepared"}, func(o tpccOptions) bool {
			return o.size.Warehouses == 5 && o.clients == 2 && o.duration == 3*time.Second && o.kills == 4 && !o.remote && o.prepared &&
				slices.Equal(o.setups, []tpccSetup{shardedSetup})
		}},
	} {
		if o, ok := parseTPCC(c.args); !ok || !c.check(o) {
			t.Errorf("%s: %v, %+v", name, ok, o)
		}
	}
	for _, args := range [][]string{
		{"-warehouses", "0"}, {"-districts", "11"}, {"-clients", "0"}, {"-kills", "-1"}, {"-remote", "maybe"}, {"-setups", "direct,other"}, {"-server", "oracle"},
		{"-setups", "sharded,local", "-config", "transaction_mode: atomic"}, {"-proxy", "/nowhere/kingshard"}, {"left", "over"}, {"-unknown"},
	} {
		if code := run(append([]string{"tpcc"}, args...)); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}

// TestTPCC runs the command at a small size on all setups, with a kill of each proxy: all conditions hold, and the file has what was measured.
func TestTPCC(t *testing.T) {
	if testing.Short() {
		t.Skip("needs database servers")
	}
	dir := t.TempDir()
	proxy := filepath.Join(dir, "kingshard")
	cmd := exec.Command("go", "build", "-o", proxy, "kingshard/cmd/kingshard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code := run([]string{
		"tpcc", "-proxy", proxy, "-districts", "2", "-customers", "30", "-items", "100", "-clients", "6", "-warmup", "100ms", "-duration", "3s", "-kills", "1", "-remote", "off",
		"-buffer-pool", "64M", "-results", dir, "-setups", "direct,proxy,sharded,atomic,local",
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || code != 0 || len(files) != 1 {
		t.Fatalf("exit code %d, files %v, %v", code, files, err)
	}
	found, err := report.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Samples) != 6*len(tpccSetups) {
		t.Errorf("%d samples", len(found.Samples))
	}
	for _, setup := range tpccSetups {
		for _, name := range []string{"tpcc/3", "tpcc/new-order/3", "tpcc/payment/3"} {
			if v, ok := found.Value(report.Ref{Scenario: name, Contender: string(setup), Metric: report.QPS}); !ok || v <= 0 {
				t.Errorf("%s on %s: %g a second, %v", name, setup, v, ok)
			}
		}
		tpm, _ := found.Value(report.Ref{Scenario: "tpcc/3", Contender: string(setup), Metric: report.TPM})
		violated, ok := found.Value(report.Ref{Scenario: "tpcc/3", Contender: string(setup), Metric: report.Violated})
		_, measured := found.Value(report.Ref{Scenario: "tpcc/3", Contender: string(setup), Metric: report.ServerCPU})
		if killed := setup != directSetup; measured == killed {
			t.Errorf("%s: processor time is there: %v", setup, measured)
		}
		if tpm <= 0 || violated != 0 || !ok {
			t.Errorf("%s: %g tpmC, %g conditions violated", setup, tpm, violated)
		}
	}
}

// TestTPCCVerdict: what is no figure but a fault makes the command fail.
func TestTPCCVerdict(t *testing.T) {
	ended := func(c tpcc.Count) tpccSubject {
		var s tpccSubject
		s.seen.All[tpcc.Payment] = c
		return s
	}
	erring := func(name string) tpccSubject {
		return tpccSubject{seen: tpcc.Result{Errors: map[string]tpcc.Fault{name: {Count: 2, First: "first"}}}}
	}
	for name, c := range map[string]struct {
		subject       tpccSubject
		quiet, killed bool // whether it is fine without kills and with them
	}{
		"figures":           {ended(tpcc.Count{Committed: 5, RolledBack: 1, Refused: 3}), true, true},
		"a deadlock":        {erring("1213"), true, true},
		"unknown":           {ended(tpcc.Count{Unknown: 1}), false, true},
		"broken connection": {erring(tpcc.BrokenConnection), false, true},
		"failed":            {ended(tpcc.Count{Failed: 1}), false, false},
		"a wrong answer":    {erring(tpcc.WrongAnswer), false, false},
		"a violation":       {tpccSubject{findings: []tpcc.Finding{{Name: "kept", Violations: []string{"orders"}}}}, false, false},
		"a panic":           {tpccSubject{log: "msg=\"a session panicked\""}, false, false},
	} {
		if err := c.subject.verdict(false); (err == nil) != c.quiet {
			t.Errorf("%s, without kills: %v", name, err)
		}
		if err := c.subject.verdict(true); (err == nil) != c.killed {
			t.Errorf("%s, with kills: %v", name, err)
		}
	}
}
