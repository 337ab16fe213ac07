package roles

import (
	"reflect"
	"strings"
	"testing"

	"kingshard/backend/gtid"
)

// What the rows of TestJudge say of servers: a letter for each, p or q or r for its address, and words.
func observed(text string) (o Observation) {
	words := strings.Fields(text)
	o = Observation{Addr: words[0], Server: "uuid-" + words[0], Told: true}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "gone":
			o.Failures = goneAfter
		case "late":
			o.Failures = 1
		case "silent":
			o.Told = false
		case "refuses":
			o.Told, o.Refused = false, true
		case "readonly":
			o.ReadOnly = true
		case "of":
			o.Sources = append(o.Sources, Source{Addr: value})
		case "uuid":
			o.Sources = append(o.Sources, Source{Addr: "elsewhere:1", Server: "UUID-" + value})
		case "is":
			o.Server = "uuid-" + value
		case "epoch":
			number, server, _ := strings.Cut(value, ",")
			o.Epoch = Epoch{uint64(number[0] - '0'), "uuid-" + server}
		case "has":
			o.GTIDs = set(value)
		case "beats":
			o.Heartbeats = map[string]Heartbeat{"uuid-" + value[:1]: {Counter: uint64(value[1] - '0')}}
		case "unsure":
			o.Unsure = true
		case "member":
			o.Member = map[string]Member{"online": Online, "multi": Multi, "departed": Departed}[value]
		default:
			panic(text)
		}
	}
	return o
}

// set reads a set of MariaDB's.
func set(text string) *gtid.Set {
	s, err := gtid.Parse(text, true)
	if err != nil {
		panic(err)
	}
	return s
}

