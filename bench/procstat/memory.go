package procstat

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is a process's resident memory in KiB.
type Memory struct {
	RSS, Peak int
}

// ReadMemory reads a process's resident memory and its highest value since the start or the last ResetPeak.
func ReadMemory(pid int) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	return parseStatus(string(text))
}

// ResetPeak makes the present resident memory the highest.
func ResetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

func parseStatus(text string) (Memory, error) {
	var m Memory
	found := 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		to := map[string]*int{"VmRSS": &m.RSS, "VmHWM": &m.Peak}[name]
		if to == nil {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if err != nil {
			return Memory{}, fmt.Errorf("unknown form of /proc/PID/status: %q", line)
		}
		*to = n
		found++
	}
	if found != 2 {
		return Memory{}, fmt.Errorf("/proc/PID/status without VmRSS and VmHWM: has the process ended?")
	}
	return m, nil
}
