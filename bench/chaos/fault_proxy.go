package chaos

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// proxyFaults are of the proxy itself.
func proxyFaults() []Fault {
	return []Fault{
		{
			Name: "proxy killed", What: "the proxy is killed by SIGKILL and started again, twice", run: func(ctx context.Context, s *subject, lasts time.Duration) error {
				if err := errors.Join(s.cluster.KillProxy(ctx), pause(ctx, lasts)); err != nil {
					return err
				}
				return s.cluster.KillProxy(ctx)
			},
		},
		{
			Name: "reload storm", What: "the proxy reads a changed ks.yaml twenty times a second", steady: true, run: func(ctx context.Context, s *subject, lasts time.Duration) error {
				err := repeat(ctx, lasts, 50*time.Millisecond, func(n int) error {
					if err := s.cluster.Configure(s.config(fmt.Sprintf("connect_timeout: %ds\nbackend_prepared_stmts: %d\n", 4+n%2, 200+n%7))); err != nil {
						return err
					}
					return syscall.Kill(s.proxy(), syscall.SIGHUP)
				})
				if healed := s.cluster.Configure(s.config("")); err == nil {
					err = healed
				}
				if err == nil {
					err = syscall.Kill(s.proxy(), syscall.SIGHUP)
				}
				return err
			},
		},
		{
			Name: "SIGHUP", What: "the proxy reads the same ks.yaml five times a second", steady: true, run: func(ctx context.Context, s *subject, lasts time.Duration) error {
				return repeat(ctx, lasts, 200*time.Millisecond, func(int) error { return syscall.Kill(s.proxy(), syscall.SIGHUP) })
			},
		},
	}
}
