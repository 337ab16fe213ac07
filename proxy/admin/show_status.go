package admin

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/proxy/observe"
)

var statusTable = table{
	name: "status", about: "Counters and state of the whole proxy", like: "Variable_name",
	columns: texts("Variable_name", "Value"), rows: statusRows,
}

func statusRows(v *view) (rows [][]any) {
	add := func(name, value string) { rows = append(rows, []any{name, value}) }
	count := func(name string, n uint64) { add(name, strconv.FormatUint(n, 10)) }
	t := v.a.shared.Stats.Totals()
	add("Uptime", strconv.Itoa(int(time.Since(v.a.shared.Started).Seconds())))
	add("Started", v.a.shared.Started.Format(time.RFC3339))
	count("Config_generation", v.snap.Generation)
	state := "online"
	pause := v.a.shared.Pause.State()
	if v.a.shared.Draining.Load() {
		state = "draining"
	} else if !pause.Since.IsZero() {
		state = "paused"
	} else if v.a.Offline() {
		state = "offline"
	}
	add("State", state)
	paused := 0
	if !pause.Since.IsZero() {
		paused = int(time.Since(pause.Since).Seconds())
	}
	add("Paused_seconds", strconv.Itoa(paused))
	add("Paused_statements", strconv.Itoa(pause.Waiting))
	count("Paused_statements_failed", pause.Timeouts)
	add("Under_way", strconv.Itoa(v.a.underWay(v.who)))
	add("Profile_labels", map[bool]string{true: "on", false: "off"}[v.a.shared.Labels.Switched()])
	add("Continuous_profile", v.a.shared.Snapshot.Load().Config.ContinuousProfile.String())
	add("Sessions", strconv.Itoa(v.a.shared.Sessions.Len()))
	count("Commands", commands(t))
	count("Commands_per_second", v.a.history.commandsPerSecond())
	if n := t.Commands["COM_QUERY"] + t.Commands["COM_STMT_EXECUTE"]; n > 0 {
		add("Command_microseconds_mean", strconv.FormatUint(t.Latency.Nanos/n/1000, 10))
	}
	count("Rows", t.Rows)
	count("Row_bytes", t.Bytes)
	count("Replica_reads", t.ReplicaReads)
	for k, name := range observe.ReplayNames {
		count("Transaction_replays_"+name, t.Replays[k])
	}
	count("Scattered_statements", t.Scattered)
	count("Cross_shard_warned", t.CrossWarned)
	count("Cross_shard_denied", t.CrossDenied)
	count("Finish_rows", t.FinishRows)
	count("Finish_bytes", t.FinishBytes)
	count("Finish_bytes_now", uint64(v.a.shared.Stats.Collected.Used()))
	count("Connection_deadlocks", t.Deadlocks)
	count("Row_lock_deadlocks", t.RowDeadlocks)
	count("Row_lock_retries", t.LockRetries)
	count("Rows_moved", t.RowsMoved)
	count("Best_effort_transactions", t.BestEffort)
	add("Atomic_transactions", v.a.atomicTransactions())
	ended := v.a.shared.Atomic.Stats()
	count("Atomic_reads", ended.Reads)
	count("Atomic_read_retries", ended.ReadRetries)
	count("Atomic_reads_given_up", ended.ReadsGivenUp)
	count("Unfinished_DDL", uint64(v.a.shared.DDL.Unfinished()))
	up, down, pausedNodes := 0, 0, 0
	for _, n := range v.snap.InOrder() {
		if n.Primary.Duty.Paused() {
			pausedNodes++
		}
		for _, i := range n.Instances() {
			if i.State() == backend.Down {
				down++
			} else {
				up++
			}
		}
	}
	add("Nodes", strconv.Itoa(len(v.snap.Nodes)))
	add("Nodes_paused", strconv.Itoa(pausedNodes))
	add("Instances_in_use", strconv.Itoa(up))
	add("Instances_down", strconv.Itoa(down))
	for _, group := range []struct {
		name   string
		counts map[string]uint64
	}{{"Errors_", t.Errors}, {"Commands_", t.Commands}, {"Session_ends_", v.a.shared.Ends.Totals()}, {"Pins_", v.a.shared.Pins.Totals()}} {
		for _, key := range slices.Sorted(maps.Keys(group.counts)) {
			count(group.name+key, group.counts[key])
		}
	}
	return rows
}
