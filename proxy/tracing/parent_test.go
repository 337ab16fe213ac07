package tracing

import (
	"encoding/hex"
	"strings"
	"testing"
)

const (
	traceHex = "5bd66ef5095369c7b0d1f8f4bd33716a"
	spanHex  = "c532cb4098ac3dd2"
	sampled  = "00-" + traceHex + "-" + spanHex + "-01"
)

func TestParseParent(t *testing.T) {
	p, ok := ParseParent(sampled)
	if !ok || !p.Sampled || hex.EncodeToString(p.TraceID[:]) != traceHex || hex.EncodeToString(p.SpanID[:]) != spanHex {
		t.Fatalf("%+v, %v", p, ok)
	}
	if p, ok := ParseParent(sampled[:53] + "02"); !ok || p.Sampled {
		t.Error("the flag of another meaning counts as sampled")
	}
	if p, ok := ParseParent("01-" + sampled[3:] + "-more"); !ok || !p.Sampled {
		t.Error("a later version is not read")
	}
	for _, bad := range []string{
		"", "00", strings.ToUpper(sampled), sampled + "-x", sampled + "0", "ff" + sampled[2:], "0g" + sampled[2:], sampled[:54],
		"00-" + strings.Repeat("0", 32) + "-" + spanHex + "-01", "00-" + traceHex + "-" + strings.Repeat("0", 16) + "-01",
		"00_" + sampled[3:], "01-" + sampled[3:] + "x", "00-" + traceHex + "-" + spanHex + "-0 ", strings.Repeat("-", 55),
	} {
		if p, ok := ParseParent(bad); ok || p != (Parent{}) {
			t.Errorf("%q is taken: %+v", bad, p)
		}
	}
}

func TestParentIn(t *testing.T) {
	pair := "traceparent='" + sampled + "'"
	for _, text := range []string{
		"SELECT 1 /*" + pair + "*/",
		"SELECT 1 /*" + pair + "*/ ;\n",
		"SELECT 1 /* action='%2Fa',controller='x'," + pair + ",tracestate='congo%3Dt61rcWkgMzE' */",
		"SELECT 1 /*a*/ /*route='%2F',\n" + pair + "*/",
		"/*" + pair + "*/ SELECT 1",
		"/*" + pair + "*/ SELECT 1 /* hint */",
		"SELECT 1 /*" + strings.ReplaceAll(pair, "-", "%2D") + "*/",
		"SELECT 1 /*xtraceparent='no'," + pair + "*/",
	} {
		if p, ok := ParentIn(text); !ok || !p.Sampled {
			t.Errorf("%s: nothing found", text)
		}
	}
	for _, text := range []string{
		"", "/*", "*/", "/*/", "SELECT 1", "SELECT 1 /*" + pair, pair + "*/", "SELECT '/*" + pair + "*/'",
		"SELECT 1 /*xtraceparent='" + sampled + "'*/", "SELECT 1 /*traceparent=" + sampled + "*/", "SELECT 1 /*traceparent='" + sampled + "*/",
		"SELECT 1 /*traceparent='bad'*/",
		"SELECT 1 /*" + pair + strings.Repeat(" ", commentMax) + "*/",
		"/*" + strings.Repeat(" ", commentMax) + pair + "*/ SELECT 1",
		"SELECT 1 /*" + pair + "*/" + strings.Repeat(" ", commentMax+1),
		"SELECT /*" + pair + "*/ 1",
	} {
		if p, ok := ParentIn(text); ok {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

// Looking for a parent takes no memory, whatever the client sends.
func TestParentAllocatesNothing(t *testing.T) {
	texts := []string{"SELECT 1", "SELECT 1 /*traceparent='" + sampled + "'*/", "/*" + strings.Repeat("traceparent='", 1000) + "*/", strings.Repeat("*/", 5000)}
	for _, text := range texts {
		if n := testing.AllocsPerRun(100, func() { ParentIn(text) }); n != 0 {
			t.Errorf("%.40s: %v allocations", text, n)
		}
	}
}

func FuzzParentIn(f *testing.F) {
	f.Add("SELECT 1 /*traceparent='" + sampled + "'*/")
	f.Add("/*/ traceparent='%2d%2d")
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := ParentIn(text)
		if ok != p.Known() || ok && p.SpanID == [8]byte{} {
			t.Errorf("%q: %+v, %v", text, p, ok)
		}
	})
}