func TestJudge(t *testing.T) {
	begins, serves := Standing{Primary: "p"}, Standing{Primary: "p", Settled: true}
	had := Standing{Primary: "p", Settled: true, had: holding{gtids: set("0-1-7")}, now: holding{gtids: set("0-1-9")}}
	beating := Standing{Primary: "p", Settled: true, had: holding{set("0-1-9"), "uuid-p", 5}}
	later := Standing{Primary: "q", Settled: true, Epoch: 2}
	for _, c := range []struct {
		name     string
		standing Standing
		servers  string // by semicolons
		primary  string
		held     bool
		retired  string
		reason   string // a part of it; "" for none
	}{
		{"all is well", serves, "p; q of=p", "p", false, "", ""},
		{"a replica that is named otherwise", serves, "p; q uuid=p", "p", false, "", ""},
		{"a replica that takes no writes", serves, "p; q readonly of=p", "p", false, "", ""},
		{"the primary replicates from elsewhere", serves, "p of=x; q of=p", "p", false, "", ""},
		{"one answer is missing", serves, "p late; q", "p", false, "", ""},
		{"the primary is gone", serves, "p gone; q of=p", "p", false, "", ""},
		{"gone, and the replica takes no writes yet", serves, "p gone; q readonly", "p", false, "", ""},
		{"promoted", serves, "p gone; q; r of=p", "q", false, "", "p is not the primary any more: it does not answer"},
		{"promoted, the old one had other replicas", serves, "p gone; q; r of=q", "q", false, "", "not the primary any more"},
		{"promoted, but it does not answer now", serves, "p gone; q late", "p", false, "", ""},
		{"promoted, but the account may not ask it", serves, "p gone; q refuses", "p", false, "", ""},
		{"promoted by hand, though it still has its source", serves, "p gone; q of=p", "p", false, "", ""},
		{"two are promoted", serves, "p gone; q; r", "p", false, "", "several servers take writes, q and r"},
		{"the primary takes no writes, and there is no other", serves, "p readonly; q readonly of=p", "p", false, "", ""},
		{"a planned switch", serves, "p readonly; q", "q", false, "", "it takes no writes"},
		{"a planned switch, the old one replicates already", serves, "p of=q; q", "q", false, "", "it is a replica"},
		{"a ring", serves, "p of=q; q of=p", "p", false, "", ""},
		{"a ring whose primary is gone", serves, "p gone of=q; q of=p", "p", false, "", ""},
		{"the account may not ask the primary", serves, "p refuses; q", "p", false, "", ""},
		{"another one takes writes", serves, "p; q", "p", false, "", ""},
		{"another one of a later epoch", Standing{Primary: "p", Settled: true, Epoch: 1}, "p; q epoch=1,q", "q", false, "p", "later epoch"},
		{"the old one comes back", later, "p epoch=1,p; q epoch=2,q", "q", false, "p", ""},
		{"the old one comes back without an epoch", later, "p; q epoch=2,q", "q", false, "p", ""},
		{"the old one is a replica now", later, "p of=q epoch=2,q; q epoch=2,q", "q", false, "", ""},
		{"the new one dies, the old one takes writes", later, "p epoch=1,p; q gone epoch=2,q", "q", false, "p", ""},
		{"back to the first", later, "p epoch=2,q; q gone epoch=2,q", "p", false, "", "does not answer"},
		{"the epoch's own of two", later, "p epoch=2,q; q epoch=2,q", "q", false, "", ""},
		{"the epoch's own of two, both others", Standing{Primary: "p", Settled: true, Epoch: 1}, "p gone; q epoch=1,r; r epoch=1,r", "r", false, "", "does not answer"},

		{"lacks transactions", had, "p gone; q has=0-1-6", "p", false, "", "q takes writes, but lacks transactions that p had: not all of 0-1-7 is in 0-1-6"},
		{"lacks transactions, and the primary serves in an earlier epoch", Standing{Primary: "p", Settled: true, Epoch: 1, had: holding{gtids: set("0-1-7")}}, "p; q epoch=1,q has=0-1-6", "p", true, "", "lacks"},
		{"lacks what may not have been acknowledged", had, "p gone; q has=0-1-8", "q", false, "", "does not answer"},
		{"lacks heartbeats only", beating, "p gone; q has=0-1-7 beats=p3", "q", false, "", "does not answer"},
		{"lacks a heartbeat and a change", beating, "p gone; q has=0-1-7 beats=p4", "p", false, "", "lacks"},
		{"lacks a change, and rows of heartbeats do not come there", beating, "p gone; q has=0-1-7 beats=p1", "p", false, "", "lacks"},
		{"lacks a change, and has no heartbeats", beating, "p gone; q has=0-1-7", "p", false, "", "lacks"},
		{"lacks a change, and has another server's heartbeats", beating, "p gone; q has=0-1-7 beats=q3", "p", false, "", "lacks"},
		{"lacks a change, and has heartbeats of later", beating, "p gone; q has=0-1-8 beats=p6", "p", false, "", "lacks"},
		{"keeps no account", had, "p gone; q", "q", false, "", "does not answer"},

		{"the beginning", begins, "p silent; q of=p", "p", true, "", "p has not been asked"},
		{"the beginning, one of two", begins, "p; q silent", "p", true, "", "q has not been asked"},
		{"the beginning, the replica is down", begins, "p; q silent gone", "p", false, "", ""},
		{"the beginning, all are down", begins, "p silent gone; q silent gone", "p", false, "", ""},
		{"the beginning, the account may not ask", begins, "p refuses; q refuses", "p", false, "", ""},
		{"the beginning, the configuration is old", begins, "p of=q; q", "q", false, "", "it is a replica"},
		{"the beginning, the configured one is down", begins, "p silent gone; q", "q", false, "", "does not answer"},
		{"the beginning, two take writes", begins, "p; q", "p", true, "", "several servers take writes, p and q"},
		{"the beginning, two take writes in epochs", Standing{Primary: "p", Epoch: 3}, "p epoch=2,p; q epoch=3,q", "q", false, "p", "later epoch"},
		{"the beginning, two take writes in one epoch", Standing{Primary: "p", Epoch: 3}, "p epoch=3,p; q epoch=3,p", "p", false, "", ""},
		{"the beginning, none takes writes", begins, "p readonly; q readonly of=p", "p", false, "", ""},

		{"one server by two names", begins, "p; q is=p", "p", false, "", ""},
		{"one server by two names, it has an epoch", Standing{Primary: "p", Settled: true, Epoch: 1}, "p epoch=1,p; q is=p epoch=1,p", "p", false, "", ""},
		{"one server by two names, the other one serves", Standing{Primary: "q", Settled: true, Epoch: 1}, "p epoch=1,p; q is=p epoch=1,p", "q", false, "", ""},
		{"one server by two names, one of which does not lead there", serves, "p gone; q is=p", "q", false, "", "does not answer"},
		{"promoted, by two names", serves, "p gone; q; r is=q", "q", false, "", "does not answer"},
		{"the old one comes back, by two names", later, "p epoch=1,p; q epoch=2,q; r is=p epoch=1,p", "q", false, "p,r", ""},

		{"a group", serves, "p member=online; q readonly member=online", "p", false, "", ""},
		{"a group that has elected", serves, "p gone; q member=online; r readonly member=online", "q", false, "", "does not answer"},
		{"a primary that has left its group", serves, "p member=departed; q member=online", "q", false, "p", "is not in its group"},
		{"a primary that was started without its group", serves, "p; q member=online", "q", false, "p", "is not in its group"},
		{"a server that was started without its group", serves, "p gone member=online; q; r member=online readonly", "p", false, "q", ""},
		{"a cluster", serves, "p member=multi; q member=multi", "p", false, "", ""},
		{"a cluster, at the beginning", begins, "p member=multi; q member=multi", "p", false, "", ""},
		{"a cluster, at the beginning, not the first one", Standing{Primary: "q"}, "p member=multi; q member=multi", "q", false, "", ""},
		{"a cluster whose first one dies", serves, "p gone member=multi; q member=multi; r member=multi", "q", false, "", "does not answer"},
		{"a member that is not in step", serves, "p member=departed; q member=multi; r member=multi", "q", false, "p", "is not in its group"},
		{"a member that joins again", serves, "p member=online; q readonly member=departed; r readonly member=online", "p", false, "q", ""},
		{"a replica of a group", serves, "p member=online; q readonly of=p; r readonly member=online", "p", false, "", ""},
		{"a primary of a group that has fallen apart", serves, "p member=departed; q member=departed", "p", false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []Observation
			s := c.standing
			for text := range strings.SplitSeq(c.servers, ";") {
				all = append(all, observed(text))
			}
			v := s.Judge(all, false)
			if v.Primary != c.primary || v.Held != c.held || strings.Join(v.Retired, ",") != c.retired || !strings.Contains(v.Reason, c.reason) || (c.reason == "") != (v.Reason == "") {
				t.Errorf("%+v", v)
			}
			if v.Moves != (v.Primary != s.Primary) {
				t.Errorf("moves: %+v", v)
			}
			if v.Primary != s.Primary { // and there it stays
				s.Become(v.Primary)
				if again := s.Judge(all, false); again.Primary != v.Primary || again.Moves || again.Held {
					t.Errorf("then %+v", again)
				}
			}
			if diverged := s.Judge(all, true); strings.Contains(v.Reason, "lacks") != diverged.Diverged || diverged.Diverged && diverged.Primary == v.Primary {
				t.Errorf("served all the same: %+v", diverged)
			}
		})
	}
}

