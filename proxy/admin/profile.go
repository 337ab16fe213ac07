package admin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"kingshard/proxy/account"
)

const (
	// profileSecondsMax bounds how long a profile is taken.
	profileSecondsMax = 60
	// frameShareMin is the least share of all samples that a frame must have to be shown, and depthMax how deep stacks are.
	frameShareMin = 0.0005
	depthMax      = 200
)

// frame is a function in a tree of calls. Value is the CPU time in nanoseconds spent in it and in what it called; what its
// children lack of that is its own, or theirs who are too small to be shown.
type frame struct {
	Name     string   `json:"name"`
	Value    int64    `json:"value"`
	Children []*frame `json:"children,omitempty"`

	byName map[string]*frame
}

// profileAnswer is a CPU profile as a tree, from the goroutines' first functions on.
type profileAnswer struct {
	Seconds float64 `json:"seconds"` // how long it took
	Root    *frame  `json:"root"`
}

// cpuProfile takes a CPU profile of the whole process for so many seconds, or until ctx ends; with byStatement its tree begins
// with the statements that goroutines ran.
func (a *Admin) cpuProfile(ctx context.Context, w who, seconds int, byStatement bool) (answer profileAnswer, err error) {
	err = a.act(w, account.Admin, "cpu profile", fmt.Sprintf("%d s", seconds), func() error {
		if seconds < 1 || seconds > profileSecondsMax {
			return failed("a profile takes 1 to %d seconds", profileSecondsMax)
		}
		if byStatement {
			defer a.shared.Labels.Want()()
		}
		var b bytes.Buffer
		if err := pprof.StartCPUProfile(&b); err != nil {
			return failed("another CPU profile is being taken")
		}
		began := time.Now()
		end := time.NewTimer(time.Duration(seconds) * time.Second)
		defer end.Stop()
		select {
		case <-end.C:
		case <-ctx.Done():
		}
		pprof.StopCPUProfile()
		if ctx.Err() != nil {
			return failed("nobody waited for the profile")
		}
		p, err := profile.Parse(&b)
		if err != nil {
			return failed("the profile cannot be read: %v", err)
		}
		answer = profileAnswer{Seconds: time.Since(began).Seconds(), Root: tree(p, byStatement)}
		return nil
	})
	return answer, err
}

// tree adds up the stacks of a CPU profile; with byStatement under the user and digest of the statement that ran, and the kind of its
// plan.
func tree(p *profile.Profile, byStatement bool) *frame {
	root := &frame{Name: "all"}
	for _, s := range p.Sample {
		if len(s.Value) == 0 {
			continue
		}
		v := s.Value[len(s.Value)-1] // samples, nanoseconds
		root.Value += v
		at, depth := root, 0
		if byStatement {
			at = root.child(statementOf(s))
			at.Value += v
			if plan := s.Label["plan"]; len(plan) > 0 {
				at = at.child("plan " + plan[0])
				at.Value += v
			}
		}
		for _, l := range slices.Backward(s.Location) {
			for _, line := range slices.Backward(l.Line) { // what is inlined comes first
				if line.Function == nil || depth == depthMax {
					continue
				}
				at = at.child(line.Function.Name)
				at.Value += v
				depth++
			}
		}
	}
	root.finish(int64(float64(root.Value) * frameShareMin))
	return root
}

// statementOf names what a sample was taken of.
func statementOf(s *profile.Sample) string {
	user, digest := s.Label["user"], s.Label["digest"]
	if len(user) == 0 || len(digest) == 0 {
		return "no statement"
	}
	return user[0] + ": " + digest[0]
}

func (f *frame) child(name string) *frame {
	c := f.byName[name]
	if c == nil {
		if f.byName == nil {
			f.byName = make(map[string]*frame)
		}
		c = &frame{Name: name}
		f.byName[name] = c
	}
	return c
}

// finish lists the children that are not smaller than least, the largest first.
func (f *frame) finish(least int64) {
	for _, c := range f.byName {
		if c.Value >= least {
			c.finish(least)
			f.Children = append(f.Children, c)
		}
	}
	f.byName = nil
	slices.SortFunc(f.Children, func(a, b *frame) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
}
