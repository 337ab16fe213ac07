package twophase

import (
	"math/rand/v2"
	"time"
)

// loop carries out what is due in the order of virtual time.
type loop struct {
	now    time.Duration
	seq    uint64
	events events
	rand   *rand.Rand
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

// events is a heap, the earliest first.
type events []event

func (e events) before(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].seq < e[k].seq
}

func (e *events) push(x event) {
	*e = append(*e, x)
	list := *e
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if !list.before(i, up) {
			return
		}
		list[i], list[up] = list[up], list[i]
		i = up
	}
}

func (e *events) pop() event {
	list := *e
	first, last := list[0], len(list)-1
	list[0] = list[last]
	list[last] = event{}
	list = list[:last]
	*e = list
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(list); k++ {
			if list.before(k, least) {
				least = k
			}
		}
		if least == i {
			return first
		}
		list[i], list[least] = list[least], list[i]
		i = least
	}
}

func newLoop(seed uint64) *loop { return &loop{rand: rand.New(rand.NewPCG(seed, 0x6b73))} }

func (l *loop) at(t time.Duration, do func()) {
	l.seq++
	l.events.push(event{max(t, l.now), l.seq, do})
}

func (l *loop) after(d time.Duration, do func()) { l.at(l.now+d, do) }

// run carries out what is due until t.
func (l *loop) run(t time.Duration) {
	for len(l.events) > 0 && l.events[0].at <= t {
		e := l.events.pop()
		l.now = e.at
		e.do()
	}
	l.now = t
}

// between is a duration of the span given.
func (l *loop) between(least, most time.Duration) time.Duration {
	return least + time.Duration(l.rand.Int64N(int64(most-least)+1))
}

// chance reports whether something that happens once in n times does.
func (l *loop) chance(n int) bool { return l.rand.IntN(n) == 0 }
