package rig

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is a proxy that this rig started. It ends with the rig's process at the latest.
type process struct {
	cmd   *exec.Cmd
	log   string // path of what it prints
	ended chan struct{}
	err   error // of the end, after ended
}

const (
	startTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
	pollInterval = 10 * time.Millisecond
	logTailMax   = 2000 // bytes of a log in an error
)

// startProcess starts a program that prints into the file log; apart is as in Options.
func startProcess(cmd *exec.Cmd, log string, apart bool) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = processAttr(apart)
	p := &process{cmd: cmd, log: log, ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The process dies with the thread that started it, so that thread stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// wait calls ready until it succeeds.
func (p *process) wait(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended at once: %v\n%s", p.err, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("it does not serve: %w\n%s", err, p.tail())
		case <-time.After(pollInterval):
		}
	}
}

// tail gives the end of what the program printed.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(bytes.ToValidUTF8(text[max(0, len(text)-logTailMax):], nil)))
}

// stop ends the process, after a while by force, and returns when it is gone.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return nil
}

// freeAddrs returns n different loopback addresses that nobody listens on.
func freeAddrs(n int) ([]string, error) {
	addrs := make([]string, n)
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // at the end only: the system could give the same port again
		addrs[i] = l.Addr().String()
	}
	return addrs, nil
}

func certPool(pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in the authority's file")
	}
	return pool, nil
}
