package proxy

import (
	"fmt"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/querylog"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session"
)

// SetFile names the configuration's file, which administration reads again and saves to; before Serve.
func (s *Server) SetFile(f config.File) { s.admin.Configuration.SetFile(f) }

// ReloadFile reads the configuration's file again and brings it into force, or none of it. Log files are opened anew in
// any case.
func (s *Server) ReloadFile() error {
	s.shared.Queries.Reopen()
	return s.admin.Configuration.ReloadFile()
}

// UpgradeBySignal hands the listeners and sessions over to a new process, and tells so in the log, in the audit log and in the list of events.
func (s *Server) UpgradeBySignal() error { return s.admin.Upgrade() }

// Edit changes a copy of the configuration in force, checks it and brings it into force, or none of it. The file stays. With forced it
// takes a server that answers though it is not fit. change is called again where another change came between.
func (s *Server) Edit(by querylog.By, forced bool, change func(cfg *config.Config) error) error {
	return s.change(by, reloading{keepBlacklist: true, answering: forced}, func(now *config.Config) (*config.Config, error) {
		cfg := now.Clone()
		if err := change(cfg); err != nil {
			return nil, err
		}
		for _, fault := range cfg.Validate() {
			if !fault.Warning {
				return nil, fmt.Errorf("the configuration would not be valid: %v", fault)
			}
		}
		return cfg, nil
	})
}

// EditBlacklist puts another black list in force; its file stays.
func (s *Server) EditBlacklist(change func(b *queryrule.Blacklist) (*queryrule.Blacklist, error)) error {
	s.reload.Lock()
	defer s.reload.Unlock()
	snap := s.shared.Snapshot.Load()
	b, err := change(snap.Blacklist)
	if err != nil {
		return err
	}
	s.swapBlacklist(snap, b)
	return nil
}

// swapBlacklist makes a snapshot current that differs from the current one by its black list; the caller holds reload.
func (s *Server) swapBlacklist(snap *session.Snapshot, b *queryrule.Blacklist) {
	next := *snap
	next.Blacklist = b
	next.Generation++
	s.shared.Snapshot.Store(&next)
}

// reloadBlacklist reads the black list again where nothing else of the configuration changed.
func (s *Server) reloadBlacklist(snap *session.Snapshot, keep bool) error {
	if !keep {
		b, err := queryrule.LoadBlacklist(s.cfg.BlacklistSQLFile)
		if err != nil {
			return fmt.Errorf("blacklist_sql_file: %w", err)
		}
		if !b.Equal(snap.Blacklist) {
			s.swapBlacklist(snap, b)
			s.log.Info("reload", "field", "blacklist_sql_file", "statements", len(b.List()))
			return nil
		}
	}
	s.log.Info("reload: nothing changed")
	return nil
}

// Steady runs f while no reload does.
func (s *Server) Steady(f func()) {
	s.reload.Lock()
	defer s.reload.Unlock()
	f()
}

// notesStates returns what puts the verdicts of the health checks into the list of events.
func notesStates(trail *change.Trail) func(*backend.Instance, backend.State, error) {
	return func(i *backend.Instance, state backend.State, err error) {
		outcome := "ok"
		if err != nil {
			outcome = err.Error()
		}
		trail.Note("instance "+state.String(), fmt.Sprintf("%s %s of node %s", i.Role, i.Addr, i.Node), outcome)
	}
}

// notesLags returns what puts replicas that reads pass over, or not any more, into the list of events.
func notesLags(trail *change.Trail) func(*backend.Instance, backend.Lag, bool) {
	return func(i *backend.Instance, l backend.Lag, passedOver bool) {
		what, behind := "replica caught up", "not known"
		if passedOver {
			what = "replica behind"
		}
		if l.Known {
			behind = l.Behind.String()
		}
		trail.Note(what, fmt.Sprintf("%s of node %s, lag %s", i.Addr, i.Node, behind), "ok")
	}
}
