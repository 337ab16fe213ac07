package scenario

import "kingshard/bench/rig"

// The contenders of consistency, which differ in replica_consistency. All their reads go to the replica.
var (
	eventual = consistent("eventual")
	session  = consistent("session")
)

// consistent returns the proxy over a server with a replica, of which reads are as a level of consistency says.
func consistent(level string) rig.Spec {
	return rig.Spec{Name: "kingshard " + level, Kind: rig.Kingshard, Replicated: true, Config: "replica_consistency: " + level}
}

// consistency are point selects through a replica, with own changes in view and without.
func consistency() []Scenario {
	return []Scenario{{
		Family: "consistency/point-select", Parameter: "threads", X: 16, Work: sysbench{script: "oltp_point_select", threads: 16}, Against: []rig.Spec{eventual, session},
	}}
}
