package session

import (
	"testing"

	"kingshard/backend/stored"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn"
)

// effectsApart is a client in front of a server with one function, mysql.sets(), that writes a user variable.
func effectsApart(t *testing.T) (*apart, *effects) {
	t.Helper()
	a := newApart(t, "app", mysqltest.StartScript(t, mysqltest.ScriptConfig{}))
	o, err := stored.Ask(asked{}, a.mode())
	if err != nil {
		t.Fatal(err)
	}
	a.nodes["n1"].Primary.SetStored(o, nil)
	a.state.SetDB("shop")
	return a, &effects{client: a.client}
}

// What a statement reaches on a server marks the connection, and pins it to the session.
func TestEffectsReach(t *testing.T) {
	const clock = "SELECT /*+ SET_VAR(timestamp=1) */ 1"
	for _, tt := range []struct {
		text    string
		reached stored.Effects
		marked  bool
		pins    txn.Pins
	}{
		{"SELECT * FROM t WHERE id = 1", 0, false, 0},
		{"UPDATE t SET a = 1", 0, false, 0},
		{"SELECT mysql.sets()", stored.UserVariables, true, 1 << txn.PinUserVariable},
		{"INSERT INTO t SELECT mysql.sets()", stored.UserVariables, true, 1 << txn.PinUserVariable},
		{"PREPARE p FROM 'SELECT mysql.sets()'", stored.UserVariables, true, 1 << txn.PinUserVariable},
		{"CREATE TABLE x (a INT)", 0, false, 0},
		{"CREATE TABLE x AS SELECT mysql.sets()", stored.UserVariables, true, 1 << txn.PinUserVariable},
		{"COMMIT", 0, false, 0},
		{clock, 0, true, 0},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a, ef := effectsApart(t)
			p := a.lend(t, "n1")
			defer p.Taint()
			q := a.says(tt.text)
			ef.reach(p, q, "shop")
			if q.reached != tt.reached || p.Conn.Marked != tt.marked {
				t.Errorf("reaches %b and marks: %v, want %b and %v", q.reached, p.Conn.Marked, tt.reached, tt.marked)
			}
			if ef.pinReached(q.reached); a.txn.Pins != tt.pins {
				t.Errorf("pins %v, want %v", a.txn.Pins, tt.pins)
			}
			a.txn.Pins = 0
			if q.within != nil {
				return // what others contain does not come as one of several, nor to a loop
			}

			// The same as one of several, or of the proxy's own: it pins the held connection only.
			p.Conn.Marked = false
			if ef.reachOn(&txn.Lease{Pooled: p, Node: "n1"}, q.text); p.Conn.Marked != tt.marked || a.txn.Pins != 0 {
				t.Errorf("as one of several it marks: %v, and pins %v", p.Conn.Marked, a.txn.Pins)
			}
			// And ahead of being sent.
			free := tt.reached == 0
			if ef.effectless(a.nodes["n1"], q) != free || ef.effectlessOn(p.Instance, q) != free || ef.loopable(p.Instance, q.text) != free {
				t.Errorf("free of effects: %v, %v, in a loop %v", ef.effectless(a.nodes["n1"], q), ef.effectlessOn(p.Instance, q), ef.loopable(p.Instance, q.text))
			}
		})
	}
}

// While nothing is known of a server, what runs unseen keeps the connection; a query does not, nor does it run in a loop.
func TestEffectsUnknown(t *testing.T) {
	a, ef := effectsApart(t)
	a.nodes["n1"].Primary.SetStored(nil, nil)
	p := a.lend(t, "n1")
	defer p.Taint()
	for text, reached := range map[string]bool{"SELECT f()": false, "CALL p()": true} {
		q := a.says(text)
		if ef.reach(p, q, "shop"); (q.reached != 0) != reached || !p.Conn.Marked {
			t.Errorf("%s reaches %b, and marks: %v", text, q.reached, p.Conn.Marked)
		}
		if p.Conn.Marked = false; ef.loopable(p.Instance, text) || !ef.effectlessOn(p.Instance, q) {
			t.Errorf("%s: in a loop %v, effectless %v", text, ef.loopable(p.Instance, text), ef.effectlessOn(p.Instance, q))
		}
	}
}

// A definition that may make stored objects is known of at once, on all servers of its node.
func TestEffectsDefining(t *testing.T) {
	a, ef := effectsApart(t)
	p := a.lend(t, "n1")
	defer p.Taint()
	const text = "CREATE FUNCTION shop.more() RETURNS INT BEGIN SET @y = 1; RETURN 1; END"
	use := a.says("SELECT more()")
	if ef.reach(p, use, "shop"); use.reached != 0 {
		t.Fatalf("reaches %b ahead of the definition", use.reached)
	}
	for _, text := range []string{"CREATE TABLE x (a INT)", text} {
		changes := text != "CREATE TABLE x (a INT)"
		ef.defining(p, a.says(text), false)
		use := a.says("SELECT more()")
		if ef.reach(p, use, "shop"); (use.reached&stored.UserVariables != 0) != changes {
			t.Errorf("behind %s it reaches %b", text, use.reached)
		}
	}
}
