package session

import (
	"testing"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/fastlane"
)

// TestShelfIsGoneAfterATick: a shelf without connections and sessions is not given out once the tick has taken it away, as nobody
// would look after what is put there; and the loop ticks on until its spares are given away.
func TestShelfIsGoneAfterATick(t *testing.T) {
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	key := shelfKey{instance: nodes["n"].Instances()[0], setting: backend.Intern("", 0, nil)}
	var h *shelves
	group, err := fastlane.Open(1, func(func()) {}, func(l *fastlane.Loop) fastlane.Ticker {
		h = newShelves(new(Lanes), l)
		return h
	})
	if err != nil {
		t.Fatal(err)
	}
	loop := group.Loops()[0]
	first := h.shelf(key)
	if h.shelf(key) != first {
		t.Error("one key has two shelves")
	}
	h.spares.put(new(task))
	for _, armed := range []bool{true, false} {
		h.Tick(loop)
		if len(h.byKey) != 0 || h.armed != armed {
			t.Errorf("%d shelves, a tick is to come: %v, want %v", len(h.byKey), h.armed, armed)
		}
	}
	if again := h.shelf(key); again == first || h.byKey[key] != again || !h.armed {
		t.Error("a shelf that was taken away is given out")
	}
}
