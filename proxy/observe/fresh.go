package observe

// Fresh is how a read got what was changed, where replica_consistency asks for that.
type Fresh uint8

// The ways.
const (
	FreshAtOnce  Fresh = iota // the replica was known to have it
	FreshWaited               // the replica said that it has it
	FreshPrimary              // from the primary
	freshOutcomes
)

// FreshNames are their names.
var FreshNames = [freshOutcomes]string{"at_once", "waited", "primary"}
