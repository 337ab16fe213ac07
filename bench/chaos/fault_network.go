package chaos

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// failing is the node whose server, or the network to it, fails; the other one goes on.
const failing = 1

// networkFaults are of the network between the proxy and the server of a node.
func networkFaults() []Fault {
	return []Fault{
		network("slow", "each packet to and from a node's server is 50 ms late", mysqltest.RelayFault{Delay: 50 * time.Millisecond}),
		network("single bytes", "each byte to and from a node's server goes by a write of its own", mysqltest.RelayFault{Bytewise: true}),
		network("lost for a while", "nothing gets through to a node's server and back; all of it does afterwards", mysqltest.RelayFault{Stall: true}),
		halfOpen,
		network("refused", "a node's server takes no new connections, those that there are break", mysqltest.RelayFault{Refuse: true}),
		each("cut", "all connections to a node's server are closed every half second", (*mysqltest.Relay).Cut),
		each("reset", "all connections to a node's server are reset every half second", (*mysqltest.Relay).Reset),
		behind("INSERT", "connections to a node's server break when it has carried out an INSERT, ahead of its answer", "INSERT"),
		behind("COMMIT", "the same with COMMIT", "COMMIT"),
		behind("XA PREPARE", "the same with XA PREPARE, the first step of a commit on two nodes", "XA PREPARE", "BEGIN NOT ATOMIC CALL ks_meta.ks_branch"),
		behind("the decision", "the same with what decides such a commit, the second step", "CALL ks_meta.ks_decide"),
		behind("XA COMMIT", "the same with XA COMMIT, the last step", "XA COMMIT"),
	}
}

// network is a fault of the relay.
func network(name, what string, f mysqltest.RelayFault) Fault {
	return Fault{Name: name, What: what, steady: true, run: func(ctx context.Context, s *subject, lasts time.Duration) error {
		r := s.relays[failing]
		if err := r.Set(f); err != nil {
			return err
		}
		if f.Refuse {
			r.Reset()
		}
		err := pause(ctx, lasts)
		if healed := r.Heal(); err == nil {
			err = healed
		}
		return err
	}}
}

// halfOpen lasts until the health checks have found it: nothing else does, as the relay acknowledges what it swallows, so connections of a shorter one stay
// silent until their clients give up.
var halfOpen = Fault{
	Name: "half-open", What: "nothing gets through to a node's server and back, until the health checks find that, and connections of then stay silent; neither side is told", steady: true,
	run: func(ctx context.Context, s *subject, lasts time.Duration) error {
		r := s.relays[failing]
		if err := r.Set(mysqltest.RelayFault{Swallow: true}); err != nil {
			return err
		}
		err := pause(ctx, lasts)
		for found := false; err == nil && !found; {
			var l level
			if l, err = s.level(ctx, false); err == nil {
				found = l.Down > 0
				err = pause(ctx, 50*time.Millisecond)
			}
		}
		return errors.Join(err, r.Heal())
	},
}

// each is something that is done to all connections again and again.
func each(name, what string, do func(*mysqltest.Relay)) Fault {
	return Fault{Name: name, What: what, steady: true, run: func(ctx context.Context, s *subject, lasts time.Duration) error {
		return repeat(ctx, lasts, 500*time.Millisecond, func(int) error {
			do(s.relays[failing])
			return nil
		})
	}}
}

// behind cuts connections behind statements that begin with one of these texts.
func behind(step, what string, texts ...string) Fault {
	f := Fault{Name: "cut behind " + step, What: what, steady: true}
	f.run = func(ctx context.Context, s *subject, lasts time.Duration) error {
		var cut atomic.Bool
		fault := mysqltest.RelayFault{CutAfter: func(command mysql.Command, body []byte) bool {
			text := bytes.TrimPrefix(body, noAttributes)
			meant := command == mysql.ComQuery && slices.ContainsFunc(texts, func(t string) bool { return bytes.HasPrefix(text, []byte(t)) })
			if meant {
				cut.Store(true)
			}
			return meant
		}}
		err := network("", "", fault).run(ctx, s, lasts)
		if err == nil && !cut.Load() {
			err = errors.New("no such statement was sent")
		}
		return err
	}
	return f
}

// noAttributes is what stands ahead of a statement's text where both sides know query attributes and there are none.
var noAttributes = []byte("\x00\x01")
