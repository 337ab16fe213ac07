package scenario

import (
	"kingshard/bench/load"
	"kingshard/bench/rig"
)

// idClients send rows to a table of two shards, each to one.
const idClients = 64

// ids are rows that bring their ids, beside rows that have them drawn. Keys are many, so that ids that are brought hardly come again.
func ids() []Scenario {
	var all []Scenario
	for _, prepared := range []bool{false, true} {
		for _, s := range []struct{ family, text string }{
			{"ids/brought", "REPLACE INTO counted (id, grp, note) VALUES (?, 5, 'a note')"},
			{"ids/drawn", "INSERT INTO counted (grp, note) VALUES (?, 'a note')"},
		} {
			all = append(all, Scenario{
				Family: s.family + "/" + form(prepared), Parameter: "clients", X: idClients,
				Work:    closed{clients: idClients, statement: load.Statement{Text: s.text, Keys: 1 << 30, Prepared: prepared}},
				Against: []rig.Spec{scattered(2)},
			})
		}
	}
	return all
}
