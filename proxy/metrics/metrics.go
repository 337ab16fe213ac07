// Package metrics exports what the sessions and pools count to Prometheus. Start with [New]; everything is read when it
// is scraped, so counting costs the query path nothing but its own counters.
package metrics

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/querylog"
	"kingshard/proxy/sequence"
	"kingshard/proxy/session"
	"kingshard/proxy/subtables"
)

// Registry collects from one server.
type Registry struct {
	shared    *session.Shared
	subTables *subtables.Maker
	registry  *prometheus.Registry
}

// New makes the registry of a server, with the Go runtime's metrics.
func New(shared *session.Shared, subTables *subtables.Maker) *Registry {
	r := &Registry{shared: shared, subTables: subTables, registry: prometheus.NewRegistry()}
	r.registry.MustRegister(r, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Handler serves the exposition: as text or, to who asks for that, as protobuf, which has the native histograms.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("kingshard_"+name, help, labels, nil)
}

var (
	descCommands = desc("commands_total", "Commands answered, by the manual's name.", "command")
	descErrors   = desc("errors_total", "Errors that clients heard, by where they came from.", "origin")
	descEnds     = desc("session_ends_total", "Sessions that ended, by reason.", "reason")
	descAtomic   = desc("atomic_changes_total", "Changes of several nodes that all keep or none, by how they ended: committed, rolled_back, unknown.", "end")
	descResolved = desc("atomic_resolved_total", "Branches that were left behind and that this proxy ended, by how: commit, rollback.", "as")
	descPhases   = desc("atomic_phase_seconds_total", "How long changes of several nodes, which all keep or none, were in each phase of their commits.", "phase")
	descOperator = desc("atomic_operator_total", "Branches that were ended as an operator decided, by how: commit, rollback.", "as")
	descPins     = desc("pins_total", "Times a session began to hold a backend connection beyond a transaction, by reason.", "reason")
	descReplays  = desc("transaction_replays_total", "Open transactions that were replayed, as transaction_replay says, by what came of it: done; differed, an answer was another one than the client had heard; failed, there was no connection.", "outcome")
	descFresh    = desc("replica_consistency_reads_total", "Reads that had to find what was changed, as replica_consistency says, by where they found it: at_once, on a replica that was known to have it; waited, on one that was asked; primary.", "outcome")
	descLatency  = desc("command_seconds", "Time from a command's arrival to its last byte sent, of queries and executions.")
	descParts    = desc("statement_seconds", "What that time is made of: the proxy's own until it has a connection, waiting for one in the pool, and the rest with the backend.", "class", "part")

	descLookups     = desc("index_lookups_total", "Queries that asked a key over shards first, by what it told: found, the shards that have rows; nowhere, that no row has the value; everywhere, nothing, so that all shards were asked.", "outcome")
	descRuleHits    = desc("query_rule_hits_total", "Statements that a query rule was found to match, those of a dry run too.", "rule")
	descThrottled   = desc("query_rule_throttled_total", "Statements that a query rule refused because their wait for a place would have been too long.", "rule")
	descMirrored    = desc("query_rule_mirrored_total", "Statements that a query rule sends to another node, too, by what became of that.", "rule", "outcome")
	descRefusals    = desc("user_refusals_total", "Connections and statements refused, and answers cut off, because of a limit of their user, by the key of user_list.", "user", "limit")
	descUsage       = desc("user_commands_total", "Commands of users that ended, by the key of user_list, command (one that carries a statement, or other), plan and outcome; an error has an origin.", "user", "command", "plan", "outcome", "origin")
	descCrossShard  = desc("cross_shard_statements_total", "Statements whose rows are brought together from several shards, by what cross_shard did: warned their client, or denied them.", "outcome")
	descSpansLost   = desc("trace_spans_dropped_total", "Spans that were dropped, by why: the queue was full, or the collector did not take them.", "reason")
	descLogLines    = desc("log_lines_total", "Lines for the statement log and the audit log.", "log")
	descLogDropped  = desc("log_dropped_total", "Lines of them that were dropped as the disk did not keep up.", "log")
	descLogFailures = desc("log_write_failures_total", "Writes to them that failed, each with all lines that waited.", "log")
)

// Describe sends no descriptions: which metrics there are follows from the configuration.
func (r *Registry) Describe(chan<- *prometheus.Desc) {}

// Collect reads all counters.
func (r *Registry) Collect(ch chan<- prometheus.Metric) {
	gauge := func(name, help string, v float64) {
		ch <- prometheus.MustNewConstMetric(desc(name, help), prometheus.GaugeValue, v)
	}
	counted := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	counter := func(name, help string, v uint64) { counted(desc(name, help), v) }
	gauge("sessions", "Client connections open now.", float64(r.shared.Sessions.Len()))
	gauge("processors", "Processors that the proxy runs on now, as many as its load needs.", float64(r.shared.Processors.Load()))
	pause := r.shared.Pause.State()
	gauge("paused", "1 while an operator has paused the proxy, else 0.", oneIf(!pause.Since.IsZero()))
	gauge("paused_statements", "Statements that wait for the end of a pause now.", float64(pause.Waiting))
	counter("paused_statements_failed_total", "Statements that failed as they waited too long for the end of a pause.", pause.Timeouts)
	snap := r.shared.Snapshot.Load()
	gauge("config_generation", "Number of configurations brought into force since the start.", float64(snap.Generation))
	t := r.shared.Stats.Totals()
	for name, n := range t.Commands {
		counted(descCommands, n, name)
	}
	for name, n := range t.Errors {
		counted(descErrors, n, name)
	}
	for name, n := range r.shared.Ends.Totals() {
		counted(descEnds, n, name)
	}
	counter("sessions_taken_over_total", "Sessions that came from the process of another binary, in an upgrade.", t.Adopted)
	for name, n := range r.shared.Pins.Totals() {
		counted(descPins, n, name)
	}
	counter("rows_total", "Rows forwarded to clients.", t.Rows)
	counter("row_bytes_total", "Bytes of rows forwarded to clients.", t.Bytes)
	counter("replica_reads_total", "Statements that a replica served.", t.ReplicaReads)
	for k, name := range observe.ReplayNames {
		counted(descReplays, t.Replays[k], name)
	}
	for k, name := range observe.FreshNames {
		counted(descFresh, t.Fresh[k], name)
	}
	counter("scattered_statements_total", "Statements that ran on several shards.", t.Scattered)
	counted(descCrossShard, t.CrossWarned, "warned")
	counted(descCrossShard, t.CrossDenied, "denied")
	counter("finish_rows_total", "Rows collected on one server from others, to finish statements there.", t.FinishRows)
	counter("finish_bytes_total", "Bytes of the INSERTs of rows collected on one server from others, to finish statements there.", t.FinishBytes)
	gauge("finish_bytes", "What statements under way have collected now, in temporary tables or in the proxy; finish_total_bytes bounds it.", float64(r.shared.Stats.Collected.Used()))
	counter("finish_refused_total", "Statements for whose rows there was no room within finish_total_bytes.", r.shared.Stats.Collected.Refused())
	counter("fast_lane_statements_total", "Statements that the fast lane sent to a server.", t.Looped)
	counter("pipelined_statements_total", "Statements that shared a backend connection with others'.", t.Shared)
	counter("pipelined_late_total", "Statements among them that took long, failed or had warnings.", t.Late)
	counter("fast_lane_handovers_total", "Times that the fast lane handed a session to a goroutine.", t.Handed)
	if r.shared.Lanes != nil {
		counter("fast_lane_writes_together_total", "Writes of the fast lane that were made together with others by one system call.", r.shared.Lanes.Gathered())
	}
	counter("connection_deadlocks_total", "Transactions rolled back because sessions waited for each other's connections to several nodes.", t.Deadlocks)
	gauge("client_packet_bytes", "Memory that clients' long packets take now; packet_memory bounds it.", float64(r.shared.Packets.Used()))
	gauge("prepared_statement_bytes", "Memory that the texts of clients' prepared statements take; packet_memory bounds it, too.", float64(r.shared.Statements.Used()))
	counter("prepared_statements_refused_total", "Prepared statements of clients for which there was no room within packet_memory.", r.shared.Statements.Refused())
	counter("client_packets_refused_total", "Packets of clients for which there was no room within packet_memory.", r.shared.Packets.Refused())
	counter("row_lock_deadlocks_total", "Changes of several nodes rolled back because they waited for each other's row locks across the nodes.", t.RowDeadlocks)
	counter("best_effort_transactions_total", "Transactions with changes on several nodes that committed one behind the other, as transaction_mode best_effort has them.", t.BestEffort)
	counter("row_lock_retries_total", "Times that a change of several nodes began anew because a row lock was not had in time.", t.LockRetries)
	counter("rows_moved_total", "Rows that an UPDATE gave a sharding key of another shard, and that were taken there.", t.RowsMoved)
	counter("sub_tables_made_total", "Sub-tables of date rules with auto_create that were made.", r.subTables.Made())
	counter("sub_table_failures_total", "Attempts in vain to make a sub-table, or to ask a node for those that it has.", r.subTables.Failed())
	gauge("ddl_unfinished", "DDL statements on sharded tables that are not done on every physical table.", float64(r.shared.DDL.Unfinished()))
	var ids sequence.Status
	for _, s := range r.shared.Sequences.List() {
		ids.Drawn, ids.Blocks, ids.Collisions = ids.Drawn+s.Drawn, ids.Blocks+s.Blocks, ids.Collisions+s.Collisions
	}
	counter("sequence_ids_total", "Ids drawn for AUTO_INCREMENT columns of sharded tables.", ids.Drawn)
	counter("sequence_blocks_total", "Blocks of ids that were reserved: round trips for ids.", ids.Blocks)
	counter("sequence_collisions_total", "Drawn ids that a shard had already, so that others were drawn.", ids.Collisions)
	indexed := &r.shared.Indexes.Counts
	counted(descLookups, indexed.Found.Load(), "found")
	counted(descLookups, indexed.Nowhere.Load(), "nowhere")
	counted(descLookups, indexed.Everywhere.Load(), "everywhere")
	counter("index_changes_total", "Statements that changed rows together with entries of keys over shards.", indexed.Changes.Load())
	gauge("index_builds", "KS INDEX BUILD that this proxy runs now, one for each key.", float64(indexed.Builds.Load()))
	counter("index_build_rows_total", "Rows that KS INDEX BUILD of this proxy has given their entries.", indexed.Rows.Load())
	gauge("index_faults", "Faults of keys over shards that the last KS INDEX VERIFY of each, at any proxy, has found and left: SHOW KS INDEXES.", float64(r.shared.Indexes.Faults(snap.Ruled())))
	half := r.shared.HalfDone.Stats()
	gauge("half_done_changes", "Changes of several nodes that are not known to be whole, and that nobody has forgotten: SHOW KS HALF_DONE.", float64(half.Unmended))
	counter("half_done_changes_total", "Changes of several nodes that were not known to be whole when they ended.", half.Added)
	gauge("half_done_unwritten", "Records of them that are in memory only, and would not outlive the proxy.", float64(half.Unwritten))
	counter("half_done_write_failures_total", "Times that the file of those records could not be read or written.", half.Failures)
	ended := r.shared.Atomic.Stats()
	for end, n := range map[string]uint64{"committed": ended.Committed, "rolled_back": ended.RolledBack, "unknown": ended.Unknown} {
		counted(descAtomic, n, end)
	}
	ch <- prometheus.MustNewConstMetric(desc("atomic_commit_seconds_total", "Time that changes of several nodes, which all keep or none, took to commit."), prometheus.CounterValue, ended.Time.Seconds())
	counter("atomic_background_total", "Branches of such changes that were committed behind the client's answer.", ended.Background)
	counter("atomic_fenced_total", "Such changes that were left behind, and that this proxy decided to roll back.", ended.Fenced)
	counted(descResolved, ended.ResolvedCommits, "commit")
	counted(descResolved, ended.ResolvedRollbacks, "rollback")
	gauge("atomic_in_doubt", "Branches that were prepared when this proxy looked last.", float64(ended.InDoubt))
	gauge("atomic_in_doubt_oldest_seconds", "How long the oldest of them has been seen.", ended.Oldest.Seconds())
	gauge("atomic_waiting", "Those of them of which an operator has to decide: KS RESOLVE.", float64(ended.Waiting))
	gauge("atomic_committing", "Changes of several nodes that this proxy is committing, also behind their clients' answers: SHOW KS TRANSACTIONS.", float64(ended.Ongoing))
	for phase, d := range ended.Phases {
		ch <- prometheus.MustNewConstMetric(descPhases, prometheus.CounterValue, d.Seconds(), strings.ReplaceAll(phase, " ", "_"))
	}
	counted(descOperator, ended.OperatorCommits, "commit")
	counted(descOperator, ended.OperatorRollbacks, "rollback")
	counter("atomic_reads_total", "Reads of several nodes that show all of each transaction over nodes or nothing, and transactions that begin with a snapshot which does.", ended.Reads)
	counter("atomic_read_retries_total", "Times that snapshots were taken anew for them, as the ones before showed a part of a transaction.", ended.ReadRetries)
	counter("atomic_reads_given_up_total", "Those of them that failed with error 1213, as all snapshots showed a part.", ended.ReadsGivenUp)
	gauge("atomic_incidents", "What was found that no proxy can mend, and that nobody has closed: SHOW KS INCIDENTS.", float64(r.shared.Atomic.Incidents.Open()))
	counter("atomic_incidents_total", "What was found that no proxy can mend; the log names each.", r.shared.Atomic.Incidents.Total())
	classic := snap.Config.ClassicHistograms
	ch <- histogramOf(descLatency, &t.Latency, classic)
	for class, name := range observe.ClassNames {
		for part, of := range observe.PartNames {
			ch <- histogramOf(descParts, &t.Parts[class][part], classic, name, of)
		}
	}
	for _, rule := range snap.Rules.Rules() {
		counted(descRuleHits, rule.Hits(), rule.Name)
		counted(descThrottled, rule.Throttled(), rule.Name)
		if rule.Mirror != "" {
			counted(descMirrored, rule.Mirrored.Sent.Load(), rule.Name, "sent")
			counted(descMirrored, rule.Mirrored.Failed.Load(), rule.Name, "failed")
			counted(descMirrored, rule.Mirrored.Dropped.Load(), rule.Name, "dropped")
		}
	}
	snap.Accounts.Refusals(func(user string, l account.Limit, n uint64) { counted(descRefusals, n, user, l.String()) })
	observe.Usages(snap.Accounts, func(u observe.Usage) {
		counted(descUsage, u.N, u.User, u.Command, u.Plan, u.Outcome, u.Origin)
	})
	failures := r.shared.Failures.Counts()
	counter("login_failures_total", "Logins that failed, of the HTTP administration too: wrong user, password or token.", failures.Failed)
	counter("login_delays_total", "Answers to them that were delayed.", failures.Delayed)
	counter("login_turns_total", "Logins whose password was looked at in turn, as many from their address failed.", failures.Queued)
	counter("login_refusals_total", "Logins refused without a look at their password, as too many of their address waited for their turn.", failures.Refused)
	gauge("login_delays", "Answers to failed logins that wait now.", float64(failures.Held))
	gauge("login_failure_sources", "Addresses remembered for failed logins.", float64(failures.Sources))
	q := r.shared.Queries.Stats()
	gauge("digests", "Statements that statistics are kept of now.", float64(q.Digests))
	counter("digest_evictions_total", "Statements whose statistics went under those of others, to make room.", q.Evicted)
	spans := r.shared.Spans.Stats()
	counter("trace_spans_total", "Spans of traced statements that the collector took.", spans.Sent)
	counted(descSpansLost, spans.Full, "queue")
	counted(descSpansLost, spans.Failed, "collector")
	counter("trace_parents_refused_total", "Statements that were not traced although their client's trace is, as there were more than max_parents.", spans.Refused)
	for name, w := range map[string]querylog.WriterStats{"sql": q.SQL, "audit": q.Audit} {
		counted(descLogLines, w.Lines, name)
		counted(descLogDropped, w.Dropped, name)
		counted(descLogFailures, w.Failures, name)
	}
	for _, n := range snap.Nodes {
		collectFallback(ch, n)
		for _, i := range n.Instances() {
			collectInstance(ch, i)
		}
	}
}
