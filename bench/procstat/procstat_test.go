package procstat

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	line := "4711 (a) b (c) S 1 4711 4711 0 -1 4194560 2000 0 0 0 123 45 6 7 20 0 12 0 100 2000 300\n"
	c, err := parseStat(line)
	if err != nil || c.user != 1230*time.Millisecond || c.system != 450*time.Millisecond {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "1 (x) S 1 2", "1 (x) S 1 4711 4711 0 -1 4194560 2000 0 0 0 a b 6"} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestDivide: the total is exact, its division comes from whole ticks of the same time.
func TestDivide(t *testing.T) {
	earlier := CPU{total: 100 * time.Millisecond, user: 90 * time.Millisecond, system: 10 * time.Millisecond}
	later := CPU{total: 148 * time.Millisecond, user: 120 * time.Millisecond, system: 20 * time.Millisecond}
	if c := later.Sub(earlier); c.Total() != 48*time.Millisecond || c.User() != 36*time.Millisecond || c.System() != 12*time.Millisecond {
		t.Errorf("%v = %v + %v", c.Total(), c.User(), c.System())
	}
	if c := later.Sub(earlier).Add(earlier); c != later {
		t.Errorf("%+v", c)
	}
	if c := (CPU{total: 5 * time.Millisecond}); c.User() != 5*time.Millisecond || c.System() != 0 {
		t.Errorf("%v + %v", c.User(), c.System())
	}
}

func TestParseStatus(t *testing.T) {
	m, err := parseStatus("Name:\tx\nVmHWM:\t   40960 kB\nVmRSS:\t   20480 kB\nThreads:\t3\n")
	if err != nil || m.RSS != 20480 || m.Peak != 40960 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := parseStatus("Name:\tx\n"); err == nil {
		t.Error("a process without memory is taken")
	}
}

func TestParseSystem(t *testing.T) {
	s, err := parseSystem("cpu  100 10 50 1000 40 3 7 20 5 5\ncpu0 1 2 3\n")
	want := System{Busy: 1700 * time.Millisecond, Idle: 10400 * time.Millisecond, Steal: 200 * time.Millisecond}
	if err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := parseSystem("intr 1 2"); err == nil {
		t.Error("another line is taken")
	}
}

func TestParseStrace(t *testing.T) {
	text := `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.12    0.100000           1     20000           read
 30.00    0.050000           5     10000        12 futex
------ ----------- ----------- --------- --------- ----------------
100.00    0.150000           5     30000        12 total
`
	calls, err := parseStrace(text)
	if err != nil || len(calls) != 2 || calls["read"] != 20000 || calls["futex"] != 10000 {
		t.Errorf("%v, %v", calls, err)
	}
	if _, err := parseStrace("strace: attach: Operation not permitted\n"); err == nil {
		t.Error("nothing counted is taken")
	}
}

// TestOwnProcess holds the readings of this process against each other.
func TestOwnProcess(t *testing.T) {
	before, err := ReadCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Calibrate()
	if err != nil {
		t.Fatal(err)
	}
	after, err := ReadCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if c.CPU <= 0 || after.Total()-before.Total() < c.CPU {
		t.Errorf("calibration %v, process %v", c.CPU, after.Total()-before.Total())
	}
	m, err := ReadMemory(os.Getpid())
	if err != nil || m.RSS <= 0 || m.Peak < m.RSS/2 {
		t.Errorf("%+v, %v", m, err)
	}
	s, err := ReadSystem()
	if err != nil || s.Busy < after.Total()-before.Total() {
		t.Errorf("%+v, %v", s, err)
	}
	if load, err := ReadLoad(); err != nil || load < 0 {
		t.Errorf("%v, %v", load, err)
	}
	if machine := ReadMachine(); machine.Cores < 1 || machine.MemoryMiB < 1 || machine.Kernel == "" {
		t.Errorf("%+v", machine)
	}
}

func TestGone(t *testing.T) {
	const none = 1 << 30
	if _, err := ReadCPU(none); err == nil {
		t.Error("CPU of no process")
	}
	if _, err := ReadMemory(none); err == nil {
		t.Error("memory of no process")
	}
}

func TestCountSyscalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		if _, err := CountSyscalls(context.Background(), os.Getpid(), time.Millisecond); err == nil {
			t.Error("counted without strace")
		}
		return
	}
	cmd := exec.Command("sh", "-c", "while :; do read x < /proc/self/stat; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	calls, err := CountSyscalls(context.Background(), cmd.Process.Pid, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if calls["read"] == 0 {
		t.Errorf("no read among %v", calls)
	}
}

// Of a clock that stands still now and then, the jumps of a millisecond and more are pauses.
func TestWatch(t *testing.T) {
	at, steps := time.Unix(0, 0), 0
	clock := func() time.Time {
		switch steps++; {
		case steps%100 == 0:
			at = at.Add(4 * time.Millisecond)
		default:
			at = at.Add(10 * time.Microsecond)
		}
		return at
	}
	p := watch(100*time.Millisecond, clock)
	if p.Longest != 4*time.Millisecond || p.Share < 0.75 || p.Share > 0.85 {
		t.Errorf("%+v", p)
	}
	if p := WatchPauses(5 * time.Millisecond); p.Share < 0 || p.Share > 1 || p.Share > 0 != (p.Longest > 0) {
		t.Errorf("%+v", p)
	}
}
