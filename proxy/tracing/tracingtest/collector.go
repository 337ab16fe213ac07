// Package tracingtest has the server of OpenTelemetry collectors in tests.
package tracingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Request is what an exporter sent.
type Request struct {
	*http.Request
	Raw  []byte // the body
	Data tracepb.TracesData
}

// Spans are those of all resources and scopes.
func (r *Request) Spans() (list []*tracepb.Span) {
	for _, resource := range r.Data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			list = append(list, scope.Spans...)
		}
	}
	return list
}

// Serve starts a server that has take answer each request, until the test ends. Several goroutines may call take at a time.
func Serve(t testing.TB, take func(w http.ResponseWriter, r *Request)) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r := &Request{Request: q}
		var err error
		if r.Raw, err = io.ReadAll(q.Body); err != nil {
			t.Error(err)
		}
		if err := proto.Unmarshal(r.Raw, &r.Data); err != nil {
			t.Error(err)
		}
		take(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}
