package scenario

import (
	"fmt"
	"slices"

	"kingshard/bench/rig"
)

// maxConns are the values of max_conns_limit; sweepThreads are more than most of them.
var maxConns = []int{16, 32, 64, 256}

const sweepThreads = 256

// limited is kingshard with so many connections to the server.
func limited(n int) rig.Spec {
	return rig.Spec{Name: limitedName(n), Kind: rig.Kingshard, MaxConns: n}
}

// limitedPipelined is kingshard with 16 connections that clients share.
var limitedPipelined = rig.Spec{Name: "kingshard 16 conns pipelined", Kind: rig.Kingshard, MaxConns: 16, Config: pipelined.Config}

func limitedName(n int) string { return fmt.Sprintf("kingshard %d conns", n) }

// crowdConns is what the server of the crowd scenarios allows; crowdLimit is what kingshard uses of it.
const (
	crowdConns = 300
	crowdLimit = 128
)

// limits are what a ceiling of connections is for: fewer connections than clients, and more clients than the server takes.
func limits() []Scenario {
	against := []rig.Spec{direct, haproxy}
	for _, n := range maxConns {
		against = append(against, limited(n))
	}
	var all []Scenario
	for _, script := range []struct {
		family, script string
		hot            bool
	}{
		{family: "conns/point-select", script: "oltp_point_select"},
		{family: "conns/update-index", script: "oltp_update_index"},
		{family: "conns/update-index-hot", script: "oltp_update_index", hot: true},
		{family: "conns/read-write", script: "oltp_read_write"},
	} {
		contenders := against
		if script.script == "oltp_point_select" {
			contenders = append(slices.Clip(against), limitedPipelined)
		}
		all = append(all, Scenario{
			Family: script.family, Parameter: "threads", X: sweepThreads,
			Work: sysbench{script: script.script, threads: sweepThreads, hot: script.hot}, Against: contenders,
		})
	}
	var crowd []rig.Spec
	for _, spec := range []rig.Spec{direct, haproxy, limited(crowdLimit)} {
		spec.ServerConnsMax = crowdConns
		crowd = append(crowd, spec)
	}
	for _, n := range []int{256, 1024} {
		all = append(all, Scenario{
			Family: "crowd/point-select", Parameter: "threads", X: float64(n),
			Work: sysbench{script: "oltp_point_select", threads: n}, Against: crowd,
		})
	}
	return all
}
