package config

import "testing"

// A reload goes on with the servers in force where the node discovers its replicas, and with the primary among them; listed ones keep their weights.
func TestDiscoveredReplicasAreKept(t *testing.T) {
	for _, c := range []struct{ name, slave, nowMaster, nowSlave, wantMaster, wantSlave string }{
		{"found", "discover", "a:1", "discover,b:1", "a:1", "discover,b:1@1"},
		{"promoted", "discover", "b:1", "discover,a:1,c:1", "b:1", "discover,c:1@1,a:1@1"},
		{"listed", "b:1@3, discover", "b:1", "a:1@3,discover,c:1", "b:1", "a:1@3,discover,c:1@1"},
		{"not any more", "b:1", "a:1", "discover,b:1,c:1", "a:1", "b:1"},
		{"for the first time", "discover", "a:1", "b:1", "a:1", "discover"},
	} {
		next := &Config{Nodes: []Node{{Name: "n", Master: "a:1", Slave: c.slave}}}
		next.KeepPrimaries(&Config{Nodes: []Node{{Name: "n", Master: c.nowMaster, Slave: c.nowSlave}}})
		if n := next.Nodes[0]; n.Master != c.wantMaster || n.Slave != c.wantSlave {
			t.Errorf("%s: %s with %q, want %s with %q", c.name, n.Master, n.Slave, c.wantMaster, c.wantSlave)
		}
	}
	if n := (Node{Slave: "discover"}); !n.FollowsRoles() || !n.Discovers() || (Node{Slave: "discovery:1"}).Discovers() {
		t.Error("discover is not understood")
	}
}
