package txn

import (
	"strings"
	"testing"
)

// Every reason has a name of its own, and a set lists those that are in it.
func TestPins(t *testing.T) {
	var all Pins
	seen := map[string]bool{}
	for r := range reasons {
		p := Pins(1) << r
		name := p.String()
		if name == "" || strings.Contains(name, ",") || seen[name] {
			t.Errorf("reason %d is named %q", r, name)
		}
		seen[name] = true
		if !p.Has(r) || all.Has(r) {
			t.Errorf("%s: in its set %v, in that of those before it %v", name, p.Has(r), all.Has(r))
		}
		all |= p
	}
	if n := strings.Count(all.String(), ","); n != int(reasons)-1 {
		t.Errorf("all of them are %q", all)
	}
	if got := (1<<PinXA | 1<<PinTempTable | OfTransaction).String(); got != "temporary_table,xa,autocommit,savepoint" {
		t.Errorf("some are %q", got)
	}
	if got := Pins(0).String(); got != "" {
		t.Errorf("none is %q", got)
	}
}
