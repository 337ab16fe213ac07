package change

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/statement"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session"
)

// Configuration is the one in force, and its file, as administration changes them. Any goroutine may use it.
type Configuration struct {
	snapshot *atomic.Pointer[session.Snapshot]
	server   Server
	trail    *Trail
	log      *slog.Logger
	file     atomic.Pointer[config.File]
	// filing is held from reading or writing the file to the end of what that is for.
	filing sync.Mutex
	// switching is held while a node's primary is changed by plan, or connections of a node that is paused are waited for.
	switching sync.Mutex
	// pauses are those of nodes, by name. Whoever uses them has the server Steady.
	pauses map[string]pause
}

// NewConfiguration returns the configuration of a server. Without a path of the file, reload and save are refused.
func NewConfiguration(snapshot *atomic.Pointer[session.Snapshot], server Server, trail *Trail, log *slog.Logger, file config.File) *Configuration {
	c := &Configuration{snapshot: snapshot, server: server, trail: trail, log: log, pauses: make(map[string]pause)}
	c.file.Store(&file)
	return c
}

// SetFile names the file that Reload reads and Save writes.
func (c *Configuration) SetFile(f config.File) { c.file.Store(&f) }

// Reloading is how a reload is asked for.
type Reloading struct {
	Check bool // only look
	// Force is the reason why rows are to be looked for elsewhere than they were, or a server is taken that is not fit: both are refused
	// without one.
	Force string
}

// Reload reads the file and, unless it is only a check, brings it into force. changes are those from the configuration
// that was in force.
func (c *Configuration) Reload(w Who, how Reloading) (changes []Change, err error) {
	if how.Check {
		if err := w.Need(account.Read, "a check of the configuration"); err != nil {
			return nil, err
		}
		l, _, err := c.load(false)
		if err == nil {
			noteOn(l.changes, c.server.Unfit(l.cfg))
		}
		return l.changes, err
	}
	detail := ""
	if how.Force != "" {
		detail = "FORCE: " + how.Force
	}
	err = c.trail.Act(w, account.Operate, "reload", detail, func() error {
		c.filing.Lock()
		defer c.filing.Unlock()
		l, faults, err := c.load(how.Force != "")
		for _, fault := range faults {
			c.log.Warn("reload: configuration fault", "field", fault.Path, "line", fault.Line, "fault", fault.Text, "warning", fault.Warning)
		}
		if err != nil {
			return err
		}
		if err := c.server.Reload(w.by(), l.cfg, how.Force != ""); err != nil {
			return Failed("reload refused, the running configuration stays: %v", err)
		}
		changes = l.changes
		c.file.Store(&l.file)
		return nil
	})
	return changes, err
}

// ReloadFile is a reload that a signal asked for.
func (c *Configuration) ReloadFile() error {
	_, err := c.Reload(Itself, Reloading{})
	return err
}

// loaded is the file as it is now.
type loaded struct {
	file    config.File // which remembers what was read
	cfg     *config.Config
	changes []Change // from what is in force
}

// Change is a difference of two configurations, whether it places rows elsewhere, and what else hinders it.
type Change struct {
	config.Change
	Elsewhere bool
	Note      string
}

// load reads the file and compares it with what is in force. forced takes the primaries that it names, whatever the servers say.
func (c *Configuration) load(forced bool) (l loaded, faults []config.Fault, err error) {
	l.file = *c.file.Load()
	if l.file.Path == "" {
		return loaded{}, nil, Failed("the proxy was not started from a file")
	}
	if l.cfg, faults = l.file.Load(); l.cfg == nil {
		var lines []string
		for _, fault := range faults {
			if !fault.Warning {
				lines = append(lines, fault.String())
			}
		}
		return loaded{}, faults, Failed("reload refused, the running configuration stays: %s", strings.Join(lines, "; "))
	}
	if !forced {
		for _, name := range l.cfg.KeepPrimaries(c.snapshot.Load().Config) {
			c.log.Info("reload: the primary stays that has the role by what the servers say", "node", name)
		}
	}
	moves, err := c.server.Moves(l.cfg)
	if err != nil {
		return loaded{}, faults, Failed("reload refused, the running configuration stays: %v", err)
	}
	for _, d := range config.Diff(c.snapshot.Load().Config, l.cfg) {
		i := slices.Index(moves, d.Path)
		if i >= 0 {
			moves = slices.Delete(moves, i, i+1)
		}
		l.changes = append(l.changes, Change{Change: d, Elsewhere: i >= 0})
	}
	for _, path := range moves { // rules that go by another one, or by the schema
		l.changes = append(l.changes, Change{Change: config.Change{Path: path, Reloadable: true}, Elsewhere: true})
	}
	return l, faults, nil
}

