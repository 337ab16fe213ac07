package session

import (
	"net"
	"testing"

	"kingshard/backend"
)

// A session that moves to another process finds what it has changed, also where nobody knows what that was.
func TestLastChangesMove(t *testing.T) {
	shared := emptyShared(t)
	shared.Snapshot.Load().Schemas["root"] = &Schema{Nodes: map[string]*backend.Node{"a": {Name: "a"}, "b": {Name: "b"}, "c": {Name: "c"}}}
	for _, text := range []string{"", "a=0-1-7", "a=0-1-7,1-1-2;b=3e11fa47-71ca-11e1-9e33-c80aa9429562:1-3;c=?"} {
		near, far := net.Pipe()
		defer far.Close()
		s := New(near, shared, false)
		s.client.entry.SetUser("root")
		s.rejoin()
		fr := freshness{&s.client}
		if !fr.take(text) || fr.text() != text {
			t.Fatalf("%q is %q", text, fr.text())
		}
		d := s.description()
		d.ID += 100
		near, far = net.Pipe()
		defer far.Close()
		moved, err := Adopt(near, d.Append(nil), shared)
		if err != nil {
			t.Fatal(err)
		}
		if got := (freshness{&moved.client}).text(); got != text {
			t.Errorf("%q has become %q", text, got)
		}
	}
}
