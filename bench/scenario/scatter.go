package scenario

import (
	"fmt"

	"kingshard/bench/load"
	"kingshard/bench/rig"
)

// scatterTexts are statements that all shards answer together.
var scatterTexts = []struct{ family, text string }{
	{"count", "SELECT COUNT(*) FROM events WHERE amount < 100"},
	{"ordered-limit", "SELECT id, amount FROM events ORDER BY amount LIMIT 100"},
	{"group-by", "SELECT grp, COUNT(*), SUM(amount) FROM events WHERE amount < 1000 GROUP BY grp"},
	{"ordered-stream", "SELECT id, amount, note FROM events WHERE amount < 10000 ORDER BY amount"},
}

func scattered(shards int) rig.Spec {
	return rig.Spec{Name: proxyName, Kind: rig.Kingshard, Shards: shards}
}

// scatterClients is few: the shards are one server on the same processors.
const scatterClients = 8

// scatter are statements over several shards, beside a point select that goes to one.
func scatter() []Scenario {
	var all []Scenario
	for _, s := range scatterTexts {
		for _, shards := range rig.ScatterShards {
			all = append(all, Scenario{
				Family: "scatter/" + s.family, Parameter: "shards", X: float64(shards),
				Work:    closed{clients: scatterClients, statement: load.Statement{Text: s.text}},
				Against: []rig.Spec{scattered(shards)},
			})
		}
	}
	for _, shards := range rig.ScatterShards {
		all = append(all, Scenario{
			Family: "scatter/point-select", Parameter: "shards", X: float64(shards),
			Work:    closed{clients: scatterClients, statement: load.Statement{Text: "SELECT note FROM events WHERE id=?", Keys: rig.Rows}},
			Against: []rig.Spec{scattered(shards)},
		})
	}
	return append(all, Scenario{
		Family: "scatter/unsharded-point-select", Against: []rig.Spec{plain},
		Work: closed{clients: scatterClients, statement: point},
	})
}

// scatterName is the name of a scatter scenario.
func scatterName(family string, shards int) string {
	return fmt.Sprintf("scatter/%s/%d", family, shards)
}
