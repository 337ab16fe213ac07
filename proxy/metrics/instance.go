package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"kingshard/backend"
	"kingshard/backend/pool"
)

// instanceLabels name an instance: its address is "backend", as in sql.log, since Prometheus puts the address of the proxy into a label
// "instance" of every series and would rename ours.
var instanceLabels = []string{"node", "backend", "role"}

func instanceDesc(name, help string, more ...string) *prometheus.Desc {
	return desc(name, help, append(append([]string(nil), instanceLabels...), more...)...)
}

var (
	descUp          = instanceDesc("instance_up", "1 when the last health check found the instance alive, 0 when it is down or not known yet.")
	descLag         = instanceDesc("replica_lag_seconds", "Seconds that a replica is behind the primary, as heartbeats tell, else as it says; absent while that is not known.")
	descPassedOver  = instanceDesc("replica_passed_over", "1 when reads pass the replica over because it is behind by more than max_replica_lag, or does not tell, else 0.")
	descStatements  = instanceDesc("instance_statements_total", "Statements of clients that the instance was sent; one on several shards counts with each of them.")
	descFailed      = instanceDesc("instance_errors_total", "Of them, those that it answered with an error, or not at all.")
	descBusy        = instanceDesc("instance_busy_seconds_total", "Time from the sending of each to the end of its answer.")
	descAnswered    = instanceDesc("instance_answer_bytes_total", "Bytes of their answers.")
	descRetired     = instanceDesc("replica_retired", "1 when reads pass the replica over because it takes writes though another server is the primary, or is outside of the group that the others are in, else 0.")
	descWithheld    = instanceDesc("primary_withheld", "1 when nothing is sent to the primary, as it is not known to be it, gives its role up, or an operator has paused the node, else 0.")
	descHeld        = instanceDesc("held_statements", "Statements that wait for the node's primary now.")
	descHeldTotal   = instanceDesc("held_statements_total", "Statements that waited for the node's primary, or came when too many did, by what became of them.", "outcome")
	descPoolMax     = instanceDesc("pool_connections_max", "Ceiling of connections to the instance.")
	descPoolUseMax  = instanceDesc("pool_connections_in_use_max", "How many connections to the instance statements may use at a time: the ceiling, or what was found from adaptive_conns_limit on.")
	descPoolOpen    = instanceDesc("pool_connections_open", "Connections open to the instance.")
	descPoolInUse   = instanceDesc("pool_connections_in_use", "Connections that sessions hold now.")
	descPoolWaiting = instanceDesc("pool_waiting", "Statements that wait for a connection now.")
	descPoolGets    = instanceDesc("pool_gets_total", "Requests for a connection, by outcome.", "outcome")
	descPoolWait    = instanceDesc("pool_wait_seconds_total", "Time that requests waited for a connection, by outcome.", "outcome")
	descPoolClosed  = instanceDesc("pool_closed_total", "Connections closed, by cause.", "cause")
	descPoolDials   = instanceDesc("pool_dial_failures_total", "Connections that could not be opened.")
	descNames       = instanceDesc("name_lookup_failures_total", "Times that the addresses of the instance's name could not be looked up.")
)

// collectInstance sends the counts of one instance and its pool.
func collectInstance(ch chan<- prometheus.Metric, i *backend.Instance) {
	labels := []string{i.Node, i.Addr, i.Role.String()}
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, more ...string) {
		ch <- prometheus.MustNewConstMetric(d, t, v, append(labels[:3:3], more...)...)
	}
	send(descUp, prometheus.GaugeValue, oneIf(i.State() == backend.Up))
	if i.Role == backend.Replica {
		if l, _ := i.Lag(); l.Known {
			send(descLag, prometheus.GaugeValue, l.Behind.Seconds())
		}
		send(descPassedOver, prometheus.GaugeValue, oneIf(i.PassedOver()))
		send(descRetired, prometheus.GaugeValue, oneIf(i.Duty.Retired()))
	} else {
		h := i.Hold.Stats()
		send(descWithheld, prometheus.GaugeValue, oneIf(i.Duty.Withheld()))
		send(descHeld, prometheus.GaugeValue, float64(h.Waiting))
		send(descHeldTotal, prometheus.CounterValue, float64(h.Served), "served")
		send(descHeldTotal, prometheus.CounterValue, float64(h.Expired), "expired")
		send(descHeldTotal, prometheus.CounterValue, float64(h.Refused), "refused")
	}
	l := i.Load()
	send(descStatements, prometheus.CounterValue, float64(l.Statements))
	send(descFailed, prometheus.CounterValue, float64(l.Errors))
	send(descBusy, prometheus.CounterValue, l.Busy.Seconds())
	send(descAnswered, prometheus.CounterValue, float64(l.Bytes))
	st := i.Stats()
	send(descPoolMax, prometheus.GaugeValue, float64(st.Max))
	send(descPoolUseMax, prometheus.GaugeValue, float64(st.Limit))
	send(descPoolOpen, prometheus.GaugeValue, float64(st.Open))
	send(descPoolInUse, prometheus.GaugeValue, float64(st.InUse))
	send(descPoolWaiting, prometheus.GaugeValue, float64(st.Waiting))
	for o, c := range st.Gets {
		outcome := pool.Outcome(o).String()
		send(descPoolGets, prometheus.CounterValue, float64(c.N), outcome)
		send(descPoolWait, prometheus.CounterValue, c.Wait.Seconds(), outcome)
	}
	for c, n := range st.Closed {
		send(descPoolClosed, prometheus.CounterValue, float64(n), pool.CloseCause(c).String())
	}
	send(descPoolDials, prometheus.CounterValue, float64(st.DialFailures))
	send(descNames, prometheus.CounterValue, float64(i.Name.Failures()))
}

var (
	descFallback        = desc("fallback_reads", "Reads that the primary serves now because no replica of the node can.", "node")
	descFallbackRefused = desc("fallback_reads_refused_total", "Those that were refused, as such reads had half of the primary's connections for too long.", "node")
)

// collectFallback sends the counts of the reads that a node's primary serves in place of its replicas.
func collectFallback(ch chan<- prometheus.Metric, n *backend.Node) {
	st := n.Fallback.Stats()
	ch <- prometheus.MustNewConstMetric(descFallback, prometheus.GaugeValue, float64(st.InUse), n.Name)
	refused := st.Gets[pool.Rejected].N + st.Gets[pool.TimedOut].N
	ch <- prometheus.MustNewConstMetric(descFallbackRefused, prometheus.CounterValue, float64(refused), n.Name)
}

// oneIf is a truth as a number.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
