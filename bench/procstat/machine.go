package procstat

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes where figures come from.
type Machine struct {
	CPU       string // model name
	Cores     int
	MemoryMiB int
	Kernel    string
	Go        string // version and platform
	// Congestion is how TCP decides on its pace: it matters on loopback, too.
	Congestion string
	// Autogroup is the kernel's kernel.sched_autogroup_enabled, "1" if sessions are scheduled as groups.
	Autogroup string
}

// ReadMachine describes this machine; what it cannot find stays empty.
func ReadMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}
	m.CPU = field(read("/proc/cpuinfo"), "model name")
	if kib, err := strconv.Atoi(strings.TrimSuffix(field(read("/proc/meminfo"), "MemTotal"), " kB")); err == nil {
		m.MemoryMiB = kib / 1024
	}
	m.Kernel = strings.TrimSpace(read("/proc/sys/kernel/osrelease"))
	m.Autogroup = strings.TrimSpace(read("/proc/sys/kernel/sched_autogroup_enabled"))
	m.Congestion = strings.TrimSpace(read("/proc/sys/net/ipv4/tcp_congestion_control"))
	return m
}

func read(name string) string {
	text, _ := os.ReadFile(name)
	return string(text)
}

// field gives the value of the first line "name: value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
