package mysqltest

import "syscall"

// processAttr makes a server die with the process that started it, and keeps the terminal's Ctrl-C from it: its owner
// stops it in order.
func processAttr(c *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: c, Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
