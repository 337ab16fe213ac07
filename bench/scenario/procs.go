package scenario

import (
	"fmt"

	"kingshard/bench/rig"
)

// procs are point selects through proxies of one thread and of two.
func procs() []Scenario {
	var against []rig.Spec
	for _, n := range []int{1, 2} {
		against = append(against,
			rig.Spec{Name: fmt.Sprintf("kingshard %d procs", n), Kind: rig.Kingshard, Procs: n},
			rig.Spec{Name: fmt.Sprintf("haproxy %d threads", n), Kind: rig.HAProxy, Procs: n})
	}
	var all []Scenario
	for _, n := range []int{16, 64} {
		all = append(all, Scenario{
			Family: "procs/point-select", Parameter: "threads", X: float64(n),
			Work: sysbench{script: "oltp_point_select", threads: n}, Against: against,
		})
	}
	return all
}
