package scenario

import (
	"context"
	"os"
	"strconv"
	"time"

	"kingshard/bench/procstat"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// probe reads the processes of a turn at the begin and at the end of its measured time.
type probe struct {
	ctx        context.Context // of the turn
	contender  *rig.Contender
	begin, end reading
	err        error // the first failure to read
}

// reading is what processes have used up at one moment.
type reading struct {
	done                  bool
	proxy, server, client procstat.CPU
	system                procstat.System
	memory                procstat.Memory // of the proxy
	allocations           float64
	tellsAllocations      bool
}

func (p *probe) beginWindow() {
	p.read(&p.begin)
	if p.contender.PID > 0 {
		_ = procstat.ResetPeak(p.contender.PID) // where it is not allowed, the peak is that of all rounds
	}
}

func (p *probe) endWindow() { p.read(&p.end) }

// read fills to, processor time first: what the rest costs comes after it.
func (p *probe) read(to *reading) {
	to.done = true
	to.client = p.cpu(os.Getpid())
	to.server = p.cpu(p.contender.Server.PID())
	if p.contender.PID > 0 {
		to.proxy = p.cpu(p.contender.PID)
	}
	var err error
	to.system, err = procstat.ReadSystem()
	p.note(err)
	if p.contender.PID == 0 {
		return
	}
	to.memory, err = procstat.ReadMemory(p.contender.PID)
	p.note(err)
	to.allocations, to.tellsAllocations, err = p.contender.Allocations(p.ctx)
	p.note(err)
}

func (p *probe) cpu(pid int) procstat.CPU {
	c, err := procstat.ReadCPU(pid)
	p.note(err)
	return c
}

func (p *probe) note(err error) {
	if p.err == nil {
		p.err = err
	}
}

// allocationsQueriesMin: with fewer queries, what a reading itself allocates would show.
const allocationsQueriesMin = 5000

// add puts into m what an outcome and the readings around it say.
func (p *probe) add(m map[report.Metric]float64, found outcome) {
	for name, v := range found.more {
		m[name] = v
	}
	if found.Queries > 0 {
		l := found.Latency
		m[report.QPS] = found.QPS()
		m[report.Mean], m[report.P50], m[report.P90], m[report.P99], m[report.P999], m[report.Max] = l.Mean, l.P50, l.P90, l.P99, l.P999, l.Max
	}
	if !p.begin.done || !p.end.done {
		return
	}
	client, server, proxy := p.end.client.Sub(p.begin.client), p.end.server.Sub(p.begin.server), p.end.proxy.Sub(p.begin.proxy)
	system := p.end.system.Sub(p.begin.system)
	if all := system.All(); all > 0 {
		ours := client.Add(server).Add(proxy).Add(found.client).Total()
		m[report.OtherCPU] = 100 * float64(max(0, system.Busy-ours)) / float64(all)
		m[report.Steal] = 100 * float64(system.Steal) / float64(all)
	}
	if p.contender.PID > 0 {
		m[report.RSS] = float64(p.end.memory.RSS)
		m[report.RSSGrowth] = float64(p.end.memory.Peak - p.begin.memory.RSS)
	}
	if found.Queries == 0 {
		return
	}
	if found.outside {
		client = found.client
	}
	each := func(d time.Duration) float64 { return micros(d) / float64(found.Queries) }
	m[report.ClientCPU], m[report.ServerCPU] = each(client.Total()), each(server.Total())
	if p.contender.PID == 0 {
		return
	}
	m[report.ProxyCPU], m[report.ProxyUser], m[report.ProxySystem] = each(proxy.Total()), each(proxy.User()), each(proxy.System())
	if p.begin.tellsAllocations && p.end.tellsAllocations && found.Queries >= allocationsQueriesMin {
		m[report.Allocations] = (p.end.allocations - p.begin.allocations) / float64(found.Queries)
	}
}

// significant returns six digits of a figure: no clock here tells more.
func significant(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
