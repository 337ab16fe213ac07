//go:build faultpoints

package admin

import (
	"strings"
	"time"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/faultpoint"
)

var (
	testCommands = []*command{&faultpointCommand}
	testTables   = []*table{&faultpointsTable}
)

var faultpointsTable = table{
	name: "faultpoints", about: "Places where a test has the proxy fail, what happens there and how often the work has come there", like: "name",
	columns: append(texts("name", "fails", "does"), numbers("milliseconds", "left", "reached", "waiting")...),
	rows: func(*view) (rows [][]any) {
		for _, s := range faultpoint.List() {
			var milliseconds, left any
			if s.Do == faultpoint.Wait {
				milliseconds = int(s.For.Milliseconds())
			}
			if s.Do != faultpoint.Nothing && s.Left != faultpoint.Forever {
				left = s.Left
			}
			rows = append(rows, []any{s.Name, s.Fails, s.Do.String(), milliseconds, left, s.Reached, s.Waiting})
		}
		return rows
	},
}

var faultpointCommand = command{
	verb: "faultpoint", usage: "KS FAULTPOINT name DO ERROR | EXIT | WAIT milliseconds | NOTHING [TIMES n]", rights: account.Admin,
	about: "Says what happens the next times that the work comes to a fault point; SHOW KS FAULTPOINTS lists them. Who waits there goes on",
	run: func(c *call) (*answer, error) {
		point, ok := c.r.Name()
		if !ok {
			return nil, c.r.Expected("the name of a fault point")
		}
		if !c.r.Word("do") {
			return nil, c.r.Expected("DO")
		}
		do, wait, err := c.r.fault()
		if err != nil {
			return nil, err
		}
		times := faultpoint.Forever
		if c.r.Word("times") {
			n, ok := c.r.Number()
			if !ok || n < 1 || n > timesMax {
				return nil, c.r.Expected("how often, 1 to 1000000")
			}
			times = int(n)
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return &answer{}, c.a.Trail.Act(c.who, account.Admin, "fault point", point+" "+do.String(), func() error {
			if err := faultpoint.Set(strings.ToLower(point), do, wait, times); err != nil {
				return change.Failed("%s: %v; SHOW KS FAULTPOINTS lists them", point, err)
			}
			return nil
		})
	},
}

// timesMax bounds how often something happens by one statement, and waitMax how long a wait is, in milliseconds.
const (
	timesMax = 1_000_000
	waitMax  = 3_600_000
)

// fault reads what is to happen.
func (r *reader) fault() (do faultpoint.Do, wait time.Duration, err error) {
	for do = faultpoint.Nothing; do <= faultpoint.Wait; do++ {
		if r.Word(do.String()) {
			break
		}
	}
	switch {
	case do > faultpoint.Wait:
		return 0, 0, r.Expected("ERROR, EXIT, WAIT or NOTHING")
	case do != faultpoint.Wait:
		return do, 0, nil
	}
	n, ok := r.Number()
	if !ok || n < 1 || n > waitMax {
		return 0, 0, r.Expected("a number of milliseconds, 1 to 3600000")
	}
	return do, time.Duration(n) * time.Millisecond, nil
}
