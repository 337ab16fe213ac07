package scenario

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// Names of the scenarios that checks look at.
const (
	million    = "rows/1000000"
	crowd      = "crowd/point-select/1024"
	capacity60 = "rate-of-capacity/60"
)

// pointSelect is the name of a scenario of sysbench's point selects.
func pointSelect(protocol string, threads int) string {
	return fmt.Sprintf("point-select/%s/%d", protocol, threads)
}

// at names a figure.
func at(scenario, contender string, m report.Metric) report.Ref {
	return report.Ref{Scenario: scenario, Contender: contender, Metric: m}
}

// against is a figure of kingshard beside HAProxy's.
func against(scenario, contender string, m report.Metric) func(*report.Run) (float64, bool) {
	return report.Ratio(at(scenario, contender, m), at(scenario, haproxyName, m))
}

// Checks are what "done" means for the proxy's performance, in the order of its list.
func Checks() []report.Check {
	checks := slices.Concat(cpuChecks(), sizeChecks(), throughputChecks(), memoryChecks(), scatterChecks(), openChecks(), tlsChecks(), commitChecks())
	slices.SortStableFunc(checks, func(a, b report.Check) int { return a.Line - b.Line })
	return checks
}

func cpuChecks() []report.Check {
	var checks []report.Check
	for _, protocol := range []string{"text", "prepared"} {
		scenario := pointSelect(protocol, 64)
		checks = append(checks,
			report.Check{Line: 1, Promise: "CPU per " + protocol + " point select, 64 threads, over HAProxy's", Bound: 0.85,
				Figure: against(scenario, proxyName, report.ProxyCPU)},
			report.Check{Line: 1, Promise: "the same, sharded to one shard", Bound: 0.9,
				Figure: against(scenario, oneShardName, report.ProxyCPU)},
			report.Check{Line: 1, Promise: "CPU per " + protocol + " point select with a goroutine for each client, over HAProxy's", Bound: 1.25,
				Figure: against(scenario, goroutinesName, report.ProxyCPU)},
			report.Check{Line: 1, Promise: "CPU per " + protocol + " point select with pipelined sharing, over HAProxy's", Bound: 0.6,
				Figure: against(scenario, pipelinedName, report.ProxyCPU)},
			report.Check{Line: 1, Promise: "allocations per " + protocol + " point select", Bound: 0.2,
				Figure: report.Value(at(scenario, proxyName, report.Allocations))},
			report.Check{Line: 1, Promise: "the same, sharded to one shard", Bound: 0.2,
				Figure: report.Value(at(scenario, oneShardName, report.Allocations))})
		for _, n := range []int{4, 16} {
			checks = append(checks, report.Check{Line: 1, Promise: fmt.Sprintf("CPU per %s point select, %d threads, over HAProxy's", protocol, n), Shown: true,
				Figure: against(pointSelect(protocol, n), proxyName, report.ProxyCPU)})
		}
	}
	return checks
}

func sizeChecks() []report.Check {
	return []report.Check{
		{Line: 2, Promise: "CPU of a 100-row result over HAProxy's", Bound: 1.15, Figure: against("rows/100", proxyName, report.ProxyCPU)},
		{Line: 2, Promise: "CPU of a 130 MB result over HAProxy's", Bound: 1.2, Figure: against(million, proxyName, report.ProxyCPU)},
		{Line: 2, Promise: "memory during a 130 MB result beyond that before", Bound: 8 * 1024, Unit: "KiB",
			Figure: report.Value(at(million, proxyName, report.RSSGrowth))},
		{Line: 3, Promise: "median latency at 1 client beyond HAProxy's", Bound: 8, Unit: "µs",
			Figure: report.Difference(at("one-client/text", proxyName, report.P50), at("one-client/text", haproxyName, report.P50))},
		{Line: 5, Promise: "CPU of a 17 KB statement of 400 columns beyond HAProxy's", Bound: 30, Unit: "µs",
			Figure: report.Difference(at("orm-select/400", proxyName, report.ProxyCPU), at("orm-select/400", haproxyName, report.ProxyCPU))},
		{Line: 5, Promise: "CPU per byte from 17 to 170 KB over that from 1 to 17 KB, whichever is larger on top", Bound: 1.2,
			Figure: perByteSteadiness},
		{Line: 5, Promise: "throughput of rows of 400 columns over HAProxy's", Bound: 0.95, AtLeast: true,
			Figure: against("columns/400", proxyName, report.QPS)},
	}
}

