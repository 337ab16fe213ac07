//go:build unix && !linux

package mysqltest

import "syscall"

// processAttr keeps the terminal's Ctrl-C from a server: its owner stops it in order.
func processAttr(c *syscall.Credential, session bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: c, Setsid: session, Setpgid: !session}
}
