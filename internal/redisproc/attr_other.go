//go:build unix && !linux

package redisproc

import "syscall"

func childAttr(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
