package metrics

import (
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/session"
	"kingshard/proxy/subtables"
	"kingshard/proxy/txn/driver"
)

// accounts are those of the user u.
func accounts(t *testing.T) *account.Store {
	t.Helper()
	s, err := account.New(&config.Config{UserList: []config.User{{User: "u", Password: "p"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scrape gives the exposition of a server without listeners, with one node that nobody can reach.
func scrape(t *testing.T, change func(*session.Shared)) string {
	t.Helper()
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2@3", MaxConnsLimit: 7}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["n"].Close)
	shared := &session.Shared{Atomic: driver.New(slog.New(slog.DiscardHandler), false, nil)}
	shared.Snapshot.Store(&session.Snapshot{Config: config.Default(), Accounts: accounts(t), Nodes: nodes, Generation: 4})
	if change != nil {
		change(shared)
	}
	w := httptest.NewRecorder()
	New(shared, new(subtables.Maker)).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Every kind of metric is there from the first scrape on, with every value of its label: a graph has no holes.
func TestMetricsAreAllThere(t *testing.T) {
	text := scrape(t, nil)
	for _, line := range []string{
		"kingshard_sessions 0",
		"kingshard_paused 0", "kingshard_paused_statements 0", "kingshard_paused_statements_failed_total 0",
		"kingshard_config_generation 4",
		"kingshard_half_done_changes 0", "kingshard_half_done_changes_total 0", "kingshard_half_done_unwritten 0", "kingshard_half_done_write_failures_total 0",
		"kingshard_atomic_in_doubt 0", "kingshard_atomic_waiting 0", "kingshard_atomic_committing 0", "kingshard_atomic_incidents 0", "kingshard_atomic_incidents_total 0",
		`kingshard_atomic_phase_seconds_total{phase="preparing"} 0`, `kingshard_atomic_phase_seconds_total{phase="rolling_back"} 0`, `kingshard_atomic_operator_total{as="commit"} 0`,
		`kingshard_index_lookups_total{outcome="found"} 0`, `kingshard_index_lookups_total{outcome="nowhere"} 0`, `kingshard_index_lookups_total{outcome="everywhere"} 0`,
		"kingshard_index_changes_total 0", "kingshard_index_builds 0", "kingshard_index_build_rows_total 0", "kingshard_index_faults 0",
		"kingshard_ddl_unfinished 0", "kingshard_sub_tables_made_total 0", "kingshard_sub_table_failures_total 0",
		`kingshard_errors_total{origin="client"} 0`, `kingshard_errors_total{origin="proxy"} 0`, `kingshard_errors_total{origin="backend"} 0`,
		`kingshard_session_ends_total{reason="quit"} 0`, `kingshard_session_ends_total{reason="backend_lost"} 0`,
		`kingshard_pins_total{reason="temporary_table"} 0`,
		"kingshard_rows_total 0", "kingshard_row_bytes_total 0", "kingshard_replica_reads_total 0",
		`kingshard_replica_consistency_reads_total{outcome="at_once"} 0`, `kingshard_replica_consistency_reads_total{outcome="primary"} 0`,
		`kingshard_statement_seconds_count{class="read",part="backend"} 0`, `kingshard_statement_seconds_sum{class="write",part="pool_wait"} 0`,
		`kingshard_statement_seconds_count{class="other",part="proxy"} 0`, "kingshard_digests 0", "kingshard_digest_evictions_total 0",
		`kingshard_log_lines_total{log="sql"} 0`, `kingshard_log_dropped_total{log="audit"} 0`, `kingshard_log_write_failures_total{log="sql"} 0`,
		"kingshard_login_failures_total 0", "kingshard_login_delays_total 0", "kingshard_login_turns_total 0", "kingshard_login_refusals_total 0", "kingshard_login_delays 0", "kingshard_login_failure_sources 0",
		`kingshard_user_commands_total{command="COM_QUERY",origin="",outcome="ok",plan="forward",user="u"} 0`,
		`kingshard_user_commands_total{command="COM_STMT_EXECUTE",origin="backend",outcome="error",plan="forward",user="u"} 0`,
		"kingshard_command_seconds_count 0", "kingshard_command_seconds_sum 0",
		`kingshard_instance_up{backend="127.0.0.1:1",node="n",role="primary"} 0`,
		`kingshard_instance_up{backend="127.0.0.1:2",node="n",role="replica"} 0`,
		`kingshard_replica_passed_over{backend="127.0.0.1:2",node="n",role="replica"} 0`,
		`kingshard_pool_connections_max{backend="127.0.0.1:1",node="n",role="primary"} 7`,
		`kingshard_pool_connections_in_use_max{backend="127.0.0.1:1",node="n",role="primary"} 7`,
		`kingshard_pool_connections_open{backend="127.0.0.1:1",node="n",role="primary"} 0`,
		`kingshard_pool_gets_total{backend="127.0.0.1:1",node="n",outcome="timed_out",role="primary"} 0`,
		`kingshard_pool_wait_seconds_total{backend="127.0.0.1:2",node="n",outcome="waited",role="replica"} 0`,
		`kingshard_pool_closed_total{backend="127.0.0.1:1",cause="tainted",node="n",role="primary"} 0`,
		`kingshard_pool_dial_failures_total{backend="127.0.0.1:1",node="n",role="primary"} 0`,
		`kingshard_name_lookup_failures_total{backend="127.0.0.1:1",node="n",role="primary"} 0`,
		"kingshard_prepared_statement_bytes 0", "kingshard_prepared_statements_refused_total 0",
		`kingshard_fallback_reads{node="n"} 0`, `kingshard_fallback_reads_refused_total{node="n"} 0`,
		"# TYPE kingshard_command_seconds histogram", "# TYPE kingshard_sessions gauge", "# TYPE kingshard_rows_total counter",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	for _, runtime := range []string{"go_goroutines ", "process_open_fds "} {
		if !strings.Contains(text, "\n"+runtime) {
			t.Errorf("no %s", runtime)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(line, "# HELP kingshard_"); ok && len(strings.Fields(name)) < 3 {
			t.Errorf("no help: %s", line)
		}
	}
}

// What is shown follows the snapshot in force: its nodes and their states, and none of an old one.
func TestMetricsFollowTheSnapshot(t *testing.T) {
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "new", Master: "127.0.0.1:3", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["new"].Close()
	nodes["new"].Primary.SetState(backend.Up)
	text := scrape(t, func(shared *session.Shared) {
		snap := *shared.Snapshot.Load()
		snap.Nodes, snap.Generation = nodes, 5
		shared.Snapshot.Store(&snap)
	})
	for _, line := range []string{"kingshard_config_generation 5", `kingshard_instance_up{backend="127.0.0.1:3",node="new",role="primary"} 1`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(text, `node="n"`) {
		t.Error("a node of the old snapshot is shown")
	}
}

// one is a collector of one metric.
type one struct{ prometheus.Metric }

func (o one) Describe(ch chan<- *prometheus.Desc) { ch <- o.Desc() }
func (o one) Collect(ch chan<- prometheus.Metric) { ch <- o.Metric }

// exposeTimes gives the exposition of a histogram to who asks for a format.
func exposeTimes(classic bool, accept string) *httptest.ResponseRecorder {
	all := observe.Times{Nanos: 3_500_000_000}
	all.Buckets[0], all.Buckets[37], all.Buckets[40], all.Buckets[80], all.Buckets[len(all.Buckets)-1] = 5, 1, 1, 1, 1
	registry := prometheus.NewRegistry()
	registry.MustRegister(one{histogramOf(descLatency, &all, classic)})
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return w
}

// protobuf is what a Prometheus asks for that takes native histograms.
const protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// The native histogram has all times; the classic buckets beside it can be left out.
func TestNativeHistogram(t *testing.T) {
	for _, classic := range []bool{true, false} {
		w := exposeTimes(classic, protobuf)
		var f dto.MetricFamily
		if err := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header())).Decode(&f); err != nil {
			t.Fatal(err)
		}
		h := f.Metric[0].Histogram
		if h.GetSchema() != 2 || h.GetZeroThreshold() != 1.0/(1<<20) || h.GetZeroCount() != 5 || h.GetSampleCount() != 9 || h.GetSampleSum() != 3.5 {
			t.Errorf("%v", h)
		}
		// Index i of schema 2 ends at 2^(i/4) s.
		at, n, got := int32(0), int64(0), map[int32]int64{}
		deltas := h.PositiveDelta
		for _, span := range h.PositiveSpan {
			at += span.GetOffset()
			for range span.GetLength() {
				if n += deltas[0]; n != 0 {
					got[at] = n
				}
				deltas = deltas[1:]
				at++
			}
		}
		if want := map[int32]int64{-43: 1, -40: 1, 0: 1, 48: 1}; !maps.Equal(got, want) {
			t.Errorf("native buckets %v, want %v", got, want)
		}
		if h.CreatedTimestamp != nil {
			t.Errorf("made %v", h.CreatedTimestamp)
		}
		if len(h.Bucket) > 0 != classic {
			t.Errorf("classic %v: %d buckets", classic, len(h.Bucket))
		}
	}
	text := exposeTimes(false, "").Body.String()
	if !strings.Contains(text, "kingshard_command_seconds_count 9\n") || strings.Count(text, "_bucket") != 1 {
		t.Errorf("as text, without classic buckets:\n%s", text)
	}
}

// The buckets of the histogram are bounds in seconds, each with what is below it; the last one has all.
func TestLatencyBuckets(t *testing.T) {
	w := exposeTimes(true, "")
	for _, line := range []string{
		`kingshard_command_seconds_bucket{le="9.5367431640625e-07"} 5`, `kingshard_command_seconds_bucket{le="0.00048828125"} 5`,
		`kingshard_command_seconds_bucket{le="0.0009765625"} 7`, `kingshard_command_seconds_bucket{le="1"} 8`, `kingshard_command_seconds_bucket{le="32"} 8`,
		`kingshard_command_seconds_bucket{le="+Inf"} 9`, "kingshard_command_seconds_count 9", "kingshard_command_seconds_sum 3.5",
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, w.Body)
		}
	}
}