// perByteSteadiness compares the CPU time of one more byte of statement in two ranges of sizes.
func perByteSteadiness(r *report.Run) (float64, bool) {
	sizes := []float64{1000, 17_000, 170_000}
	cpu := make([]float64, len(sizes))
	for i, size := range sizes {
		v, ok := r.Value(at(report.ScenarioName("statement-bytes", "bytes", size), proxyName, report.ProxyCPU))
		if !ok {
			return 0, false
		}
		cpu[i] = v
	}
	small, large := (cpu[1]-cpu[0])/(sizes[1]-sizes[0]), (cpu[2]-cpu[1])/(sizes[2]-sizes[1])
	if small <= 0 || large <= 0 {
		return 0, false // noise is larger than what is sought
	}
	return math.Max(small/large, large/small), true
}

func throughputChecks() []report.Check {
	var checks []report.Check
	for _, protocol := range []string{"text", "prepared"} {
		checks = append(checks,
			report.Check{Line: 4, Promise: "throughput of " + protocol + " point selects, 64 threads, over HAProxy's", Bound: 1.05, AtLeast: true,
				Figure: against(pointSelect(protocol, 64), proxyName, report.QPS)},
			report.Check{Line: 4, Promise: "the same with pipelined sharing", Bound: 1.05, AtLeast: true,
				Figure: against(pointSelect(protocol, 64), pipelinedName, report.QPS)})
		for _, n := range []int{4, 16} {
			checks = append(checks, report.Check{Line: 4, Promise: fmt.Sprintf("throughput of %s point selects, %d threads, over HAProxy's", protocol, n), Shown: true,
				Figure: against(pointSelect(protocol, n), proxyName, report.QPS)})
		}
	}
	checks = append(checks,
		report.Check{Line: 4, Promise: "throughput of point selects over HAProxy's, 16 shared connections, 256 threads", Bound: 1.15, AtLeast: true,
			Figure: against("conns/point-select/256", limitedPipelined.Name, report.QPS)})
	for _, n := range []int{16, 32} {
		conns := fmt.Sprintf("%d connections, %d threads", n, sweepThreads)
		checks = append(checks,
			report.Check{Line: 4, Promise: "throughput of index updates over direct, few rows changed very often, " + conns, Bound: 1, AtLeast: true,
				Figure: overDirect("conns/update-index-hot/256", limitedName(n))},
			report.Check{Line: 4, Promise: "the same, all rows alike", Bound: 1, AtLeast: true,
				Figure: overDirect("conns/update-index/256", limitedName(n))},
			report.Check{Line: 4, Promise: "throughput of point selects over HAProxy's, " + conns, Bound: 1.15, AtLeast: true,
				Figure: against("conns/point-select/256", limitedName(n), report.QPS)})
	}
	return append(checks,
		report.Check{Line: 4, Promise: "errors of 1024 threads, a server of 300 connections", Bound: 0, Figure: crowdErrors(crowd, limitedName(crowdLimit))},
		report.Check{Line: 4, Promise: "errors of the same straight on the server", Bound: 1, AtLeast: true, Figure: crowdErrors(crowd, directName)})
}

// overDirect is a contender's throughput beside that of clients straight on the server.
func overDirect(scenario, contender string) func(*report.Run) (float64, bool) {
	return report.Ratio(at(scenario, contender, report.QPS), at(scenario, directName, report.QPS))
}

