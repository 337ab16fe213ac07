package queryrule

import (
	"errors"
	"testing"

	"kingshard/config"
	"kingshard/proxy/throttle"
)

// throttled makes a rule, the successor of the one before.
func throttled(t *testing.T, before *Set, q config.QueryRule) (*Set, *Rule) {
	t.Helper()
	q.Name = "r"
	s, err := New(&config.Config{QueryRules: []config.QueryRule{q}}, before)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.rules[0]
}

// What passes a rule and what it has refused count on after a reload, under the new bound.
func TestThrottleOverReloads(t *testing.T) {
	s, r := throttled(t, nil, config.QueryRule{MaxConcurrent: 2})
	for _, want := range []error{nil, nil, throttle.ErrConcurrent} {
		if err := r.Enter(nil); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	_, stricter := throttled(t, s, config.QueryRule{MaxConcurrent: 1})
	r.Leave()
	if err := stricter.Enter(nil); !errors.Is(err, throttle.ErrConcurrent) || stricter.Throttled() != 2 {
		t.Errorf("%v, %d refused", err, stricter.Throttled())
	}
	r.Leave()
	if err := stricter.Enter(nil); err != nil {
		t.Error(err)
	}
}
