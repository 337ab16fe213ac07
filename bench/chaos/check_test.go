package chaos

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What is judged can be broken: each of these is found, by the guarantee that it breaks, and nothing else is.
func TestCheckFinds(t *testing.T) {
	ok := func() (*kept, []operation) {
		return &kept{entries: map[int64]bool{1: true}, transfers: map[int64][2]int64{2: {10, 12}}, balances: map[int64]int64{10: 99, 12: 101}},
			[]operation{{id: 1, kind: insert}, {id: 2, kind: local}, {id: 3, kind: insert, outcome: refused}, {id: 4, kind: across, outcome: unknown}, {id: 1, kind: read}}
	}
	for name, one := range map[string]struct {
		spoil              func(k *kept, o []operation)
		wrongs, lost, half bool
	}{
		"nothing":                       {func(*kept, []operation) {}, false, false, false},
		"a row is lost":                 {func(k *kept, _ []operation) { delete(k.entries, 1) }, false, true, false},
		"a transfer is lost":            {func(k *kept, _ []operation) { delete(k.transfers, 2); k.balances = map[int64]int64{10: 100, 12: 100} }, false, true, false},
		"half of a transfer":            {func(k *kept, _ []operation) { k.balances[12] = 100 }, false, false, true},
		"a transfer without its row":    {func(k *kept, o []operation) { delete(k.transfers, 2); o[1].outcome = unknown }, false, false, true},
		"a transfer to a wrong account": {func(k *kept, _ []operation) { k.balances[10], k.balances[12] = 100, 100 }, false, false, true},
		"a refused row is there":        {func(k *kept, _ []operation) { k.entries[3] = true }, true, false, false},
		"a wrong answer":                {func(_ *kept, o []operation) { o[4].outcome = wrong }, true, false, false},
		"a row lies wrong":              {func(k *kept, _ []operation) { k.faults = []string{"wrong"} }, true, false, false},
		"an unknown transfer was kept": {func(k *kept, _ []operation) {
			k.transfers[4] = [2]int64{12, 10}
			k.balances = map[int64]int64{10: 100, 12: 100}
		}, false, false, false},
		"an unknown one, and half of that": {func(k *kept, _ []operation) { k.transfers[4] = [2]int64{12, 10} }, false, false, true},
	} {
		k, operations := ok()
		one.spoil(k, operations)
		wrongs, lost, half := k.check(operations, map[int64]int64{10: 100, 12: 100})
		if len(wrongs) > 0 != one.wrongs || len(lost) > 0 != one.lost || len(half) > 0 != one.half {
			t.Errorf("%s: wrong %v, lost %v, half %v", name, wrongs, lost, half)
		}
	}
}

// Waits and errors beyond the limits are found, those within are figures.
func TestCountFinds(t *testing.T) {
	began := time.Now()
	at := func(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }
	for name, one := range map[string]struct {
		o      operation
		broken string
	}{
		"quick":               {operation{due: at(1), began: at(1), ended: at(2)}, ""},
		"slow, in the queue":  {operation{due: at(1), began: at(18), ended: at(19)}, ""},
		"stuck":               {operation{due: at(1), began: at(1), ended: at(17)}, Stuck},
		"error ahead":         {operation{due: at(-2), began: at(-2), ended: at(-1), fault: "1213"}, Alone},
		"error in it":         {operation{due: at(1), began: at(1), ended: at(2), fault: "9002"}, ""},
		"error soon behind":   {operation{due: at(8), began: at(8), ended: at(10), fault: "9002"}, ""},
		"error long behind":   {operation{due: at(12), began: at(12), ended: at(12), fault: "9002"}, Alone},
		"answer ahead of all": {operation{due: at(-2), began: at(-2), ended: at(-1)}, ""},
	} {
		r := Result{}
		r.count(&Fault{}, &Options{Stuck: StuckMax, Alone: AloneMax}, []operation{one.o}, began, at(6))
		if len(r.Broken) > 1 || one.broken != "" && r.Broken[one.broken] == "" || one.broken == "" && len(r.Broken) > 0 {
			t.Errorf("%s: %v", name, r.Broken)
		}
	}
}

// What the proxy has more than before is a leak, but for what caches and pools may have.
func TestLeaked(t *testing.T) {
	before := level{Heap: 10 << 20, Goroutines: 40, Files: 20, Connections: 3}
	same := before
	same.Heap, same.Goroutines, same.Files, same.Connections = before.Heap+heapSlack, before.Goroutines+goroutineSlack, before.Files+fileSlack, 500
	if leaked := same.leaked(before); leaked != "" {
		t.Error(leaked)
	}
	for name, more := range map[string]func(*level){
		"heap": func(l *level) { l.Heap += heapSlack + 1 }, "goroutines": func(l *level) { l.Goroutines += goroutineSlack + 1 }, "descriptors": func(l *level) { l.Files += fileSlack + 1 },
		"in use": func(l *level) { l.InUse++ }, "waiting": func(l *level) { l.Waiting++ }, "sessions": func(l *level) { l.Sessions++ },
	} {
		l := before
		more(&l)
		if !strings.Contains(l.leaked(before), name) {
			t.Errorf("%s: %q", name, l.leaked(before))
		}
	}
}

// A line through samples has their slope; one that grows is told from one that only varies.
func TestSlope(t *testing.T) {
	for name, one := range map[string]struct {
		of    func(k int) float64
		hour  float64
		grows bool
	}{
		"flat": {func(int) float64 { return 100 }, 0, false}, "varies": {func(k int) float64 { return 100 + float64(k%2) }, 0, false},
		"grows": {func(k int) float64 { return 100 + float64(k) }, 60, true}, "falls": {func(k int) float64 { return 100 - float64(k) }, -60, false},
	} {
		var seen []sample
		for k := range 61 {
			seen = append(seen, sample{float64(k) / 60, level{Heap: one.of(k)}})
		}
		s := slope(seen, func(l level) float64 { return l.Heap })
		if s.Hour < one.hour-0.5 || s.Hour > one.hour+0.5 || s.grows() != one.grows {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A soak that grows is broken, unless it was too short to tell; so is one in which a session was stuck.
func TestSoakJudge(t *testing.T) {
	growing := []Slope{{What: "heap, MiB", Mean: 10, Hour: 5, Error: 1}}
	for name, one := range map[string]struct {
		lasted float64
		took   time.Duration
		broken string
	}{"long": {3600, time.Second, Leak}, "short": {300, time.Second, ""}, "stuck": {300, 16 * time.Second, Stuck}} {
		r, began := Result{}, time.Now()
		soak := Soak{Lasted: one.lasted, Slopes: growing}
		soak.judge(&r, StuckMax, []operation{{began: began, ended: began.Add(one.took), fault: "9002"}})
		if soak.Errors != 1 || (one.broken == "") != (len(r.Broken) == 0) || one.broken != "" && r.Broken[one.broken] == "" {
			t.Errorf("%s: %v, %d errors", name, r.Broken, soak.Errors)
		}
	}
}

// Results take the place of those of the same fault and kind of server; the others stay.
func TestMerge(t *testing.T) {
	all := Merge([]Result{{Fault: "a", Server: "MariaDB 10"}, {Fault: "b", Server: "MariaDB 10"}, {Fault: "a", Server: "MySQL 9.6"}},
		[]Result{{Fault: "b", Server: "MariaDB 11"}, {Fault: "c", Server: "MySQL 9.7"}})
	var got []string
	for _, r := range all {
		got = append(got, r.Fault+" "+r.Server)
	}
	if want := "[a MariaDB 10 b MariaDB 11 a MySQL 9.6 c MySQL 9.7]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
