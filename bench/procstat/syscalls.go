package procstat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// CountSyscalls counts the system calls of a process and all its threads over a time, by name, with strace. The process
// is many times slower meanwhile: divide by the queries of the same time, and never take its other figures.
func CountSyscalls(ctx context.Context, pid int, d time.Duration) (map[string]uint64, error) {
	out, err := os.CreateTemp("", "bench-strace-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(ctx, "strace", "-c", "-f", "-q", "-o", out.Name(), "-p", strconv.Itoa(pid))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return nil, errors.Join(err, cmd.Wait())
	}
	_ = cmd.Wait() // an interrupted strace does not end with 0
	text, err := os.ReadFile(out.Name())
	if err != nil {
		return nil, err
	}
	return parseStrace(string(text))
}

// parseStrace reads the table of strace -c: % time, seconds, usecs/call, calls, errors where there were any, syscall.
func parseStrace(text string) (map[string]uint64, error) {
	calls := make(map[string]uint64)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		name := fields[len(fields)-1]
		n, err := strconv.ParseUint(fields[3], 10, 64)
		if err != nil || name == "total" {
			continue
		}
		calls[name] = n
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("strace counted nothing: %.200q", text)
	}
	return calls, nil
}
