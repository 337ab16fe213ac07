package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// Run is everything that one run of the benchmark found.
type Run struct {
	Started  time.Time // to the second, UTC
	Ended    time.Time // when the last turn was over
	Revision string    // of the checkout; "+" behind it: with changes that are not committed
	Machine  Machine
	Pauses   *Pauses  `json:",omitempty"`
	Versions []string // of the servers and programs
	Settings Settings
	Samples  []Sample  `json:"-"` // in the order in which they were taken; a file has them behind the rest
	Checks   []Outcome `json:"-"` // worked out from the samples, so no file has them
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
	Warmup    float64 // seconds before the measured time of a turn
	Apart     bool    // each program was in a session of its own
}

// Sample is one contender's one turn in a scenario.
type Sample struct {
	Family    string  // the scenario without its parameter, as point-select/text
	Parameter string  // the parameter's name, "" without one
	X         float64 // and its value
	Contender string
	Round     int                // from 1
	Run       string             // name of the run that took it
	Began     time.Time          // when the turn began
	Seconds   float64            // of the measured time
	Metrics   map[Metric]float64 // nil: the turn failed
	Errors    uint64             `json:",omitempty"`
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

// Name names a run by its begin and its revision. Every sample that it took has the name.
func (r *Run) Name() string { return r.Started.Format("20060102-150405") + "-" + r.Revision }

// Write writes a run as lines of JSON: the run, then a line for each sample.
func (r *Run) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	if err := e.Encode(r); err != nil {
		return err
	}
	for _, s := range r.Samples {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// ReadFile reads a run that Write wrote.
func ReadFile(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := read(json.NewDecoder(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func read(d *json.Decoder) (*Run, error) {
	r := new(Run)
	if err := d.Decode(r); err != nil {
		return nil, err
	}
	for {
		var s Sample
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		r.Samples = append(r.Samples, s)
	}
}
