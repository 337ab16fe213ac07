package procstat

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that a process has used since its start, its ended threads included, or between two such
// readings. The total is the scheduler's, exact to the nanosecond; /proc/PID/stat, which has hundredths of a second,
// only says how it divides into user and system.
type CPU struct {
	total        time.Duration
	user, system time.Duration // in whole ticks
}

// Total is user and system together.
func (c CPU) Total() time.Duration { return c.total }

// User is the time outside of the kernel.
func (c CPU) User() time.Duration {
	if c.user+c.system == 0 {
		return c.total // less than a tick
	}
	return time.Duration(float64(c.total) * (float64(c.user) / float64(c.user+c.system)))
}

// System is the time in the kernel.
func (c CPU) System() time.Duration { return c.total - c.User() }

// Sub is the time used since an earlier reading.
func (c CPU) Sub(earlier CPU) CPU {
	return CPU{total: c.total - earlier.total, user: c.user - earlier.user, system: c.system - earlier.system}
}

// Add is the time of two processes together.
func (c CPU) Add(other CPU) CPU {
	return CPU{total: c.total + other.total, user: c.user + other.user, system: c.system + other.system}
}

// tick is the unit of /proc/PID/stat: USER_HZ is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// ReadCPU reads a process's CPU time.
func ReadCPU(pid int) (CPU, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return CPU{}, err
	}
	c, err := parseStat(string(text))
	if err != nil {
		return CPU{}, err
	}
	if c.total, err = cpuClock(pid); err != nil {
		return CPU{}, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return c, nil
}

// parseStat reads utime and stime of /proc/PID/stat. The name of the command, in parentheses, may hold anything.
func parseStat(text string) (CPU, error) {
	_, rest, ok := cutLast(text, ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return CPU{}, fmt.Errorf("unknown form of /proc/PID/stat: %.80q", text)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return CPU{}, fmt.Errorf("unknown form of /proc/PID/stat: %.80q", text)
	}
	return CPU{user: time.Duration(user) * tick, system: time.Duration(system) * tick}, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
