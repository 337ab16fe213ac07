package scenario

import "kingshard/bench/rig"

// oltp is sysbench: five scripts, text and prepared, point selects from 1 to 1024 threads, the others from 1 to 64.
func oltp() []Scenario {
	var all []Scenario
	for _, script := range []struct{ family, script, db string }{
		{"point-select", "oltp_point_select", rig.DB},
		{"update-index", "oltp_update_index", rig.DB},
		{"insert", "oltp_insert", rig.InsertDB},
		{"read-only", "oltp_read_only", rig.DB},
		{"read-write", "oltp_read_write", rig.DB},
	} {
		for _, prepared := range []bool{false, true} {
			against := []rig.Spec{direct, plain, haproxy, oneShard, goroutines}
			threads := []int{1, 16, 64}
			if script.family == "point-select" {
				against = append(against, pipelined)
				threads = []int{1, 4, 16, 64, 256, 1024}
			}
			for _, n := range threads {
				all = append(all, Scenario{
					Family: script.family + "/" + form(prepared), Parameter: "threads", X: float64(n),
					Work:    sysbench{script: script.script, threads: n, prepared: prepared, db: script.db},
					Against: against,
				})
			}
		}
	}
	return all
}

// form names a protocol.
func form(prepared bool) string {
	if prepared {
		return "prepared"
	}
	return "text"
}
