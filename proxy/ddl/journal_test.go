package ddl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var errServer = errors.New("a server's error")

// begin starts a statement of a user on tables with one step each.
func begin(j *Journal, user string, steps int) *Run {
	st := Statement{User: user, Text: "ALTER"}
	for k := range steps {
		st.Steps = append(st.Steps, Step{Node: "n", Text: "ALTER", Tables: []string{fmt.Sprint("t", k)}})
	}
	return j.Begin(st)
}

// A record stays when something is done, or may be, and something is not.
func TestWhatStays(t *testing.T) {
	for _, c := range []struct {
		outcomes []Outcome
		want     bool
	}{
		{[]Outcome{Done, Done}, false},
		{[]Outcome{Failed, Failed}, false},
		{[]Outcome{Waiting, Failed}, false},
		{[]Outcome{Done, Failed}, true},
		{[]Outcome{Done, Waiting}, true},
		{[]Outcome{Unknown}, true},
		{[]Outcome{Failed, Unknown}, true},
	} {
		var j Journal
		r := begin(&j, "app", len(c.outcomes))
		for k, o := range c.outcomes {
			var err error
			if o == Failed || o == Unknown {
				err = errServer
			}
			r.Set(k, o, err)
		}
		kept, dropped := r.End()
		if kept != c.want || len(dropped) > 0 || len(j.List("app", false)) != map[bool]int{true: 1}[c.want] {
			t.Errorf("%v: kept %v, %v", c.outcomes, kept, j.List("app", false))
		}
	}
}

func TestEntry(t *testing.T) {
	var j Journal
	r := begin(&j, "app", 4)
	r.Set(0, Done, nil)
	r.Set(1, Failed, errServer)
	r.Set(2, Unknown, errors.New("later"))
	e := j.List("app", false)[0]
	if !e.Running || e.ID != 1 || e.Tables != 4 || e.Done != 1 || e.Failed != 2 || e.FirstError != errServer.Error() || e.Started.IsZero() {
		t.Errorf("%+v", e)
	}
	if _, err := j.Resume(1, "app", false); err != ErrRunning {
		t.Error(err)
	}
	if err := j.Forget(1, "app", false); err != ErrRunning {
		t.Error(err)
	}
	if j.Unfinished() != 0 {
		t.Error("a statement that runs is not unfinished")
	}
	r.End()
	if j.Unfinished() != 1 || j.List("other", false) != nil || len(j.List("root", true)) != 1 {
		t.Error("the record is not the user's, or not there")
	}
	again, err := j.Resume(0, "app", false)
	if err != nil || again.ID() != 1 {
		t.Fatal(err)
	}
	st := again.Statement()
	if st.Steps[0].Text != "" || st.Steps[1].Text != "ALTER" || st.Steps[3].Outcome != Waiting {
		t.Errorf("%+v", st.Steps)
	}
}

// The records of one user are bounded, in number and in bytes, and take nothing from another's.
func TestBounds(t *testing.T) {
	var j Journal
	fail := func(user string, bytes int) (uint64, []uint64) {
		r := j.Begin(Statement{User: user, Text: strings.Repeat("x", bytes), Steps: make([]Step, 1)})
		r.Set(0, Unknown, errServer)
		kept, dropped := r.End()
		if kept == slices.Contains(dropped, r.ID()) {
			t.Errorf("kept %v and dropped %v, of %d", kept, dropped, r.ID())
		}
		return r.ID(), dropped
	}
	other, _ := fail("other", 1000)
	first, _ := fail("app", 1)
	for range recordsMax - 1 {
		if _, dropped := fail("app", 1); len(dropped) > 0 {
			t.Fatalf("dropped %v", dropped)
		}
	}
	if _, dropped := fail("app", 1); !slices.Equal(dropped, []uint64{first}) {
		t.Errorf("dropped %v, not %d", dropped, first)
	}
	if id, dropped := fail("app", bytesMax); !slices.Contains(dropped, id) {
		t.Errorf("%d of %d bytes was kept", id, bytesMax)
	}
	if list := j.List("other", false); len(list) != 1 || list[0].ID != other {
		t.Errorf("%v", list)
	}
}
