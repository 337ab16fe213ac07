package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/cpuprofile"
)

const (
	// profileSecondsMax bounds how long a profile is taken, and lastSecondsMax how far one of what went by reaches back.
	profileSecondsMax = 60
	lastSecondsMax    = 600
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
func (a *Admin) cpuProfile(ctx context.Context, w change.Who, seconds int, byStatement bool) (answer profileAnswer, err error) {
	err = a.Trail.Act(w, account.Admin, "cpu profile", fmt.Sprintf("%d s", seconds), func() error {
		if seconds < 1 || seconds > profileSecondsMax {
			return change.Failed("a profile takes 1 to %d seconds", profileSecondsMax)
		}
		if byStatement {
			defer a.shared.Labels.Want()()
		}
		p, took, err := a.profiles.Take(ctx, time.Duration(seconds)*time.Second)
		if err != nil {
			return change.Failed("%v", err)
		}
		answer = profileAnswer{Seconds: took.Seconds(), Root: tree(p, byStatement)}
		return nil
	})
	return answer, err
}

// lastProfile gives the CPU profile of the last so many seconds, which continuous_profile kept. Statements are in it as far as goroutines
// had labels then.
func (a *Admin) lastProfile(w change.Who, seconds int, byStatement bool) (answer profileAnswer, err error) {
	err = a.Trail.Act(w, account.Admin, "cpu profile", fmt.Sprintf("the last %d s", seconds), func() error {
		if seconds < 1 || seconds > lastSecondsMax {
			return change.Failed("a profile of what went by has 1 to %d seconds", lastSecondsMax)
		}
		p, covers, err := a.profiles.Last(time.Duration(seconds) * time.Second)
		if err != nil {
			return change.Failed("%v", err)
		}
		answer = profileAnswer{Seconds: covers.Seconds(), Root: tree(p, byStatement)}
		return nil
	})
	return answer, err
}

// ServeProfile answers /debug/pprof/profile: as the runtime's own handler, next, takes one, but that one with last is of what went by,
// and that another one suspends what keeps that.
func (a *Admin) ServeProfile(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		last := r.FormValue("last")
		if last == "" {
			defer a.profiles.Suspend()()
			next(w, r)
			return
		}
		seconds, err := strconv.Atoi(last)
		if err != nil || seconds < 1 || seconds > lastSecondsMax {
			http.Error(w, fmt.Sprintf("last is 1 to %d seconds", lastSecondsMax), http.StatusBadRequest)
			return
		}
		p, _, err := a.profiles.Last(time.Duration(seconds) * time.Second)
		switch {
		case errors.Is(err, cpuprofile.ErrOff), errors.Is(err, cpuprofile.ErrEmpty):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Disposition", `attachment; filename="profile"`)
			_ = p.Write(w) // an error is the reader's
		}
	}
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
