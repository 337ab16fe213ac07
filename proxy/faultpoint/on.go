//go:build faultpoints

package faultpoint

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"
)

// Do is what happens at a point.
type Do uint8

// What may happen.
const (
	Nothing Do = iota
	Error      // the point's step fails
	Exit       // the process dies at once, as by SIGKILL
	Wait       // whoever has come there stands still for a time, or until something else is said of the point
)

// String returns the word of KS FAULTPOINT.
func (d Do) String() string { return [...]string{"nothing", "error", "exit", "wait"}[d] }

// ExitStatus is how a process exits that dies at a point: what a shell says of SIGKILL.
const ExitStatus = 128 + 9

// Forever is how often something happens that ends by another call of [Set] alone.
const Forever = -1

// State is a point and what was said of it.
type State struct {
	Name  string
	Fails bool // Error can happen
	Do    Do
	For   time.Duration // of Wait
	// Left is how often it will still happen, or Forever.
	Left    int
	Reached uint64 // how often the work has come there
	Waiting int    // how many stand still there

	over chan struct{} // closed when those that wait go on
}

var (
	mu     sync.Mutex
	states = [...]State{
		BeforeSend: {Name: "before_send", Fails: true}, AfterSend: {Name: "after_send", Fails: true}, InResult: {Name: "in_result", Fails: true},
		BeforeReturn: {Name: "before_return"}, BeforeSwap: {Name: "before_swap"}, AfterSwap: {Name: "after_swap"},
		BeforePrepare: {Name: "before_prepare", Fails: true}, AfterPrepare: {Name: "after_prepare", Fails: true},
		BeforeDecide: {Name: "before_decide", Fails: true}, AfterDecide: {Name: "after_decide", Fails: true},
		BeforeComplete: {Name: "before_complete", Fails: true}, AfterComplete: {Name: "after_complete", Fails: true},
	}
)

// List returns all points.
func List() []State {
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(states[:])
}

// Set says what happens at the point of a name the next times that something comes there, [Forever] for all. Those that wait there go on.
func Set(name string, do Do, wait time.Duration, times int) error {
	mu.Lock()
	defer mu.Unlock()
	k := slices.IndexFunc(states[:], func(s State) bool { return s.Name == name })
	switch {
	case k < 0:
		return errors.New("there is no such fault point")
	case do == Error && !states[k].Fails:
		return errors.New("nothing can fail at this fault point")
	}
	s := &states[k]
	if s.over != nil {
		close(s.over)
	}
	s.Do, s.For, s.Left, s.over = do, wait, times, make(chan struct{})
	return nil
}

// Reach tells that the work has come to a point, where nothing can fail: an error that was set does not happen here.
func Reach(p Point) { _ = reach(p, false) }

// Fail is called where the work has come to a point, and goes on with the error that it returns.
func Fail(p Point) error { return reach(p, true) }

func reach(p Point, fails bool) error {
	s := &states[p]
	mu.Lock()
	s.Reached++
	do, over := s.Do, s.over
	if do == Nothing || do == Error && !fails {
		mu.Unlock()
		return nil
	}
	if s.Left != Forever {
		if s.Left--; s.Left == 0 {
			s.Do = Nothing
		}
	}
	if do != Wait {
		mu.Unlock()
		if do == Exit {
			os.Exit(ExitStatus)
		}
		return errors.New("fault point " + s.Name)
	}
	s.Waiting++
	patience := time.NewTimer(s.For)
	mu.Unlock()
	defer patience.Stop()
	select {
	case <-over:
	case <-patience.C:
	}
	mu.Lock()
	defer mu.Unlock()
	s.Waiting--
	return nil
}
