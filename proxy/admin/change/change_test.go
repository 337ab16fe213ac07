package change_test

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/querylog"
	"kingshard/proxy/session"
)

// server brings every edit into force.
type server struct {
	change.Server
	snapshot atomic.Pointer[session.Snapshot]
}

func (s *server) Edit(_ querylog.By, _ bool, edit func(cfg *config.Config) error) error {
	cfg := s.snapshot.Load().Config.Clone()
	err := edit(cfg)
	if err == nil {
		s.snapshot.Store(&session.Snapshot{Config: cfg})
	}
	return err
}

// Changes are made with the rights for them, and leave events whether they are or not.
func TestChanges(t *testing.T) {
	s := new(server)
	cfg := config.Default()
	cfg.Nodes = []config.Node{{Name: "n", Slave: "a:1"}}
	s.snapshot.Store(&session.Snapshot{Config: cfg})
	log := slog.New(slog.DiscardHandler)
	trail := change.NewTrail(log, new(querylog.Log))
	c := change.NewConfiguration(&s.snapshot, s, trail, log, config.File{})
	root, look := change.Who{Name: "root", Rights: account.Admin}, change.Who{Name: "look", Rights: account.Read}
	for _, step := range []struct {
		outcome string
		do      func() error
	}{
		{"ok", func() error { return c.AddReplica(root, "n", "b:2", 3, "") }},
		{`node "n" has a replica at "b:2" already: REMOVE it first to change its weight`, func() error { return c.AddReplica(root, "n", "b:2", 1, "") }},
		{"ok", func() error { return c.RemoveReplica(root, "n", "a:1") }},
		{`there is no node "x": SHOW KS NODES lists them`, func() error { return c.SetPrimary(root, "x", "b:2", "") }},
		{`set primary needs the rights admin, and "look" has read`, func() error { return c.SetPrimary(look, "n", "b:2", "") }},
		{"the proxy was not started from a file", func() error { _, err := c.Save(root, false); return err }},
		{"ok", func() error { return c.SetPrimary(root, "n", "b:2", "") }},
		{"instances: no", func() error {
			return trail.Act(root, account.Operate, "instances", "", func() error { return errors.New("instances: no") })
		}},
	} {
		err := step.do()
		events := trail.Events()
		if e := events[len(events)-1]; e.Outcome != step.outcome || (err == nil) != (e.Outcome == "ok") {
			t.Errorf("%+v, %v; want %s", e, err, step.outcome)
		}
	}
	if n := s.snapshot.Load().Config.Node("n"); n.Master != "b:2" || n.Slave != "" {
		t.Errorf("primary %q, replicas %q", n.Master, n.Slave)
	}
}