// crowdErrors counts a contender's errors in all its turns, one that could not begin as one.
func crowdErrors(scenario, contender string) func(*report.Run) (float64, bool) {
	return func(r *report.Run) (float64, bool) {
		total, found := 0.0, false
		for _, s := range r.Samples {
			if s.Name() != scenario || s.Contender != contender {
				continue
			}
			found = true
			total += float64(s.Errors)
			if s.Errors == 0 && s.Failure != "" {
				total++
			}
		}
		return total, found
	}
}

func memoryChecks() []report.Check {
	return []report.Check{
		{Line: 6, Promise: "memory of an idle client in the fast lane, of 10,000", Bound: 2.5, Unit: "KiB",
			Figure: report.Value(at("idle/10000", proxyName, report.PerClient))},
		{Line: 6, Promise: "the same with a goroutine for each client, without TLS", Bound: 8, Unit: "KiB",
			Figure: report.Value(at("idle/10000", goroutinesName, report.PerClient))},
		{Line: 6, Promise: "idle clients held", Bound: 50_000, AtLeast: true,
			Figure: report.Value(at("idle/50000", proxyName, report.Clients))},
	}
}

func scatterChecks() []report.Check {
	checks := []report.Check{
		{Line: 7, Promise: "CPU of an ordered merge of 100 rows of 2 shards", Bound: 60, Unit: "µs",
			Figure: report.Value(at(scatterName("ordered-limit", 2), proxyName, report.ProxyCPU))},
		{Line: 7, Promise: "CPU of COUNT over 8 shards over that of a point select", Bound: 8 * 1.2,
			Figure: report.Ratio(at(scatterName("count", 8), proxyName, report.ProxyCPU),
				at("scatter/unsharded-point-select", proxyName, report.ProxyCPU))},
	}
	for _, prepared := range []bool{false, true} {
		checks = append(checks, report.Check{Line: 7, Promise: "CPU of an INSERT whose id is drawn over that of one that brings it, " + form(prepared), Bound: 1.1,
			Figure: report.Ratio(at(idsName(prepared), drawing.Name, report.ProxyCPU), at(idsName(prepared), bringing.Name, report.ProxyCPU))})
	}
	for _, prepared := range []bool{false, true} {
		for _, by := range []rig.Spec{byUniqueKey, byLookupKey} {
			checks = append(checks, report.Check{Line: 7, Promise: fmt.Sprintf("CPU of proxy and server for a read through %s over that by the sharding key, %s", by.Name, form(prepared)), Bound: 2.2,
				Figure: cpuOver(lookupName(prepared), by.Name, byShardingKey.Name)})
		}
		checks = append(checks, report.Check{Line: 7, Promise: "the same by a lookup key over that by the same key of an unsharded table, " + form(prepared), Shown: true,
			Figure: cpuOver(lookupName(prepared), byLookupKey.Name, unsharded.Name)})
	}
	return checks
}

// cpuOver is what a contender's statements cost the proxy and the server together, over what another one's do.
func cpuOver(scenario, contender, other string) func(*report.Run) (float64, bool) {
	sum := func(r *report.Run, contender string) (float64, bool) {
		proxy, measured := r.Value(at(scenario, contender, report.ProxyCPU))
		server, too := r.Value(at(scenario, contender, report.ServerCPU))
		return proxy + server, measured && too && proxy+server > 0
	}
	return func(r *report.Run) (float64, bool) {
		a, measured := sum(r, contender)
		b, too := sum(r, other)
		return a / b, measured && too
	}
}

func openChecks() []report.Check {
	return []report.Check{
		{Line: 8, Promise: "p99.9 over p50 at 60 % of the capacity", Bound: 10,
			Figure: report.Ratio(at(capacity60, proxyName, report.P999), at(capacity60, proxyName, report.P50))},
		{Line: 8, Promise: fmt.Sprintf("the same with %d connections", tailConns), Bound: 10,
			Figure: report.Ratio(at(capacity60, limitedName(tailConns), report.P999), at(capacity60, limitedName(tailConns), report.P50))},
		{Line: 8, Promise: "highest rate with " + DefaultSLO.String() + " over HAProxy's", Bound: 0.9, AtLeast: true,
			Figure: against("slo", proxyName, report.HighestRate)},
	}
}