// Edit changes the configuration in force, not the file. It may call change twice.
func (c *Configuration) Edit(w Who, what, detail string, change func(cfg *config.Config) error) error {
	return c.EditForced(w, what, detail, "", change)
}

// EditForced is Edit and takes, where force gives a reason, a server that answers though it is not fit.
func (c *Configuration) EditForced(w Who, what, detail, force string, change func(cfg *config.Config) error) error {
	if force != "" {
		detail += ", FORCE: " + force
	}
	return c.trail.Act(w, account.Admin, what, detail, func() error {
		err := c.server.Edit(w.by(), force != "", change)
		var unfit Unfits
		switch {
		case !errors.As(err, &unfit):
		case unfit[0].Answers():
			return Failed("%v. If it is meant say FORCE: %s", unfit, unfit[0].forced())
		default:
			return Failed("%v. With it in the file KS RELOAD FORCE 'reason' takes it all the same", unfit)
		}
		if _, said := err.(*mysql.SQLError); err != nil && !said {
			return Failed("the running configuration stays: %v", err)
		}
		return err
	})
}

// Save writes what administration changed into the file, and the black list into its own. With force it does so although
// somebody else changed the file. saved are the changes of the file.
func (c *Configuration) Save(w Who, force bool) (saved []config.Change, err error) {
	err = c.trail.Act(w, account.Admin, "save config", c.file.Load().Path, func() error {
		c.filing.Lock()
		defer c.filing.Unlock()
		f := *c.file.Load()
		if f.Path == "" {
			return Failed("the proxy was not started from a file")
		}
		snap := c.snapshot.Load()
		path := snap.Config.BlacklistSQLFile
		if path == "" && len(snap.Blacklist.List()) > 0 {
			return Failed("the black list has no file to go to: set blacklist_sql_file and create it")
		}
		var err error
		if saved, err = f.Save(snap.Config, force); errors.Is(err, config.ErrFileChanged) {
			return Failed("%v and was left alone: KS RELOAD takes it, KS SAVE CONFIG FORCE writes into it all the same", err)
		} else if err != nil {
			return Failed("the file was not changed: %v", err)
		}
		c.file.Store(&f)
		if path == "" {
			return nil
		}
		if err := config.ReplaceFile(path, snap.Blacklist.Text()); err != nil {
			return fmt.Errorf("the configuration is saved; %w", Failed("blacklist_sql_file was not changed: %v", err))
		}
		return nil
	})
	return saved, err
}

// Set gives a setting of the configuration in force another value.
func (c *Configuration) Set(w Who, name, value string) (changes []config.Change, err error) {
	detail := name
	for _, s := range c.snapshot.Load().Config.Settings() {
		if s.Settable && strings.EqualFold(s.Path, name) {
			detail = s.Path + " = " + value // of others the value may be a secret
		}
	}
	err = c.Edit(w, "set", detail, func(cfg *config.Config) error {
		before := cfg.Clone()
		if err := cfg.Set(name, value); err != nil {
			return Failed("%v; SHOW KS CONFIG WHERE settable = 'YES' lists what can be set", err)
		}
		changes = config.Diff(before, cfg)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// RefuseUpgrade returns an error where a reload of the file, which the other process is to read, would be refused for what that process does
// not see: it places rows elsewhere than the configuration in force does, or has primaries that are not fit.
func (c *Configuration) RefuseUpgrade() error {
	if c.file.Load().Path == "" {
		return nil
	}
	l, _, err := c.load(false)
	if err != nil {
		return nil // the other process says what is wrong
	}
	for _, ch := range l.changes {
		if ch.Elsewhere {
			return Failed("upgrade refused, this process goes on: %s %s; KS RELOAD FORCE 'reason' comes first", ch.Path, ElsewhereNote)
		}
	}
	if unfit := c.server.Unfit(l.cfg); len(unfit) > 0 {
		return Failed("upgrade refused, this process goes on: %v; KS RELOAD FORCE 'reason' comes first", unfit)
	}
	return nil
}

// ElsewhereNote is the note of a change after which rows are looked for where they are not.
const ElsewhereNote = "places rows elsewhere"

// EditBlacklist puts another black list in force; text is the statement that it is about.
func (c *Configuration) EditBlacklist(w Who, what, text string, change func(b *queryrule.Blacklist) (*queryrule.Blacklist, error)) error {
	return c.trail.Act(w, account.Admin, what, statement.Masked(text), func() error { return c.server.EditBlacklist(change) })
}
