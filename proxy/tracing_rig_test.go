package proxy_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/tracing/tracingtest"
)

// collector takes spans as an OpenTelemetry collector does, and keeps them by trace.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	traces   map[string][]*tracepb.Span
	resource map[string]string // of the last request
	header   http.Header
	raw      strings.Builder // all bodies
}

func startCollector(t testing.TB) *collector {
	c := &collector{traces: map[string][]*tracepb.Span{}}
	c.Server = tracingtest.Serve(t, func(_ http.ResponseWriter, r *tracingtest.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.header = r.Header
		c.raw.Write(r.Raw)
		for _, from := range r.Data.ResourceSpans {
			c.resource = values(from.Resource.Attributes)
		}
		for _, s := range r.Spans() {
			id := hex.EncodeToString(s.TraceId)
			c.traces[id] = append(c.traces[id], s)
		}
	})
	return c
}

// received is all that came, as it came.
func (c *collector) received() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []byte(c.raw.String())
}

// config is the section of the configuration for this collector.
func (c *collector) config(more string) string {
	return fmt.Sprintf("tracing: {endpoint: %q, headers: {x-api-key: sesame-canary}%s}", c.URL, more)
}

// trace waits for the traced command of a trace and gives its span, and those below it in the order of their ends.
func (c *collector) trace(t testing.TB, id string) (root *tracepb.Span, children []*tracepb.Span) {
	t.Helper()
	mysqltest.WaitFor(t, "trace "+id, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.traces[id] {
			if s.Kind == tracepb.Span_SPAN_KIND_SERVER {
				root = s
			}
		}
		return root != nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.traces[id] {
		if s == root {
			continue
		}
		if string(s.ParentSpanId) != string(root.SpanId) || s.StartTimeUnixNano < root.StartTimeUnixNano || s.EndTimeUnixNano > root.EndTimeUnixNano {
			t.Errorf("%s is not within its command's span", s.Name)
		}
		children = append(children, s)
	}
	return root, children
}

// known tells whether anything of a trace has come.
func (c *collector) known(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.traces[id] != nil
}

// byName gives the spans of a name.
func byName(spans []*tracepb.Span, name string) (list []*tracepb.Span) {
	for _, s := range spans {
		if s.Name == name {
			list = append(list, s)
		}
	}
	return list
}

func names(spans []*tracepb.Span) (list []string) {
	for _, s := range spans {
		list = append(list, s.Name)
	}
	return list
}

// values shows attributes as texts.
func values(list []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[a.Key] = fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			all[a.Key] = fmt.Sprint(v.BoolValue)
		}
	}
	return all
}

// wants fails the test unless a span has the attributes given as key, value, key, value; "" stands for none.
func wants(t testing.TB, s *tracepb.Span, pairs ...string) {
	t.Helper()
	all := values(s.Attributes)
	for k := 0; k < len(pairs); k += 2 {
		if got := all[pairs[k]]; got != pairs[k+1] {
			t.Errorf("%s: %s is %q, want %q", s.Name, pairs[k], got, pairs[k+1])
		}
	}
}

var parents atomic.Uint64

const clientSpan = "c532cb4098ac3dd2"

// newParent gives a client's trace and its traceparent, sampled or not.
func newParent(sampled bool) (trace, parent string) {
	trace = fmt.Sprintf("%032x", 1<<32+parents.Add(1))
	flags := "00"
	if sampled {
		flags = "01"
	}
	return trace, "00-" + trace + "-" + clientSpan + "-" + flags
}

// commented puts a traceparent behind a statement as sqlcommenter does.
func commented(text, parent string) string {
	return text + " /*controller='index',traceparent='" + parent + "'*/"
}
