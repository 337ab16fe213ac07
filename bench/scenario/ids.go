package scenario

import (
	"context"
	"strings"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// idClients send rows to a table of two shards, each to one.
const idClients = 64

// The contenders of ids, which are the same in all but what they are asked.
var (
	bringing = spread("kingshard, ids brought")
	drawing  = spread("kingshard, ids drawn")
)

// ids are rows that bring their ids, beside rows that have them drawn, by turns: the same rows for the server, on the same shard, and one number that
// is another in each statement.
func ids() []Scenario {
	var all []Scenario
	for _, prepared := range []bool{false, true} {
		rows := func(text string) work {
			return closed{clients: idClients, statement: load.Statement{Text: text, Serial: true, Prepared: prepared}}
		}
		all = append(all, Scenario{
			Family: "ids/" + form(prepared), Parameter: "clients", X: idClients,
			Work: workOf{
				bringing.Name: rows("INSERT INTO counted (id, grp, note) VALUES (?, 5, 'a note')"),
				drawing.Name:  rows("INSERT INTO counted (grp, note) VALUES (5, ?)"),
			},
			Against: []rig.Spec{bringing, drawing},
		})
	}
	return all
}

// workOf are works of contenders that do not do the same, by their names.
type workOf map[string]work

func (w workOf) run(ctx context.Context, c *rig.Contender, t timing, window load.Window) (outcome, error) {
	return w[strings.TrimSuffix(c.Spec.Name, report.Before)].run(ctx, c, t, window)
}

func (w workOf) takes(t timing) (longest time.Duration) {
	for _, of := range w {
		longest = max(longest, of.takes(t))
	}
	return longest
}

// spread returns the proxy over two nodes, with a table's rows on both, as the contender called name.
func spread(name string) rig.Spec {
	s := scattered(2)
	s.Name = name
	return s
}

// idsName is the name of a scenario of ids.
func idsName(prepared bool) string {
	return report.ScenarioName("ids/"+form(prepared), "clients", idClients)
}
