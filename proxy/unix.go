package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// listenUnix listens on a unix socket. A socket file that nobody listens on any more, left by a crash, is replaced.
func (s *Server) listenUnix(path string) error {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		nc, dialErr := net.Dial("unix", path)
		if dialErr == nil {
			_ = nc.Close()
			return fmt.Errorf("socket: %s is in use by another process", path)
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("socket: %w", err)
		}
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	// As MySQL's own socket: who may connect is for the accounts to say.
	if err := os.Chmod(path, 0o777); err != nil {
		_ = l.Close()
		return fmt.Errorf("socket: %w", err)
	}
	s.listeners = append(s.listeners, l)
	return nil
}
