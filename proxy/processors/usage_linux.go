package processors

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what the process has used so far.
func processorTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// waitingTime is how long the process's threads, those that are there now, were ready to run so far, but did not: the second figure of
// /proc/PID/task/TID/schedstat. It is 0 on kernels that do not count it.
func waitingTime() (sum time.Duration) {
	const tasks = "/proc/self/task"
	list, err := os.ReadDir(tasks)
	if err != nil {
		return 0
	}
	for _, task := range list {
		text, err := os.ReadFile(tasks + "/" + task.Name() + "/schedstat")
		if err != nil {
			continue // it has ended
		}
		if fields := strings.Fields(string(text)); len(fields) >= 2 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// idleTime is how long all processors of the machine together had nothing to run so far: the first line of /proc/stat. A container is
// told of its host.
func idleTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go runs on
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait
	if len(fields) < 6 {
		return 0
	}
	idle, _ := strconv.ParseInt(fields[4], 10, 64)
	wait, _ := strconv.ParseInt(fields[5], 10, 64)
	return time.Duration(idle+wait) * tick
}
