package rig

import "syscall"

// processAttr makes a process die with the thread that started it, and keeps the terminal's Ctrl-C from it.
func processAttr(apart bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: apart, Setpgid: !apart, Pdeathsig: syscall.SIGKILL}
}
