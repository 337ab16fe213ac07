package main

import (
	"os"
	"time"

	"kingshard/bench/procstat"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// tpccCPU is the processor time that programs used within the measured time.
type tpccCPU struct {
	client, servers, proxy time.Duration
	err                    error // the first failure to read
}

// read adds what the programs have used up to now, -1 times at the begin and 1 times at the end.
func (c *tpccCPU) read(cluster *rig.Cluster, times time.Duration) {
	servers, proxy := cluster.PIDs()
	c.client += times * c.of(os.Getpid())
	for _, pid := range servers {
		c.servers += times * c.of(pid)
	}
	if proxy > 0 {
		c.proxy += times * c.of(proxy)
	}
}

func (c *tpccCPU) of(pid int) time.Duration {
	used, err := procstat.ReadCPU(pid)
	if err != nil && c.err == nil {
		c.err = err
	}
	return used.Total()
}

// add puts into m what each of n transactions took.
func (c *tpccCPU) add(m map[report.Metric]float64, n uint64, proxied bool) {
	if n == 0 {
		return
	}
	each := func(d time.Duration) float64 { return tenths(micros(d) / float64(n)) }
	m[report.ClientCPU], m[report.ServerCPU] = each(c.client), each(c.servers)
	if proxied {
		m[report.ProxyCPU] = each(c.proxy)
	}
}