func tlsChecks() []report.Check {
	var checks []report.Check
	for _, family := range []string{"tls/text", "tls/prepared"} {
		scenario := report.ScenarioName(family, "clients", tlsClients)
		checks = append(checks,
			report.Check{Line: 9, Promise: "CPU per point select with TLS over that without, " + scenario, Bound: 1.3,
				Figure: report.Ratio(at(scenario, plainTLS.Name, report.ProxyCPU), at(scenario, proxyName, report.ProxyCPU))},
			report.Check{Line: 9, Promise: "throughput of the same over that of TLS straight to the server", Shown: true,
				Figure: report.Ratio(at(scenario, plainTLS.Name, report.QPS), at(scenario, directTLS.Name, report.QPS))})
	}
	return checks
}

func commitChecks() []report.Check {
	return []report.Check{
		{Line: 10, Promise: "median of COMMIT over two nodes, all or none over one behind the other", Bound: 2.5,
			Figure: report.Ratio(at(commitBoth, atomic.Name, report.P50), at(commitBoth, bestEffort.Name, report.P50))},
		{Line: 10, Promise: "CPU per transaction of one node, transaction_mode atomic over single", Bound: 1.03,
			Figure: report.Ratio(at(commitOne, atomic.Name, report.ProxyCPU), at(commitOne, single.Name, report.ProxyCPU))},
	}
}

// plan is how often and how long a whole run measures.
type plan struct{ rounds, seconds int }

// promised are the scenarios that the checks look at. Those with a figure of HAProxy's in them have five rounds, with as many seconds
// as keep a whole run below 45 minutes; those of ids and of one node more, as they differ by less than two turns of one of them do.
var promised = map[string]plan{
	pointSelect("text", 64): {5, 2}, pointSelect("prepared", 64): {5, 2}, "tls/text/64": {5, 1}, "tls/prepared/64": {5, 1},
	pointSelect("text", 4): {5, 1}, pointSelect("prepared", 4): {5, 1}, pointSelect("text", 16): {5, 1}, pointSelect("prepared", 16): {5, 1},
	"one-client/text": {5, 2}, "rows/100": {5, 2}, million: {3, 5}, "orm-select/400": {5, 1}, "columns/400": {5, 1},
	"statement-bytes/1000": {3, 1}, "statement-bytes/17000": {3, 1}, "statement-bytes/170000": {3, 1},
	"conns/update-index/256": {3, 1}, "conns/update-index-hot/256": {3, 1}, "conns/point-select/256": {3, 1}, crowd: {3, 1},
	idsName(false): {14, 1}, idsName(true): {14, 1}, lookupName(false): {3, 1}, lookupName(true): {3, 1},
	commitBoth: {5, 1}, commitOne: {7, 1},
	"idle/10000": {3, 1}, "idle/50000": {1, 1},
	scatterName("ordered-limit", 2): {5, 2}, scatterName("count", 8): {5, 2}, "scatter/unsharded-point-select": {5, 2},
	capacity60: {3, 5}, "slo": {1, 3},
}

// Done returns the scenarios that the checks look at.
func Done() []Scenario {
	done := named(slices.Collect(maps.Keys(promised))...)
	for i := range done { // of the sweep only what is looked at
		if done[i].Parameter == "threads" && done[i].X == sweepThreads {
			done[i].Against = []rig.Spec{direct, haproxy, limited(16), limited(32), limitedPipelined}
		}
	}
	return done
}

// Quick returns a few scenarios of each kind that take two minutes with one round of a second.
func Quick() []Scenario {
	return named("point-select/text/1", pointSelect("text", 64), pointSelect("prepared", 64), "update-index/text/16", "read-write/text/16",
		"rows/100", "rows/10000", "orm-select/400", "tls/text/64", "idle/1000", "login/16",
		scatterName("count", 4), scatterName("ordered-limit", 2), "rate/2000")
}
