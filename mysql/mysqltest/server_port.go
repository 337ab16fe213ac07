package mysqltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// takePort gives a loopback port that nobody listens on, and a locked file that keeps other servers of this package from
// it, in all processes, until it is closed: a server takes seconds until it listens, and is down between a kill and a
// restart. The port is below those that systems give to outgoing connections.
func takePort() (int, *os.File, error) {
	dir, err := cacheDir("ports")
	if err != nil {
		return 0, nil, err
	}
	for range 100 {
		port := 20000 + rand.IntN(12000)
		var taken *os.File
		if taken, err = lockPort(dir, port); err == nil {
			return port, taken, nil
		}
	}
	return 0, nil, fmt.Errorf("no free port between 20000 and 32000: %w", err)
}

// lockPort locks a port's file if no process has it and nobody listens there.
func lockPort(dir string, port int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := l.Close(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
