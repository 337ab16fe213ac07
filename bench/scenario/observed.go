package scenario

import "kingshard/bench/rig"

// observed are point selects with statistics and logs of all kinds.
func observed() []Scenario {
	return []Scenario{{
		Family: "observed/point-select", Parameter: "threads", X: 64,
		Work: sysbench{script: "oltp_point_select", threads: 64},
		Against: []rig.Spec{
			{Name: "kingshard all off", Kind: rig.Kingshard, Config: "digests: 0"},
			plain,
			{Name: "kingshard slow log", Kind: rig.Kingshard, Config: "log_sql: on\nslow_log_time: 100"},
			{Name: "kingshard sql log", Kind: rig.Kingshard, Config: "log_sql: on"},
			{Name: "kingshard debug", Kind: rig.Kingshard, Config: "log_level: debug"},
		},
	}}
}
