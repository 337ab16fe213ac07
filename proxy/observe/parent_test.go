package observe

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

// tracer makes a tracer that sends nothing in this test.
func tracer(t testing.TB, cfg config.Tracing) *tracing.Tracer {
	e := &tracing.Exporter{Log: slog.New(slog.DiscardHandler)}
	t.Cleanup(e.Close)
	cfg.Endpoint = "127.0.0.1:1"
	return e.Apply(&cfg)
}

// A statement takes no memory for tracing while it is not traced, wherever its parent is.
func TestChoosingTakesNoMemory(t *testing.T) {
	tr := tracer(t, config.Tracing{MaxParents: 100})
	text := "SELECT name FROM users WHERE id = 42 /*traceparent='" + unsampledParent + "'*/"
	attributes := queryAttributes("a", "b", tracing.Name, unsampledParent)
	arg := executionBody(1, tracing.Name, unsampledParent)
	if n := testing.AllocsPerRun(200, func() {
		var asText, asAttribute, asExecution tracing.Choice
		e := Execution{Text: "SELECT ?", Params: 1, Arg: arg}
		if ChooseQuery(tr, &asText, nil, text) || ChooseQuery(tr, &asAttribute, attributes, text) || ChooseExecution(tr, &asExecution, &e) {
			t.Error("traced")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A parent decides, wherever it is, while parents count; that of an attribute before that of a comment.
func TestParentDecides(t *testing.T) {
	comment := "SELECT 1 /*traceparent='" + sampledParent + "'*/"
	for name, of := range map[string]struct {
		parents int
		ask     func(t *tracing.Tracer, c *tracing.Choice) bool
		want    bool
	}{
		"a comment":            {100, func(t *tracing.Tracer, c *tracing.Choice) bool { return ChooseQuery(t, c, nil, comment) }, true},
		"parents do not count": {0, func(t *tracing.Tracer, c *tracing.Choice) bool { return ChooseQuery(t, c, nil, comment) }, false},
		"an attribute before it": {100, func(t *tracing.Tracer, c *tracing.Choice) bool {
			return ChooseQuery(t, c, queryAttributes(tracing.Name, unsampledParent), comment)
		}, false},
		"an attribute of an execution": {100, func(t *tracing.Tracer, c *tracing.Choice) bool {
			return ChooseExecution(t, c, &Execution{Text: "SELECT ?", Params: 1, Arg: executionBody(1, tracing.Name, sampledParent)})
		}, true},
		"the comment of a prepared statement": {100, func(t *tracing.Tracer, c *tracing.Choice) bool {
			return ChooseExecution(t, c, &Execution{Text: comment})
		}, true},
		"no parent": {100, func(t *tracing.Tracer, c *tracing.Choice) bool { return ChooseQuery(t, c, nil, "SELECT 1") }, false},
	} {
		var c tracing.Choice
		if got := of.ask(tracer(t, config.Tracing{MaxParents: of.parents}), &c); got != of.want || !c.Made() {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A command is decided about once, though a loop asks first and a goroutine then: the ratio is what is configured, not its square.
func TestTracingIsChosenOnce(t *testing.T) {
	tr := tracer(t, config.Tracing{SampleRatio: 0.5})
	seen := map[bool]int{}
	for range 1000 {
		var c tracing.Choice
		first := ChooseQuery(tr, &c, nil, "SELECT 1")
		if ChooseQuery(tr, &c, nil, "SELECT 1") != first || ChooseExecution(tr, &c, &Execution{}) != first {
			t.Fatal("it was chosen anew")
		}
		seen[first]++
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

// with returns e with another argument.
func with(e *Execution, arg []byte) *Execution {
	other := *e
	other.Arg = arg
	return &other
}

// The parent is found among the query attributes, and nothing that is malformed is taken for one, or read beyond its end.
func TestParentInAttributes(t *testing.T) {
	if p := attributeParent(queryAttributes("x", "1", tracing.Name, sampledParent, "y", "2")); !p.Known() || !p.Sampled {
		t.Errorf("COM_QUERY: %+v", p)
	}
	for params := range 10 {
		e := &Execution{Params: params}
		body := executionBody(params, "x", "1", tracing.Name, sampledParent)
		if p := executionParent(with(e, body)); !p.Known() || !p.Sampled {
			t.Errorf("%d parameters: %+v", params, p)
		}
		for n := range body {
			if p := executionParent(with(e, body[:n])); p.Known() {
				t.Errorf("%d parameters, %d bytes: %+v", params, n, p)
			}
		}
		// A parameter of that name is none of the attributes.
		if p := executionParent(&Execution{Arg: body, Params: params + 2}); p.Known() {
			t.Errorf("%d parameters: a parameter is taken for it", params)
		}
	}
	long := &Execution{Params: 1, Long: map[uint16][]byte{0: []byte("sent before")}}
	body := executionBody(1, tracing.Name, sampledParent)
	if p := executionParent(with(long, append(body[:len(body)-len(sampledParent)-3], body[len(body)-len(sampledParent)-1:]...))); !p.Known() {
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
		executionParent(&Execution{Arg: body, Params: params})
	})
}
