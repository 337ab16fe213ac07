package indexes

// State is how far an index is.
type State uint8

// The states.
const (
	// Unknown: nobody could be asked within the last moments.
	Unknown State = iota
	// Missing: changes of rows do not keep it.
	Missing
	// Building: changes of rows keep it, and the rows of before come into it bit by bit. Nobody reads by it.
	Building
	// Built: it has all rows.
	Built
)

var stateNames = [...]string{"unknown", "missing", "building", "built"}

// String is how the state is shown and stored.
func (s State) String() string { return stateNames[s] }

func stateNamed(name string) State {
	for k, n := range stateNames {
		if n == name {
			return State(k)
		}
	}
	return Unknown
}

// Record is what is stored of an index.
type Record struct {
	State State
	// Position is where a build goes on: how many shards it is done with, and the last row of the next one that it has seen, as a build wrote it.
	Shards int
	After  string
	// Done and Total are how many rows a build has seen, and about how many there were at its beginning.
	Done, Total uint64
	// Faults are those that the last verification has found and left, if there was one since the index was built.
	Verified bool
	Faults   uint64
}

// Percent is how far a build is, from 0 to 99.
func (r Record) Percent() uint64 {
	if r.Total == 0 {
		return 0
	}
	return min(r.Done*100/r.Total, 99)
}
