package admin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/account"
)

// reloading is how a reload is asked for.
type reloading struct {
	check bool // only look
	// force is the reason why rows are to be looked for elsewhere than they were, or a server is taken that is not fit: both are refused
	// without one.
	force string
}

// reload reads the file and, unless it is only a check, brings it into force. changes are those from the configuration
// that was in force.
func (a *Admin) reload(w who, how reloading) (changes []placedChange, err error) {
	if how.check {
		if err := w.need(account.Read, "a check of the configuration"); err != nil {
			return nil, err
		}
		l, _, err := a.load()
		if err == nil {
			noteOn(l.changes, a.server.Unfit(l.cfg))
		}
		return l.changes, err
	}
	detail := ""
	if how.force != "" {
		detail = "FORCE: " + how.force
	}
	err = a.act(w, account.Operate, "reload", detail, func() error {
		a.filing.Lock()
		defer a.filing.Unlock()
		l, faults, err := a.load()
		for _, fault := range faults {
			a.log.Warn("reload: configuration fault", "field", fault.Path, "line", fault.Line, "fault", fault.Text, "warning", fault.Warning)
		}
		if err != nil {
			return err
		}
		if err := a.server.Reload(w.by(), l.cfg, how.force != ""); err != nil {
			return failed("reload refused, the running configuration stays: %v", err)
		}
		changes = l.changes
		a.file.Store(&l.file)
		return nil
	})
	return changes, err
}

// ReloadFile is a reload that a signal asked for.
func (a *Admin) ReloadFile() error {
	_, err := a.reload(itself, reloading{})
	return err
}

// loaded is the file as it is now.
type loaded struct {
	file    config.File // which remembers what was read
	cfg     *config.Config
	changes []placedChange // from what is in force
}

// placedChange is a difference of two configurations, whether it places rows elsewhere, and what else hinders it.
type placedChange struct {
	config.Change
	elsewhere bool
	note      string
}

// load reads the file and compares it with what is in force.
func (a *Admin) load() (l loaded, faults []config.Fault, err error) {
	l.file = *a.file.Load()
	if l.file.Path == "" {
		return loaded{}, nil, failed("the proxy was not started from a file")
	}
	if l.cfg, faults = l.file.Load(); l.cfg == nil {
		var lines []string
		for _, fault := range faults {
			if !fault.Warning {
				lines = append(lines, fault.String())
			}
		}
		return loaded{}, faults, failed("reload refused, the running configuration stays: %s", strings.Join(lines, "; "))
	}
	moves, err := a.server.Moves(l.cfg)
	if err != nil {
		return loaded{}, faults, failed("reload refused, the running configuration stays: %v", err)
	}
	for _, c := range config.Diff(a.shared.Snapshot.Load().Config, l.cfg) {
		i := slices.Index(moves, c.Path)
		if i >= 0 {
			moves = slices.Delete(moves, i, i+1)
		}
		l.changes = append(l.changes, placedChange{Change: c, elsewhere: i >= 0})
	}
	for _, path := range moves { // rules that go by another one, or by the schema
		l.changes = append(l.changes, placedChange{Change: config.Change{Path: path, Reloadable: true}, elsewhere: true})
	}
	return l, faults, nil
}

// edit changes the configuration in force, not the file. It may call change twice.
func (a *Admin) edit(w who, what, detail string, change func(cfg *config.Config) error) error {
	return a.editForced(w, what, detail, "", change)
}

// editForced is edit and takes, where force gives a reason, a server that answers though it is not fit.
func (a *Admin) editForced(w who, what, detail, force string, change func(cfg *config.Config) error) error {
	if force != "" {
		detail += ", FORCE: " + force
	}
	return a.act(w, account.Admin, what, detail, func() error {
		err := a.server.Edit(w.by(), force != "", change)
		var unfit Unfits
		switch {
		case !errors.As(err, &unfit):
		case unfit[0].Answers():
			return failed("%v. If it is meant say FORCE: %s", unfit, unfit[0].forced())
		default:
			return failed("%v. With it in the file KS RELOAD FORCE 'reason' takes it all the same", unfit)
		}
		if _, said := err.(*mysql.SQLError); err != nil && !said {
			return failed("the running configuration stays: %v", err)
		}
		return err
	})
}

// save writes what administration changed into the file, and the black list into its own. With force it does so although
// somebody else changed the file. saved are the changes of the file.
func (a *Admin) save(w who, force bool) (saved []config.Change, err error) {
	err = a.act(w, account.Admin, "save config", a.file.Load().Path, func() error {
		a.filing.Lock()
		defer a.filing.Unlock()
		f := *a.file.Load()
		if f.Path == "" {
			return failed("the proxy was not started from a file")
		}
		snap := a.shared.Snapshot.Load()
		path := snap.Config.BlacklistSQLFile
		if path == "" && len(snap.Blacklist.List()) > 0 {
			return failed("the black list has no file to go to: set blacklist_sql_file and create it")
		}
		var err error
		if saved, err = f.Save(snap.Config, force); errors.Is(err, config.ErrFileChanged) {
			return failed("%v and was left alone: KS RELOAD takes it, KS SAVE CONFIG FORCE writes into it all the same", err)
		} else if err != nil {
			return failed("the file was not changed: %v", err)
		}
		a.file.Store(&f)
		if path == "" {
			return nil
		}
		if err := config.ReplaceFile(path, snap.Blacklist.Text()); err != nil {
			return fmt.Errorf("the configuration is saved; %w", failed("blacklist_sql_file was not changed: %v", err))
		}
		return nil
	})
	return saved, err
}
