package observe

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/querylog"
	"kingshard/proxy/tracing"
	"kingshard/proxy/tracing/tracingtest"
)

// attribute returns a span's attribute as text; "" without it.
func attribute(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return fmt.Sprint(a.Value)
		}
	}
	return ""
}

// The span of a command says what it did, and has one below it for each shard, wait and statement of the proxy's own, which end with what
// came of them.
func TestTraceOfTwoShards(t *testing.T) {
	var mu sync.Mutex
	var spans []*tracepb.Span
	server := tracingtest.Serve(t, func(_ http.ResponseWriter, r *tracingtest.Request) {
		mu.Lock()
		defer mu.Unlock()
		spans = append(spans, r.Spans()...)
	})
	e := &tracing.Exporter{Log: slog.New(slog.DiscardHandler)}
	tr := e.Apply(&config.Tracing{Endpoint: server.URL, SampleRatio: 1})
	var choice tracing.Choice
	if !ChooseQuery(tr, &choice, nil, "SELECT a FROM t") {
		t.Fatal("not chosen")
	}
	one, two := &backend.Instance{Node: "n1", Addr: "h1:1"}, &backend.Instance{Node: "n2", Addr: "h2:2"}
	c := New(new(Stats), 7)
	c.Begin()
	c.BeginTrace(tr, choice, tracing.Command{Name: "COM_QUERY", Text: "SELECT a FROM t", User: "mary", Conn: 7, Begin: time.Now()})
	if !c.Traced() {
		t.Error("not traced")
	}
	EndSpan(c.WaitSpan(one, "d"), pool.ErrTimeout)
	EndSpan(c.OwnSpan(two, "d", "COMMIT"), &mysql.SQLError{Code: 1213})
	c.Spread(querylog.PlanMerge, 2)
	for k, i := range []*backend.Instance{one, two} {
		c.Exchange(i, time.Now())
		span := c.ShardSpan(i, "d", "SELECT a FROM t_0001")
		c.Forward(3, 30)
		if k == 1 {
			c.Fail(1054, OriginBackend)
		}
		c.EndResponse(span, k == 1, nil)
	}
	c.EndTrace("cursor", true, "")
	if c.Traced() || c.ShardSpan(one, "", "") != nil {
		t.Error("traced after its end")
	}
	e.Close()

	slices.SortFunc(spans, func(a, b *tracepb.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	var got []string
	var root *tracepb.Span
	for _, s := range spans {
		if len(s.ParentSpanId) == 0 {
			root = s
		}
		got = append(got, s.Name+" "+attribute(s, "kingshard.node")+" "+attribute(s, "error.type"))
	}
	want := []string{
		"SELECT t  " + text("1054"), "kingshard.pool_wait " + text("n1") + " " + text("pool_timeout"), "COMMIT " + text("n2") + " " + text("1213"),
		"SELECT t " + text("n1") + " ", "SELECT t " + text("n2") + " " + text("1054"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("spans %q\nwant  %q", got, want)
	}
	if root == nil {
		t.Fatal("no root")
	}
	for key, want := range map[string]string{
		"kingshard.plan": text("merge"), "kingshard.shards": "int_value:2", "db.response.returned_rows": "int_value:6",
		"kingshard.pins": text("cursor"), "kingshard.in_transaction": "bool_value:true", "kingshard.user": text("mary"),
	} {
		if got := attribute(root, key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	for _, s := range spans {
		if s != root && string(s.ParentSpanId) != string(root.SpanId) {
			t.Errorf("%s is not below the command", s.Name)
		}
	}
}

// text is the value of an attribute as it is printed.
func text(s string) string { return fmt.Sprintf("string_value:%q", s) }

// What no server said of an error has a word of a small set.
func TestKindOfError(t *testing.T) {
	for _, of := range []struct {
		err  error
		want string
	}{
		{pool.ErrTimeout, "pool_timeout"}, {fmt.Errorf("wrapped: %w", pool.ErrCancelled), "cancelled"}, {backend.ErrDown, "instance_down"},
		{&mysql.ConnError{Side: mysql.ClientSide}, "client_connection"}, {&mysql.ConnError{Side: mysql.BackendSide}, "backend_connection"},
		{fmt.Errorf("anything"), "_OTHER"},
	} {
		if got := kindOfError(of.err); got != of.want {
			t.Errorf("%v: %s, want %s", of.err, got, of.want)
		}
	}
}