// Heartbeats are written where the primary does as one, in the last epoch, and nowhere else.
func TestServes(t *testing.T) {
	for _, c := range []struct {
		name     string
		standing Standing
		servers  string
		want     bool
	}{
		{"at the beginning", Standing{Primary: "p"}, "p; q of=p", false},
		{"all is well", Standing{Primary: "p", Settled: true}, "p; q of=p", true},
		{"in its epoch", Standing{Primary: "p", Settled: true, Epoch: 2}, "p epoch=2,p; q of=p epoch=2,p", true},
		{"an old primary, behind the death of the new one", Standing{Primary: "p", Settled: true, Epoch: 2}, "p epoch=1,p; q gone epoch=2,q", false},
		{"an old primary, beside the new one", Standing{Primary: "p", Settled: true, Epoch: 2}, "p epoch=1,p; q epoch=2,q", false},
		{"it takes no writes", Standing{Primary: "p", Settled: true}, "p readonly; q of=p", false},
		{"it does not answer", Standing{Primary: "p", Settled: true}, "p late; q of=p", false},
		{"it may not be asked", Standing{Primary: "p", Settled: true}, "p refuses; q of=p", false},
		{"it is a replica", Standing{Primary: "p", Settled: true}, "p of=q; q readonly", false},
		{"a group", Standing{Primary: "p", Settled: true}, "p member=online; q readonly member=online", true},
		{"a cluster", Standing{Primary: "p", Settled: true}, "p member=multi; q member=multi", false},
		{"out of its group", Standing{Primary: "p", Settled: true}, "p member=departed; q readonly member=online", false},
	} {
		var all []Observation
		for text := range strings.SplitSeq(c.servers, ";") {
			all = append(all, observed(text))
		}
		if v := c.standing.Judge(all, false); v.Serves != c.want {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// What is known grows with observations, and what a primary had is that of the observation before its last.
func TestNote(t *testing.T) {
	s := Standing{Primary: "p", Settled: true}
	for _, text := range []string{"p has=0-1-1", "q has=0-1-9 epoch=3,q", "p has=0-1-2", "p gone has=0-1-9 epoch=9,p", "p has=0-1-3 beats=p4", "p has=0-1-4 beats=p4 unsure", "p"} {
		o := observed(text)
		s.Note(&o)
	}
	if want := (Standing{Primary: "p", Settled: true, Epoch: 3, had: holding{set("0-1-2"), "uuid-p", 0}, now: holding{set("0-1-3"), "uuid-p", 4}}); !reflect.DeepEqual(s, want) {
		t.Errorf("%+v", s)
	}
	if s.Become("p"); s.had.gtids == nil {
		t.Error("what it had is forgotten")
	}
	if s.Become("q"); s.had.gtids != nil || s.now.gtids != nil || s.Primary != "q" {
		t.Errorf("%+v", s)
	}
}
