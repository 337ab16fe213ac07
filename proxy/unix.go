package proxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// listenUnix listens on a unix socket, with rights for everybody as MySQL's own: who may connect is for the accounts to say. A socket file that nobody listens on any more, left by a crash, is replaced.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		nc, dialErr := net.Dial("unix", path)
		if dialErr == nil {
			_ = nc.Close()
			return nil, fmt.Errorf("%s is in use by another process", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}
