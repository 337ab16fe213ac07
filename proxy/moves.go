package proxy

import (
	"fmt"
	"strings"
	"time"

	"kingshard/config"
	"kingshard/router"
)

// Moves lists those of the changes from the configuration in force that place rows elsewhere, by their paths. It gives an error for a
// configuration that cannot come into force.
func (s *Server) Moves(cfg *config.Config) (fields []string, err error) {
	if err := Check(cfg); err != nil {
		return nil, err
	}
	return moves(s.Config(), cfg)
}

// refuseMoves gives an error for a configuration that places rows elsewhere than the one in force.
func refuseMoves(now, cfg *config.Config) error {
	fields, err := moves(now, cfg)
	if err != nil || len(fields) == 0 {
		return err
	}
	return fmt.Errorf("%s places rows elsewhere: those that are there would not be found, and primary keys could be there twice; "+
		"move the rows, then KS RELOAD FORCE 'reason'", strings.Join(fields, ", "))
}

func moves(old, new *config.Config) (fields []string, err error) {
	changes := config.Diff(old, new)
	if len(changes) == 0 {
		return nil, nil
	}
	moved, err := router.Moved(old, new, time.Local)
	if err != nil {
		return nil, err
	}
	for _, m := range moved {
		fields = append(fields, blamed(m, changes)...)
	}
	return fields, nil
}

// blamed are the changed keys of a rule; the rule itself where they are another one's that it goes by.
func blamed(m router.Movement, changes []config.Change) (fields []string) {
	for _, c := range changes {
		key, within := strings.CutPrefix(c.Path, m.Path()+".")
		if c.Path == m.Path() || within && key != "auto_create" && !strings.HasPrefix(key, "sequence") {
			fields = append(fields, c.Path)
		}
	}
	if fields == nil {
		fields = []string{m.Path()}
	}
	return fields
}
