package tracing

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/tracing/tracingtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error())
		code = 1
	}
	os.Exit(code)
}

// collector takes spans as an OpenTelemetry collector does.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	headers []http.Header
	// answer, if set, answers a request in the place of the plain success; false: the spans were not taken.
	answer func(w http.ResponseWriter) bool
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = tracingtest.Serve(t, func(w http.ResponseWriter, r *tracingtest.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.headers = append(c.headers, r.Header)
		if r.URL.Path != "/v1/traces" || r.Method != http.MethodPost {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if c.answer != nil && !c.answer(w) {
			return
		}
		c.spans = append(c.spans, r.Spans()...)
	})
	return c
}

func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.spans)
}

func (c *collector) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.headers)
}

func start(t *testing.T, cfg *config.Tracing) (*Exporter, *Tracer, *mysqltest.LogBuffer) {
	log := new(mysqltest.LogBuffer)
	e := &Exporter{Log: slog.New(slog.NewTextHandler(log, nil))}
	tr := e.Apply(cfg)
	if tr == nil {
		t.Fatal("no tracer")
	}
	t.Cleanup(e.Close)
	return e, tr, log
}

// statement makes the spans of one traced statement: three.
func statement(tr *Tracer, text string) {
	st := tr.Start(Choice{made: true, traced: true}, Command{Name: "COM_QUERY", Text: text, User: "app", Host: "10.0.0.1", DB: "shop", Begin: time.Now()})
	on := &Server{Addr: "10.0.0.2:3306", Node: "node1", Role: "primary"}
	st.Wait(on).End()
	st.Shard(on, text).End()
	st.End(Outcome{Plan: "forward", Shards: 1, Rows: 1})
}

func attributesOf(s *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		default:
			all[a.Key] = strings.TrimSpace(a.Value.String())
		}
	}
	return all
}

// Nothing configured is nothing at all: no tracer, no goroutine, and Close has nothing to do.
func TestOff(t *testing.T) {
	e := &Exporter{}
	if e.Apply(&config.Tracing{SampleRatio: 1}) != nil {
		t.Error("a tracer without an endpoint")
	}
	e.Close()
	e.Close()
	if e.Stats() != (Stats{}) {
		t.Error(e.Stats())
	}
	var st *Statement
	on := &Server{}
	st.Wait(on).End()
	st.Shard(on, "").Fail(1, "")
	st.Own(on, "").End()
	st.End(Outcome{})
}

// What a statement did arrives, with the request's headers, which no log shows.
func TestExport(t *testing.T) {
	c := newCollector(t)
	e, tr, log := start(t, &config.Tracing{Endpoint: c.URL, SampleRatio: 1, Headers: config.Headers{"Authorization": "canary"}})
	statement(tr, "SELECT name FROM users WHERE mail = 'canary' AND \xff = 1")
	e.Close()
	if c.count() != 3 || e.Stats() != (Stats{Sent: 3}) {
		t.Fatalf("%d spans, %+v", c.count(), e.Stats())
	}
	root := c.spans[2]
	a := attributesOf(root)
	if root.Name != "SELECT users" || root.Kind != tracepb.Span_SPAN_KIND_SERVER || a["db.query.summary"] != "SELECT users" ||
		a["db.query.text"] != "SELECT name FROM users WHERE mail = ? AND \ufffd = ?" || a["db.system.name"] != "mysql" || a["db.namespace"] != "shop" {
		t.Errorf("%v", root)
	}
	for _, s := range c.spans[:2] {
		if !bytes.Equal(s.TraceId, root.TraceId) || !bytes.Equal(s.ParentSpanId, root.SpanId) {
			t.Errorf("not a child of the root: %v", s)
		}
	}
	if c.headers[0].Get("Authorization") != "canary" || c.headers[0].Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("headers %v", c.headers[0])
	}
	if strings.Contains(log.String(), "canary") {
		t.Error(log.String())
	}
}

// Values are shown on request, but not those of a statement that may hold a password.
func TestLiterals(t *testing.T) {
	c := newCollector(t)
	e, tr, _ := start(t, &config.Tracing{Endpoint: c.URL, Literals: true})
	statement(tr, "SELECT 'value'")
	statement(tr, "SET PASSWORD FOR u = 'canary'")
	e.Close()
	if got := attributesOf(c.spans[2])["db.query.text"]; got != "SELECT 'value'" {
		t.Errorf("%q", got)
	}
	for _, s := range c.spans {
		if strings.Contains(s.String(), "canary") {
			t.Error(s)
		}
	}
}

// A collector that is away costs spans, which are counted, and one line of the log; nothing waits for it.
func TestDeadCollector(t *testing.T) {
	c := newCollector(t)
	c.Server.Close()
	e, tr, log := start(t, &config.Tracing{Endpoint: c.URL, Headers: config.Headers{"authorization": "canary"}})
	const statements = queueMax // three spans each
	for range statements {
		statement(tr, "SELECT 1")
	}
	e.Close()
	if s := e.Stats(); s.Sent != 0 || s.Full == 0 || s.Failed == 0 || s.Full+s.Failed != 3*statements {
		t.Errorf("%+v", s)
	}
	if n := strings.Count(log.String(), "did not take spans"); n != 1 || strings.Contains(log.String(), "canary") {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

// A collector that does not answer keeps Close no longer than its patience.
func TestStalledCollector(t *testing.T) {
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-hold
	}))
	defer server.Close()
	defer close(hold)
	e, tr, _ := start(t, &config.Tracing{Endpoint: server.URL})
	statement(tr, "SELECT 1")
	e.Close()
	if s := e.Stats(); s.Sent != 0 || s.Failed != 3 {
		t.Errorf("%+v", s)
	}
}

