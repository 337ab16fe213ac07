//go:build !linux

package rig

import "syscall"

func processAttr(apart bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: apart, Setpgid: !apart}
}
