package report

// Metric names a figure of a sample.
type Metric string

// The metrics. A sample has those that make sense for it.
const (
	QPS  Metric = "qps" // answers a second
	Mean Metric = "mean"
	P50  Metric = "p50"
	P90  Metric = "p90"
	P95  Metric = "p95"
	P99  Metric = "p99"
	P999 Metric = "p99.9"
	Max  Metric = "max"

	ProxyCPU    Metric = "proxy cpu" // a query
	ProxyUser   Metric = "proxy user cpu"
	ProxySystem Metric = "proxy system cpu"
	ClientCPU   Metric = "client cpu"
	ServerCPU   Metric = "server cpu"

	Allocations Metric = "allocations" // objects a query, of kingshard
	Syscalls    Metric = "syscalls"    // a query, of the proxy, by strace in a time of its own

	RSS       Metric = "rss"        // of the proxy at the end
	RSSGrowth Metric = "rss growth" // highest of the measured time beyond that before
	PerClient Metric = "per client" // memory of the proxy for each idle client
	Clients   Metric = "clients"    // held at the same time

	HighestRate Metric = "highest rate" // that holds the SLO
	Rate        Metric = "rate"         // that was asked for

	// Of transactions that are run again when they fail.
	TPM        Metric = "tpmC"        // new-orders committed a minute
	RolledBack Metric = "rolled back" // by the client, as they must be
	Retries    Metric = "retries"
	Refused    Metric = "refused"  // by the proxy
	Unknown    Metric = "unknown"  // whether they were committed
	Violated   Metric = "violated" // conditions that do not hold afterwards

	// How disturbed the machine was.
	OtherCPU        Metric = "other cpu"        // used by processes that have no part in the benchmark, of all processors
	Steal           Metric = "steal"            // taken by the hypervisor
	Load            Metric = "load"             // tasks that wanted to run, before the sample
	CalibrationCPU  Metric = "calibration cpu"  // of a fixed piece of work, before the sample
	CalibrationWall Metric = "calibration wall" // time that it took
)

// units are those of metrics in reports; a latency or CPU time is in microseconds.
var units = map[Metric]string{
	QPS: "1/s", Mean: "µs", P50: "µs", P90: "µs", P95: "µs", P99: "µs", P999: "µs", Max: "µs",
	ProxyCPU: "µs", ProxyUser: "µs", ProxySystem: "µs", ClientCPU: "µs", ServerCPU: "µs",
	RSS: "KiB", RSSGrowth: "KiB", PerClient: "KiB", HighestRate: "1/s", Rate: "1/s", TPM: "1/min",
	OtherCPU: "%", Steal: "%", CalibrationCPU: "µs", CalibrationWall: "µs",
}

// Unit is a metric's unit, "" for a plain number.
func (m Metric) Unit() string { return units[m] }
