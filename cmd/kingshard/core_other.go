//go:build !linux

package main

import (
	"fmt"
	"syscall"
)

// noCore has the kernel write no core dump of this process: passwords of servers are in there, and values of statements.
func noCore() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("core dumps cannot be prevented: %w; -core-dumps permits them", err)
	}
	return nil
}
