package scenario

import (
	"fmt"

	"kingshard/bench/report"
)

// Headline returns what the README says of a run, in Markdown: figures that the run has, or none.
func Headline(r *report.Run) string {
	cpu := func(protocol string) (float64, bool) {
		return against(pointSelect(protocol, 64), proxyName, report.ProxyCPU)(r)
	}
	text, ok := cpu("text")
	prepared, both := cpu("prepared")
	queries, measured := against(pointSelect("text", 64), proxyName, report.QPS)(r)
	if !ok || !both || !measured {
		return "[docs/performance.md](docs/performance.md) has what it costs beside HAProxy and a direct connection, from one run of one revision.\n"
	}
	return fmt.Sprintf(`A point select of 64 clients costs **%.2f of the processor time** that HAProxy (mode tcp) takes to pass it on, prepared %.2f, at %.2f
times its throughput, client, proxy and server sharing %d processors: [docs/performance.md](docs/performance.md) has the rest of that run.

![CPU of the proxy for each point select](docs/performance/point-select-text-proxy-cpu.svg)
`, text, prepared, queries, r.Machine.Cores)
}
