package session

import (
	"context"
	"runtime/pprof"
	"sync/atomic"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/querylog"
)

// Labels says whether goroutines carry the labels user, digest (the statement without its values) and plan while they run a
// statement, so that a CPU profile can be split by them. Zero is off, and costs a statement one load of a number.
type Labels struct {
	wanted   atomic.Int32 // by how many
	switched atomic.Bool  // Switch is one of them
}

// Want switches the labels on until the function that it returns is called.
func (l *Labels) Want() (end func()) {
	l.wanted.Add(1)
	return func() { l.wanted.Add(-1) }
}

// Switch switches the labels on until they are switched off, besides those who want them for a time.
func (l *Labels) Switch(on bool) {
	switch {
	case l.switched.Swap(on) == on:
	case on:
		l.wanted.Add(1)
	default:
		l.wanted.Add(-1)
	}
}

// Switched tells what Switch said last.
func (l *Labels) Switched() bool { return l.switched.Load() }

// on tells whether anybody wants labels.
func (l *Labels) on() bool { return l.wanted.Load() > 0 }

// labelTextMax bounds the text of a label, in bytes.
const labelTextMax = 256

// label gives the goroutine the labels of a statement, if they are wanted. What is known of its plan follows.
func (s *Session) label(text string) {
	if !s.shared.Labels.on() || text == "" {
		return
	}
	digest := string(sqltext.AppendNormal(nil, text, s.mode(), labelTextMax))
	s.labels = pprof.WithLabels(context.Background(), pprof.Labels("user", s.user, "digest", digest))
	pprof.SetGoroutineLabels(s.labels)
}

// labelPlan adds the kind of the plan.
func (s *Session) labelPlan(p querylog.Plan) {
	if s.labels != nil {
		s.labels = pprof.WithLabels(s.labels, pprof.Labels("plan", p.String()))
		pprof.SetGoroutineLabels(s.labels)
	}
}

// relabel gives another goroutine the labels of the statement under way.
func (s *Session) relabel() {
	if s.labels != nil {
		pprof.SetGoroutineLabels(s.labels)
	}
}

// relabelLoop gives a loop the labels of the statement that it goes on with.
func (s *Session) relabelLoop(h *shelves) {
	if s.labels != nil {
		s.relabel()
		h.labelled = true
	}
}

// unlabel takes the labels away at the end of a command.
func (s *Session) unlabel() {
	if s.labels != nil {
		s.labels = nil
		pprof.SetGoroutineLabels(context.Background())
	}
}

// unlabelLoop takes the labels of a session's statement from the loop, which goes on with others.
func unlabelLoop(l *fastlane.Loop) {
	if h := l.Ticker().(*shelves); h.labelled {
		h.labelled = false
		pprof.SetGoroutineLabels(context.Background())
	}
}
