package session

import (
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn"
)

// A server that goes away during a statement: what the client hears, and whether the statement is sent again.
func TestExchangesBroken(t *testing.T) {
	silent := func(c *mysqltest.ScriptConn) { c.Conn.Close() }
	halfway := func(c *mysqltest.ScriptConn) {
		c.Columns(mysqltest.Strings("a")...)
		for range 1000 {
			c.Row("a row of some length")
		}
		c.Cut()
	}
	for _, tt := range []struct {
		name, text string
		breaks     func(c *mysqltest.ScriptConn)
		begin      string
		told       string
		times      int32 // that the statement comes to the server
	}{
		{"a read, ahead of its answer", "SELECT a FROM x", silent, "", "1", 2},
		{"a change, ahead of its answer", "UPDATE x SET a = 1", silent, "", "error 9003", 1},
		{"a read that locks", "SELECT a FROM x FOR UPDATE", silent, "", "error 9003", 1},
		{"a read with state", "SELECT @a := 1", silent, "", "error 9003", 1},
		{"a read in a transaction", "SELECT a FROM x", silent, "BEGIN", "error 1213", 1},
		{"a read, within its answer", "SELECT a FROM x", halfway, "", "9011 end backend_lost", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var came atomic.Int32
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				if string(payload) == tt.text && came.Add(1) == 1 {
					tt.breaks(c)
					return
				}
				transactions(c, cmd, payload)
			}})
			a := newApart(t, "app", server)
			ls := a.withLeases()
			xs := &exchanges{client: a.client, effects: a.withEffects(), leases: ls, routing: a.withRouting()}
			a.txn.Begin = tt.begin
			failed, err := xs.forward(a.says(tt.text))
			if failed != (tt.told != "1") {
				t.Errorf("failed: %v, %v", failed, err)
			}
			if got := a.hears(t, err); !strings.HasSuffix(got, tt.told) || got != tt.told && tt.times == 1 && !strings.HasPrefix(got, "a row") {
				t.Errorf("hears %.100s ... %.40s, want %s", got, got[max(0, len(got)-40):], tt.told)
			}
			if came.Load() != tt.times || a.inUse("n1") != 0 || a.txn.Holding() {
				t.Errorf("it came %d times, %d in use", came.Load(), a.inUse("n1"))
			}
		})
	}
}

// A statement is sent again once only.
func TestExchangesRepeatOnce(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if string(payload) == "SELECT a FROM x" {
			c.Conn.Close()
			return
		}
		transactions(c, cmd, payload)
	}})
	a := newApart(t, "app", server)
	xs := a.withExchanges()
	_, err := xs.forward(a.says("SELECT a FROM x"))
	if got := a.hears(t, err); got != "error 9003" || queriesOf(server) != "SELECT a FROM x; SELECT a FROM x" {
		t.Errorf("hears %s, the server got %v", got, server.Queries())
	}
}

// A connection stays with the session for what a statement leaves on it, and goes back when nothing is left.
func TestExchangesPins(t *testing.T) {
	pin := func(r ...txn.Reason) (p txn.Pins) {
		for _, one := range r {
			p |= 1 << one
		}
		return p
	}
	for _, tt := range []struct {
		texts  string // all but the last succeed
		before txn.Pins
		done   txn.Pins // where the last one succeeds
		failed txn.Pins // where a server refuses it
	}{
		{"SELECT a FROM x", 0, 0, 0},
		{"UPDATE x SET a = 1", 0, 0, 0},
		{"CREATE TEMPORARY TABLE y (a INT)", 0, pin(txn.PinTempTable), 0},
		{"LOCK TABLES x READ", 0, pin(txn.PinLockTables), 0},
		{"LOCK TABLES x READ; UNLOCK TABLES", pin(txn.PinLockTables), 0, pin(txn.PinLockTables)},
		{"SELECT GET_LOCK('a', 1)", 0, pin(txn.PinUserLock), pin(txn.PinUserLock)},
		{"SELECT @a := 1", 0, pin(txn.PinUserVariable), pin(txn.PinUserVariable)},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM x", 0, pin(txn.PinFoundRows), pin(txn.PinFoundRows)},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM x; SELECT a FROM x", pin(txn.PinFoundRows), 0, 0},
		{"XA START 'a'", 0, pin(txn.PinXA), 0},
		{"XA START 'a'; XA ROLLBACK 'a'", pin(txn.PinXA), 0, pin(txn.PinXA)},
		{"CALL p()", 0, pin(txn.PinProcedure), pin(txn.PinProcedure)},
	} {
		for _, fails := range []bool{false, true} {
			name, want := tt.texts, tt.done
			if fails {
				name, want = name+", refused", tt.failed
			}
			t.Run(name, func(t *testing.T) {
				texts := strings.Split(tt.texts, "; ")
				last := texts[len(texts)-1]
				server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
					if fails && string(payload) == last {
						c.Error(mysql.ERParse, "no")
						return
					}
					transactions(c, cmd, payload)
				}})
				a := newApart(t, "app", server)
				xs := a.withExchanges()
				for _, text := range texts {
					if text == last && a.txn.Pins != tt.before {
						t.Errorf("ahead of %s: %v", text, a.txn.Pins)
					}
					failed, err := xs.forward(a.says(text))
					if got := a.hears(t, err); failed != (fails && text == last) || strings.Contains(got, "error") != failed {
						t.Errorf("%s: failed %v, %v, hears %s", text, failed, err, got)
					}
				}
				if a.txn.Pins != want || a.txn.Holding() != (want != 0) || (a.inUse("n1") != 0) != (want != 0) {
					t.Errorf("%v, holding: %v, want %v; the server got %s", a.txn.Pins, a.txn.Holding(), want, queriesOf(server))
				}
			})
		}
	}
}

// What only the held connection knows is asked of it, and refused where there is none.
func TestExchangesAdmit(t *testing.T) {
	a := newApart(t, "app", mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions}))
	xs := a.withExchanges()
	for text, refused := range map[string]bool{"GET DIAGNOSTICS @n = NUMBER": true, "SHOW WARNINGS": false, "SELECT 1": false} {
		if err := xs.admit(a.says(text)); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
	a.txn.Begin = "BEGIN"
	_, err := xs.forward(a.says("UPDATE x SET a = 1"))
	if got := a.hears(t, err); got != "ok 0" || !a.txn.Holding() || !a.txn.LastOnHeld {
		t.Fatalf("hears %s", got)
	}
	if err := xs.admit(a.says("GET DIAGNOSTICS @n = NUMBER")); err != nil {
		t.Errorf("in a transaction: %v", err)
	}
}

// The parts for several shards are made once, of the parts that there are.
func TestExchangesSeveral(t *testing.T) {
	a := newApart(t, "app")
	xs := a.withExchanges()
	p := xs.several()
	if p != xs.several() || p.shards.exchanges != xs || p.queries.shards != &p.shards || p.changes.shards != &p.shards || p.definitions.changes != &p.changes || p.definitions.client != a.client {
		t.Errorf("%+v", p)
	}
}
