//go:build !race

package querylog

import (
	"testing"
	"time"

	"kingshard/config"
)

// Neither statistics nor lines of the log take memory for a statement whose digest is known.
func TestStatementAllocatesNothing(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"off":     func(c *config.Config) { c.Digests = 0 },
		"digests": func(*config.Config) {},
		"sql":     func(c *config.Config) { c.LogPath = t.TempDir() },
		"literals": func(c *config.Config) {
			c.LogPath, c.LogLiterals, c.LogSQLFormat = t.TempDir(), true, "kingshard"
		},
	} {
		cfg := config.Default()
		change(cfg)
		l := new(Log)
		if err := l.Open(cfg); err != nil {
			t.Fatal(err)
		}
		short, long := statement("SELECT name FROM users WHERE id = 42", time.Millisecond), statement("SELECT name, mail FROM users WHERE id = 42 AND name = 'x'", time.Millisecond)
		for range 5000 {
			l.Statement(short) // until the queue's memory is there
		}
		if n := testing.AllocsPerRun(1000, func() { l.Statement(short); l.Statement(long) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
