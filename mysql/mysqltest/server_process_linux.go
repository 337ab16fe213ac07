package mysqltest

import "syscall"

// processAttr makes a server die with the process that started it, and keeps the terminal's Ctrl-C from it: its owner
// stops it in order. SIGKILL, as one that is stopped by SIGSTOP at that moment takes no SIGTERM.
func processAttr(c *syscall.Credential, session bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: c, Setsid: session, Setpgid: !session, Pdeathsig: syscall.SIGKILL}
}
