package scenario

import "kingshard/bench/rig"

// idle are clients that say nothing, and clients that come and go.
func idle() []Scenario {
	var all []Scenario
	for _, n := range []int{1000, 10_000, 50_000} {
		all = append(all, Scenario{
			Family: "idle", Parameter: "clients", X: float64(n), Work: idleClients{n}, Against: []rig.Spec{plain, goroutines, plainTLS}, Fresh: true,
		})
	}
	return append(all, Scenario{
		Family: "login", Parameter: "clients", X: 16, Work: logins{16}, Against: []rig.Spec{direct, plain, haproxy, plainTLS},
	})
}
