package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// Scenario is one load and those who bear it.
type Scenario struct {
	Family    string  // as point-select/text
	Parameter string  // what X is, "" without one
	X         float64 //
	Work      work
	Against   []rig.Spec // in the order of their turns
	// Rounds and Seconds are how often contenders take their turns and how long a turn is measured, unless a Runner says otherwise. 0 is 1.
	Rounds, Seconds int
	// SecondsMin is the shortest measured time that shows anything; 0 is any.
	SecondsMin int
	// Fresh starts the contenders anew for each turn: a process keeps memory that it has had once, for example.
	Fresh bool
}

// Name is the scenario's name: the family and the parameter's value.
func (s Scenario) Name() string { return report.ScenarioName(s.Family, s.Parameter, s.X) }

// Contender names.
const (
	directName   = "direct"
	haproxyName  = "haproxy"
	proxyName    = "kingshard"
	oneShardName = "kingshard one shard"

	goroutinesName = "kingshard goroutines"
	pipelinedName  = "kingshard pipelined"
)

// The contenders of most scenarios.
var (
	direct   = rig.Spec{Name: directName, Kind: rig.Direct}
	haproxy  = rig.Spec{Name: haproxyName, Kind: rig.HAProxy}
	plain    = rig.Spec{Name: proxyName, Kind: rig.Kingshard}
	oneShard = rig.Spec{Name: oneShardName, Kind: rig.Kingshard, Shards: 1}
	// A goroutine for each client, as with TLS and on other systems than Linux.
	goroutines = rig.Spec{Name: goroutinesName, Kind: rig.Kingshard, Config: "fast_lane: false"}
	pipelined  = rig.Spec{Name: pipelinedName, Kind: rig.Kingshard, Config: "pipelined_sharing: true"}
)

// All gives every scenario, group by group.
func All() []Scenario {
	var all []Scenario
	for _, group := range [][]Scenario{
		oltp(), limits(), results(), statements(), overTLS(), scatter(), ids(), lookups(), commit(), consistency(), idle(), rates(), procs(), observed(),
	} {
		all = append(all, group...)
	}
	for i, s := range all {
		if p, ok := promised[s.Name()]; ok {
			all[i].Rounds, all[i].Seconds = p.rounds, p.seconds
		}
	}
	return all
}

// Turns returns the turns that a whole run has.
func Turns() []report.Turn {
	var turns []report.Turn
	for _, s := range All() {
		for _, spec := range s.Against {
			turns = append(turns, report.Turn{Family: s.Family, Parameter: s.Parameter, X: s.X, Contender: spec.Name})
		}
	}
	return turns
}

// Select gives the scenarios whose name has a match, in their order.
func Select(all []Scenario, pattern string) ([]Scenario, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var selected []Scenario
	for _, s := range all {
		if match.MatchString(s.Name()) {
			selected = append(selected, s)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no scenario matches %q: -list shows them all", pattern)
	}
	return selected, nil
}

// named returns the scenarios of these names, in the order of All. A name that there is not is a mistake of the tables.
func named(names ...string) []Scenario {
	var selected []Scenario
	for _, s := range All() {
		if slices.Contains(names, s.Name()) {
			selected = append(selected, s)
		}
	}
	if len(selected) != len(names) {
		panic(fmt.Sprintf("scenario: %d of %v", len(selected), names))
	}
	return selected
}

// timing is how long one turn takes.
type timing struct {
	warmup, measured time.Duration
}

// WithBefore gives every scenario that has kingshard another one of another binary, whose turns are just before.
func WithBefore(all []Scenario, binary string) []Scenario {
	changed := append([]Scenario(nil), all...)
	for i, s := range changed {
		changed[i].Against = nil
		for _, spec := range s.Against {
			if spec.Kind == rig.Kingshard {
				before := spec
				before.Name, before.Binary = spec.Name+report.Before, binary
				changed[i].Against = append(changed[i].Against, before)
			}
			changed[i].Against = append(changed[i].Against, spec)
		}
	}
	return changed
}
