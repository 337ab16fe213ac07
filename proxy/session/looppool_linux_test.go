package session

import (
	"testing"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/fastlane"
)

// TestLoopPoolIsGoneAfterATick: a pool without connections and sessions is not given out once the tick has taken it away, as nobody
// would look after what is put there; and the loop ticks on until its scratch are given away.
func TestLoopPoolIsGoneAfterATick(t *testing.T) {
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	key := loopPoolKey{instance: nodes["n"].Instances()[0], setting: backend.Intern("", 0, nil)}
	var h *loopState
	group, err := fastlane.Open(1, func(func()) {}, func(l *fastlane.Loop) fastlane.Ticker {
		h = newLoopState(new(Lanes), l)
		return h
	})
	if err != nil {
		t.Fatal(err)
	}
	loop := group.Loops()[0]
	first := h.poolOf(key)
	if h.poolOf(key) != first {
		t.Error("one key has two loopState")
	}
	h.scratch.put(new(task))
	for _, armed := range []bool{true, false} {
		h.Tick(loop)
		if len(h.byKey) != 0 || h.armed != armed {
			t.Errorf("%d loopState, a tick is to come: %v, want %v", len(h.byKey), h.armed, armed)
		}
	}
	if again := h.poolOf(key); again == first || h.byKey[key] != again || !h.armed {
		t.Error("a loopPool that was taken away is given out")
	}
}
