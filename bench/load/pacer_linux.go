package load

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pacer wakes its goroutine at equal intervals. It is a timerfd, because Go's own timers wake an idle process up to a
// millisecond late.
type pacer struct {
	file *os.File
	buf  [8]byte
}

// pacerIntervalMin: above 20,000 wake-ups a second, several statements are sent at each.
const pacerIntervalMin = 50 * time.Microsecond

func newPacer(interval time.Duration) (*pacer, error) {
	interval = max(interval, pacerIntervalMin)
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	p := &pacer{file: os.NewFile(uintptr(fd), "timerfd")}
	every := unix.NsecToTimespec(interval.Nanoseconds())
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: every, Value: every}, nil); err != nil {
		p.close()
		return nil, os.NewSyscallError("timerfd_settime", err)
	}
	return p, nil
}

// wait returns at the next interval, at once if one has passed since the last call.
func (p *pacer) wait() error {
	_, err := p.file.Read(p.buf[:])
	return err
}

func (p *pacer) close() { p.file.Close() }
