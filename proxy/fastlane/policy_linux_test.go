package fastlane

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kingshard/mysql/mysqltest"
)

// wantPolicies checks the policy of all threads.
func wantPolicies(t *testing.T, when string, want int) {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads, error %v", len(threads), err)
	}
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		if now := scheduled(id); now != want && now >= 0 {
			t.Errorf("%s: thread %d of %d is scheduled as %d, not %d", when, id, len(threads), now, want)
		}
	}
}

// TestActivity: a loop is busy after many rounds in a short time, until there are few or it rests.
func TestActivity(t *testing.T) {
	const long, between, short = -time.Hour, -(busyTime + idleTime) / 2, time.Hour
	var a activity
	for k, step := range []struct {
		took          time.Duration
		changed, busy bool
	}{
		{long, false, false}, {between, false, false}, {short, true, true}, {short, false, true}, {between, false, true},
		{long, true, false}, {long, false, false}, {short, true, true},
	} {
		a.since = time.Now().Add(step.took)
		for range countedRounds - 1 {
			if a.round() {
				t.Fatalf("step %d: changed before all rounds were counted", k)
			}
		}
		if changed := a.round(); changed != step.changed || a.busy != step.busy {
			t.Errorf("step %d: changed %v, busy %v", k, changed, a.busy)
		}
	}
	if !a.rest() || a.busy || a.rest() {
		t.Error("rest does not end it once")
	}
}

// TestPolicy: all threads are batch while a loop is busy.
func TestPolicy(t *testing.T) {
	var p policy
	p.begin()
	wantPolicies(t, "at first", unix.SCHED_NORMAL)
	p.change(true)
	wantPolicies(t, "one busy loop", unix.SCHED_BATCH)
	p.change(true)
	p.change(false)
	wantPolicies(t, "one of two", unix.SCHED_BATCH)
	if out, err := exec.Command("chrt", "-p", "0").Output(); err != nil || !strings.Contains(string(out), "SCHED_BATCH") {
		t.Errorf("a process that was started meanwhile: %s, error %v", out, err)
	}
	var successor policy
	successor.begin()
	wantPolicies(t, "in such a process", unix.SCHED_NORMAL)
	p.change(false)
	wantPolicies(t, "at the end", unix.SCHED_NORMAL)
}

// TestPolicyOfTheProcessStays: a process that was started with a policy for other purposes keeps it.
func TestPolicyOfTheProcessStays(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test's goroutine, which does not give it back
	if errno := schedule(unix.Gettid(), unix.SCHED_IDLE); errno != 0 {
		t.Fatal(errno)
	}
	var p policy
	p.begin()
	p.change(true)
	if now := scheduled(0); now != unix.SCHED_IDLE {
		t.Errorf("scheduled as %d", now)
	}
	p.change(false)
	if now := scheduled(0); now != unix.SCHED_IDLE {
		t.Errorf("scheduled as %d after that", now)
	}
}

// TestPolicyOfLoops: loops that have much to do are batch, not before, not when they have nothing to do, not when they stopped.
func TestPolicyOfLoops(t *testing.T) {
	t.Run("rest", func(t *testing.T) {
		g := openGroup(t, 2)
		wantPolicies(t, "two idle loops", unix.SCHED_NORMAL)
		keepBusy(t, g)
		mysqltest.WaitFor(t, "ordinary threads", func() bool { return scheduled(0) == unix.SCHED_NORMAL })
	})
	t.Run("stop", func(t *testing.T) { keepBusy(t, openGroup(t, 2)) })
	wantPolicies(t, "stopped", unix.SCHED_NORMAL)
}

// keepBusy sends to and fro until the loops are batch.
func keepBusy(t *testing.T, g *Group) {
	c, peer := pair(t, g)
	e := &echo{c: c, over: make(chan error, 1)}
	e.start(t)
	var b [1]byte
	mysqltest.WaitFor(t, "batch threads", func() bool {
		for range countedRounds {
			peer.Write(b[:])
			if _, err := peer.Read(b[:]); err != nil {
				t.Fatal(err)
			}
		}
		return scheduled(0) == unix.SCHED_BATCH
	})
}
