package main

import (
	"os"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args  []string
		check func(o options) bool
	}{
		"nothing": {nil, func(o options) bool {
			return o.judge && o.rounds == 0 && o.measured == 0 && len(o.scenarios) > 80 && o.docs == ""
		}},
		"quick":      {[]string{"-quick"}, func(o options) bool { return !o.judge && o.rounds == 1 && o.measured == time.Second }},
		"done":       {[]string{"-done", "-rounds", "5"}, func(o options) bool { return o.judge && o.rounds == 5 }},
		"some":       {[]string{"-run", "^slo$", "-seconds", "0.5"}, func(o options) bool { return !o.judge && len(o.scenarios) == 1 && o.measured == time.Second/2 }},
		"render":     {[]string{"-render", "f"}, func(o options) bool { return o.docs == "docs" }},
		"two builds": {[]string{"-run", "^rows/1$", "-before", program}, func(o options) bool { return len(o.scenarios[0].Against) == 4 }},
	} {
		if o, ok := parseOptions(c.args); !ok || !c.check(o) {
			t.Errorf("%s: %v, %+v", name, ok, o)
		}
	}
	for _, args := range [][]string{
		{"-quick", "-done"}, {"-run", "("}, {"-run", "nothing like it"}, {"-slo", "p98=1s"}, {"-server", "oracle"},
		{"-docs", "docs", "-before", program}, {"-before", "/nowhere/kingshard"}, {"-proxy", "/nowhere/kingshard"}, {"left", "over"}, {"-unknown"},
	} {
		if _, ok := parseOptions(args); ok {
			t.Errorf("%v is taken", args)
		}
	}
}
