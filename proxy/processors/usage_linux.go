package processors

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Time is the processor time that the process has used so far; 0 where the system does not tell.
func Time() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// pressure is how long the process's threads, those that are there now, were ready to run so far but did not, and how long all
// processors of the machine together had nothing to run: the second figure of /proc/PID/task/TID/schedstat, and the first line of
// /proc/stat, which in a container is the host's. ok is false where one of them cannot be read.
func pressure() (waited, idle time.Duration, ok bool) {
	const tasks = "/proc/self/task"
	list, err := os.ReadDir(tasks)
	if err != nil {
		return 0, 0, false
	}
	for _, task := range list {
		fields, err := figures(tasks + "/" + task.Name() + "/schedstat")
		if err == unix.ENOENT || err == unix.ESRCH {
			continue // it has ended
		}
		if err != nil || len(fields) < 2 {
			return 0, 0, false
		}
		ns, _ := strconv.ParseInt(fields[1], 10, 64)
		waited += time.Duration(ns)
	}
	fields, err := figures("/proc/stat") // cpu user nice system idle iowait
	if err != nil || len(fields) < 6 {
		return 0, 0, false
	}
	for _, f := range fields[4:6] {
		n, _ := strconv.ParseInt(f, 10, 64)
		idle += time.Duration(n) * tick
	}
	return waited, idle, true
}

// figures are the words of a file's first line, which has at most 512 bytes: /proc/stat goes on for thousands. Errors are the system's.
func figures(path string) ([]string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var text [512]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(string(text[:n]), "\n")
	return strings.Fields(line), nil
}
