package session

import (
	"log/slog"
	"testing"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/tracing"
)

const (
	sampledParent   = "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01"
	unsampledParent = "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-00"
)

// tracedSession is a session that has what the choice needs, and no more.
func tracedSession(t *tracing.Tracer) *Session {
	return &Session{snap: &Snapshot{Tracer: t}, conn: &mysql.Conn{}}
}

// tracer makes a tracer that sends nothing in this test.
func tracer(t testing.TB, cfg config.Tracing) *tracing.Tracer {
	e := &tracing.Exporter{Log: slog.New(slog.DiscardHandler)}
	t.Cleanup(e.Close)
	cfg.Endpoint = "127.0.0.1:1"
	return e.Apply(&cfg)
}

// A statement takes no memory for tracing while that is off, nor while it is on and the statement is not traced.
func TestTracingTakesNoMemory(t *testing.T) {
	st := &stmt{text: "SELECT ?", params: 1}
	for name, tr := range map[string]*tracing.Tracer{"off": nil, "unsampled": tracer(t, config.Tracing{MaxParents: 100})} {
		s := tracedSession(tr)
		s.conn.Capabilities = mysql.ClientQueryAttributes
		text := "SELECT name FROM users WHERE id = 42 /*traceparent='" + unsampledParent + "'*/"
		attributes := queryAttributes("a", "b", tracing.Name, unsampledParent)
		execution := executionBody(1, tracing.Name, unsampledParent)
		if n := testing.AllocsPerRun(200, func() {
			if s.traceQuery(nil, text) || s.traceQuery(attributes, text) {
				t.Error("traced")
			}
			s.task().choice = tracing.Choice{}
			if s.traceQuery(attributes, text) {
				t.Error("traced")
			}
			s.task().choice = tracing.Choice{}
			if s.traceExecution(st, execution) {
				t.Error("traced")
			}
			endSpan(s.shardSpan(nil, text), nil)
			endSpan(s.waitSpan(nil), nil)
			s.task().choice = tracing.Choice{}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkTracingOff(b *testing.B) {
	s := tracedSession(nil)
	b.ReportAllocs()
	for b.Loop() {
		if s.traceQuery(nil, "SELECT 1") {
			b.Fatal("traced")
		}
		endSpan(s.shardSpan(nil, ""), nil)
	}
}

// A command is decided about once, though a loop asks first and a goroutine then: the ratio is what is configured, not its square.
func TestTracingIsChosenOnce(t *testing.T) {
	s := tracedSession(tracer(t, config.Tracing{SampleRatio: 0.5}))
	seen := map[bool]int{}
	for range 1000 {
		first := s.traceQuery(nil, "SELECT 1")
		if s.traceQuery(nil, "SELECT 1") != first {
			t.Fatal("it was chosen anew")
		}
		seen[first]++
		s.task().choice = tracing.Choice{}
	}
	if seen[true] < 350 || seen[false] < 350 {
		t.Errorf("%v", seen)
	}
}

// queryAttributes are texts as the query attributes of a COM_QUERY, by name.
func queryAttributes(pairs ...string) []byte {
	n := len(pairs) / 2
	b := append(mysql.AppendLenenc(nil, uint64(n)), 1)
	b = append(append(b, make([]byte, (n+7)/8)...), 1)
	return appendNamed(b, pairs)
}

func appendNamed(b []byte, pairs []string) []byte {
	for k := 0; k < len(pairs); k += 2 {
		b = mysql.AppendLenencString(mysql.AppendUint16(b, uint16(mysql.TypeVarString)), pairs[k])
	}
	for k := 1; k < len(pairs); k += 2 {
		b = mysql.AppendLenencString(b, pairs[k])
	}
	return b
}

// executionBody is the argument of a COM_STMT_EXECUTE with so many text parameters 'p', and attributes by name.
func executionBody(params int, pairs ...string) []byte {
	var all []string
	for range params {
		all = append(all, "", "p")
	}
	all = append(all, pairs...)
	b := []byte{1, 0, 0, 0, mysql.ParameterCountAvailable, 1, 0, 0, 0}
	n := len(all) / 2
	b = append(mysql.AppendLenenc(b, uint64(n)), make([]byte, (n+7)/8)...)
	return appendNamed(append(b, 1), all)
}

// The parent is found among the query attributes, and nothing that is malformed is taken for one, or read beyond its end.
func TestParentInAttributes(t *testing.T) {
	if p := attributeParent(queryAttributes("x", "1", tracing.Name, sampledParent, "y", "2")); !p.Known() || !p.Sampled {
		t.Errorf("COM_QUERY: %+v", p)
	}
	for params := range 10 {
		st := &stmt{params: params}
		body := executionBody(params, "x", "1", tracing.Name, sampledParent)
		if p := executionParent(body, st); !p.Known() || !p.Sampled {
			t.Errorf("%d parameters: %+v", params, p)
		}
		for n := range body {
			if p := executionParent(body[:n], st); p.Known() {
				t.Errorf("%d parameters, %d bytes: %+v", params, n, p)
			}
		}
		// A parameter of that name is none of the attributes.
		if p := executionParent(body, &stmt{params: params + 2}); p.Known() {
			t.Errorf("%d parameters: a parameter is taken for it", params)
		}
	}
	long := &stmt{params: 1, long: map[uint16][]byte{0: []byte("sent before")}}
	body := executionBody(1, tracing.Name, sampledParent)
	if p := executionParent(append(body[:len(body)-len(sampledParent)-3], body[len(body)-len(sampledParent)-1:]...), long); !p.Known() {
		t.Error("behind a long parameter: not found")
	}
	for name, attributes := range map[string][]byte{
		"none": nil, "other": queryAttributes("x", sampledParent), "malformed": queryAttributes(tracing.Name, sampledParent[1:]),
		"empty": queryAttributes(tracing.Name, ""), "cut": queryAttributes(tracing.Name, sampledParent)[:20],
	} {
		if p := attributeParent(attributes); p.Known() {
			t.Errorf("%s: %+v", name, p)
		}
	}
	null := queryAttributes(tracing.Name, sampledParent)
	null[2] = 1
	if p := attributeParent(null); p.Known() {
		t.Error("NULL is taken for a parent")
	}
	number := queryAttributes(tracing.Name, sampledParent)
	number[4] = byte(mysql.TypeLong)
	if p := attributeParent(number); p.Known() {
		t.Error("a number is taken for a parent")
	}
}

func FuzzExecutionParent(f *testing.F) {
	f.Add(executionBody(2, "x", "1", tracing.Name, sampledParent), 2)
	f.Fuzz(func(t *testing.T, body []byte, params int) {
		if params < 0 || params > 1<<16-1 {
			return
		}
		executionParent(body, &stmt{params: params})
	})
}
