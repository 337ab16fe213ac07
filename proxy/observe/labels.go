package observe

import (
	"context"
	"runtime/pprof"
	"sync/atomic"

	"kingshard/mysql/sqltext"
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

// Switched reports what Switch said last.
func (l *Labels) Switched() bool { return l.switched.Load() }

// On reports whether anybody wants labels.
func (l *Labels) On() bool { return l.wanted.Load() > 0 }

// labelTextMax bounds the text of a label, in bytes.
const labelTextMax = 256

// Label gives the goroutine the labels of a statement; called while they are wanted. What is known of its plan follows. A command without
// a text has no labels.
func (c *Command) Label(user, text string, m sqltext.Mode) {
	if text == "" {
		return
	}
	digest := string(sqltext.AppendNormal(nil, text, m, labelTextMax))
	c.labels = pprof.WithLabels(context.Background(), pprof.Labels("user", user, "digest", digest))
	pprof.SetGoroutineLabels(c.labels)
}

// labelPlan adds the kind of the plan.
func (c *Command) labelPlan() {
	if c.labels != nil {
		c.labels = pprof.WithLabels(c.labels, pprof.Labels("plan", c.Plan.String()))
		pprof.SetGoroutineLabels(c.labels)
	}
}

// Labelled reports whether the command has labels.
func (c *Command) Labelled() bool { return c.labels != nil }

// Relabel gives another goroutine the command's labels, if it has any.
func (c *Command) Relabel() {
	if c.labels != nil {
		pprof.SetGoroutineLabels(c.labels)
	}
}

// Unlabel takes the labels from the command that ends, and from the goroutine.
func (c *Command) Unlabel() {
	if c.labels != nil {
		c.labels = nil
		Unlabel()
	}
}

// Unlabel takes the labels from the goroutine.
func Unlabel() { pprof.SetGoroutineLabels(context.Background()) }
