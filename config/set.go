package config

import (
	"fmt"
	"strings"
)

// Set gives one key another value while the proxy runs; only fields tagged reload:"set" can be. path is as Settings gives it, in
// any case; value is written as in the file, without quotes. After an error the value is not to be used. The rest of Validate is
// the caller's.
func (c *Config) Set(path, value string) error {
	var names []string
	for _, s := range c.places() {
		if s.Settable {
			names = append(names, s.Path)
		}
		if !strings.EqualFold(s.Path, path) {
			continue
		}
		switch {
		case !s.Reloadable:
			return fmt.Errorf("%s cannot change while the proxy runs: change it in the file and restart", s.Path)
		case !s.Settable:
			return fmt.Errorf("%s cannot be set by itself: change it in the file and reload", s.Path)
		}
		if err := setScalar(s.value, value); err != nil {
			return fmt.Errorf("%s %w, not %.40q", s.Path, err, value)
		}
		c.normalize("")
		for _, f := range c.Validate() {
			if f.Path == s.Path {
				return fmt.Errorf("%s %s", s.Path, f.Text) // a warning too: who types a value can do better
			}
		}
		return nil
	}
	hint := ""
	if near := nearest(path, names); near != "" {
		hint = ": did you mean " + near + "?"
	}
	return fmt.Errorf("there is no setting %.64q%s", path, hint)
}
