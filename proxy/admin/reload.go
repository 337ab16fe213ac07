package admin

import (
	"fmt"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/account"
)

// reload reads the file and, unless it is only a check, brings it into force. changes are those from the configuration
// that was in force.
func (a *Admin) reload(w who, check bool) (changes []config.Change, err error) {
	if check {
		if err := w.need(account.Read, "a check of the configuration"); err != nil {
			return nil, err
		}
		_, _, changes, err := a.load()
		return changes, err
	}
	err = a.act(w, account.Operate, "reload", "", func() error {
		cfg, faults, diff, err := a.load()
		for _, fault := range faults {
			a.log.Warn("reload: configuration fault", "field", fault.Path, "line", fault.Line, "fault", fault.Text, "warning", fault.Warning)
		}
		if err != nil {
			return err
		}
		if err := a.server.Reload(w.by(), cfg); err != nil {
			return failed("reload refused, the running configuration stays: %v", err)
		}
		changes = diff
		return nil
	})
	return changes, err
}

// ReloadFile is a reload that a signal asked for.
func (a *Admin) ReloadFile() error {
	_, err := a.reload(itself, false)
	return err
}

// load reads the file and compares it with what is in force.
func (a *Admin) load() (*config.Config, []config.Fault, []config.Change, error) {
	f := a.file.Load()
	if f.Path == "" {
		return nil, nil, nil, failed("the proxy was not started from a file")
	}
	cfg, faults := f.Load()
	if cfg == nil {
		var lines []string
		for _, fault := range faults {
			if !fault.Warning {
				lines = append(lines, fault.String())
			}
		}
		return nil, faults, nil, failed("reload refused, the running configuration stays: %s", strings.Join(lines, "; "))
	}
	return cfg, faults, config.Diff(a.shared.Snapshot.Load().Config, cfg), nil
}

// edit changes the configuration in force, not the file.
func (a *Admin) edit(w who, what, detail string, change func(cfg *config.Config) error) error {
	return a.act(w, account.Admin, what, detail, func() error {
		err := a.server.Edit(w.by(), change)
		if _, said := err.(*mysql.SQLError); err != nil && !said {
			return failed("the running configuration stays: %v", err)
		}
		return err
	})
}

// save writes what administration changed into the file, and the black list into its own.
func (a *Admin) save(w who) error {
	return a.act(w, account.Admin, "save config", a.file.Load().Path, func() error {
		f := a.file.Load()
		if f.Path == "" {
			return failed("the proxy was not started from a file")
		}
		snap := a.shared.Snapshot.Load()
		path := snap.Config.BlacklistSQLFile
		if path == "" && len(snap.Blacklist.List()) > 0 {
			return failed("the black list has no file to go to: set blacklist_sql_file and create it")
		}
		if _, err := f.Save(snap.Config); err != nil {
			return failed("the file was not changed: %v", err)
		}
		if path == "" {
			return nil
		}
		if err := config.ReplaceFile(path, snap.Blacklist.Text()); err != nil {
			return fmt.Errorf("the configuration is saved; %w", failed("blacklist_sql_file was not changed: %v", err))
		}
		return nil
	})
}
