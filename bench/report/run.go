package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// Run is everything that one run of the benchmark found.
type Run struct {
	Started  time.Time
	Revision string   // of the checkout; "+" behind it: with changes that are not committed
	Machine  Machine  //
	Pauses   *Pauses  `json:",omitempty"`
	Versions []string // of the servers and programs
	Settings Settings
	Samples  []Sample
	Checks   []Outcome `json:",omitempty"`
}

// Machine is where a run took place.
type Machine struct {
	CPU       string
	Cores     int
	MemoryMiB int
	Kernel    string
	Go        string
	// Congestion is the kernel's net.ipv4.tcp_congestion_control.
	Congestion string `json:",omitempty"`
	// Autogroup is the kernel's kernel.sched_autogroup_enabled.
	Autogroup string `json:",omitempty"`
}

// Pauses are the times before a run, the machine having nothing to do, in which processors did nothing for programs that wanted them
// for a millisecond or more.
type Pauses struct {
	Share   float64       // of the time, 0 to 1
	Longest time.Duration // in nanoseconds
}

// Settings are what a run was asked for.
type Settings struct {
	Arguments []string
	Rounds    int
	Seconds   float64 // measured, of each sample
	Apart     bool    // each program was in a session of its own
}

// Sample is one contender's one turn in a scenario.
type Sample struct {
	Family    string  // the scenario without its parameter, as point-select/text
	Parameter string  // the parameter's name, "" without one
	X         float64 // and its value
	Contender string
	Round     int // from 1
	Metrics   map[Metric]float64
	Errors    uint64 `json:",omitempty"`
	// Failure says why there are no metrics, or is the first of the Errors; "" when all went well.
	Failure string `json:",omitempty"`
}

// Name is the scenario's name.
func (s Sample) Name() string { return ScenarioName(s.Family, s.Parameter, s.X) }

// ScenarioName puts together a scenario's name.
func ScenarioName(family, parameter string, x float64) string {
	if parameter == "" {
		return family
	}
	return family + "/" + strconv.FormatFloat(x, 'f', -1, 64)
}

// Write writes a run as JSON.
func (r *Run) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// ReadFile reads a run that Write wrote.
func ReadFile(path string) (*Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Run)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
