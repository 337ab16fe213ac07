package rig

import "syscall"

// processAttr makes a process die with the thread that started it, and keeps the terminal's Ctrl-C from it.
func processAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