// A busy collector is asked again; what it then takes is not lost. Other errors are final.
func TestRetry(t *testing.T) {
	c := newCollector(t)
	c.answer = func(w http.ResponseWriter) bool {
		if len(c.headers) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return false
		}
		return true
	}
	e, tr, _ := start(t, &config.Tracing{Endpoint: c.URL})
	statement(tr, "SELECT 1")
	mysqltest.WaitFor(t, "the spans", func() bool { return c.count() == 3 })
	c.mu.Lock()
	c.answer = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusUnauthorized); return false }
	c.mu.Unlock()
	statement(tr, "SELECT 1")
	mysqltest.WaitFor(t, "the refusal", func() bool { return e.Stats().Failed == 3 })
	if s := e.Stats(); s.Sent != 3 || c.requests() != 3 {
		t.Errorf("%+v after %d requests", s, c.requests())
	}
}

// A redirect is not followed: the headers are for one collector only.
func TestRedirect(t *testing.T) {
	other := newCollector(t)
	c := newCollector(t)
	c.answer = func(w http.ResponseWriter) bool {
		w.Header().Set("Location", other.URL+"/v1/traces")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return false
	}
	e, tr, _ := start(t, &config.Tracing{Endpoint: c.URL, Headers: config.Headers{"authorization": "canary"}})
	statement(tr, "SELECT 1")
	e.Close()
	if other.requests() != 0 || c.requests() != 1 || e.Stats().Failed != 3 {
		t.Errorf("%d, %d, %+v", other.requests(), c.requests(), e.Stats())
	}
}

// Spans that the collector rejects are counted as such, whatever else its answer says.
func TestPartialSuccess(t *testing.T) {
	inner := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "canary")
	inner = protowire.AppendVarint(protowire.AppendTag(inner, 1, protowire.VarintType), 2)
	c := newCollector(t)
	c.answer = func(w http.ResponseWriter) bool {
		w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner))
		return true
	}
	e, tr, log := start(t, &config.Tracing{Endpoint: c.URL})
	statement(tr, "SELECT 1")
	e.Close()
	if s := e.Stats(); s.Sent != 1 || s.Failed != 2 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(log.String(), "2 spans were rejected") || strings.Contains(log.String(), "canary") {
		t.Error(log.String())
	}
}

func FuzzPartial(f *testing.F) {
	f.Add([]byte{0x0a, 2, 8, 1})
	f.Fuzz(func(t *testing.T, answer []byte) { _ = partial(answer) })
}

// Another endpoint gets what comes, and what is queued, without a pause; off is off.
func TestApplyAgain(t *testing.T) {
	first, second := newCollector(t), newCollector(t)
	e, tr, _ := start(t, &config.Tracing{Endpoint: first.URL})
	statement(tr, "SELECT 1")
	tr = e.Apply(&config.Tracing{Endpoint: second.URL})
	statement(tr, "SELECT 1")
	if e.Apply(&config.Tracing{}) != nil {
		t.Error("not off")
	}
	e.Close()
	if n := first.count() + second.count(); n != 6 || second.count() < 3 {
		t.Errorf("%d and %d spans", first.count(), second.count())
	}
	if e.Apply(&config.Tracing{Endpoint: second.URL}) != nil {
		t.Error("a tracer of a closed exporter")
	}
}

// A statement of very many parts has so many spans and no more.
func TestSpansOfOneStatement(t *testing.T) {
	c := newCollector(t)
	e, tr, _ := start(t, &config.Tracing{Endpoint: c.URL})
	st := tr.Start(Choice{made: true, traced: true}, Command{Name: "COM_QUERY", Text: strings.Repeat("SELECT a, ", 1<<16), Begin: time.Now()})
	for range spansMax + 10 {
		st.Own(&Server{Addr: "/run/mysqld.sock"}, "COMMIT").End()
	}
	st.End(Outcome{Code: 1062})
	e.Close()
	if c.count() != spansMax+1 {
		t.Fatalf("%d spans", c.count())
	}
	root := c.spans[spansMax]
	a := attributesOf(root)
	if a["kingshard.spans_left_out"] != "int_value:10" || len(a["db.query.text"]) > textMax || a["db.response.status_code"] != "1062" ||
		a["error.type"] != "1062" || root.Status.Code != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("%.300v", a)
	}
}

// What a traced statement costs: its three spans, sent to nobody.
func BenchmarkStatement(b *testing.B) {
	e := &Exporter{Log: slog.New(slog.DiscardHandler)}
	tr := e.Apply(&config.Tracing{Endpoint: "127.0.0.1:1"})
	defer e.Close()
	b.ReportAllocs()
	for b.Loop() {
		statement(tr, "SELECT name FROM users WHERE id = 42")
	}
}
