package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// noCore has the kernel write no core dump of this process, whatever limits and core_pattern say, and lets no other process of the
// same user look into its memory: passwords of servers are in there, and values of statements.
func noCore() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("core dumps cannot be prevented: %w; -core-dumps permits them", err)
	}
	return nil
}
