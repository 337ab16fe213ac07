//go:build !linux

package load

import (
	"errors"
	"net"
	"time"

	"kingshard/mysql/transport"
)

// poller is there for Linux only.
type poller struct{}

func newPoller() (*poller, error) { return nil, errors.New("an open loop needs Linux") }

func (*poller) close()                                {}
func (*poller) watch(transport.Poller, int) error     { return nil }
func (*poller) wait(time.Duration) (n int, err error) { return 0, nil }
func (*poller) at(int) int                            { return 0 }

func ownThread() {}

func detach(net.Conn) (transport.Poller, error) { return nil, errors.ErrUnsupported }
