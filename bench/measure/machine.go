package measure

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what the measurements ran on.
type Machine struct {
	OS        string  `json:"os"`
	Arch      string  `json:"arch"`
	Kernel    string  `json:"kernel"`
	CPU       string  `json:"cpu"`
	Cores     int     `json:"cores"`
	MemoryGiB float64 `json:"memory_gib"`
	Go        string  `json:"go"`
}

// ThisMachine reads what /proc tells; a part that it does not tell is "unknown", or 0.
func ThisMachine() Machine {
	m := Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		Kernel: "unknown", CPU: "unknown",
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	if model, ok := field("/proc/cpuinfo", "model name"); ok {
		m.CPU = model
	}
	if total, ok := field("/proc/meminfo", "MemTotal"); ok {
		if kib, err := strconv.ParseFloat(strings.TrimSuffix(total, " kB"), 64); err == nil {
			m.MemoryGiB = kib / (1 << 20)
		}
	}
	return m
}

// String is the machine in a sentence.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %.1f GiB of memory, %s/%s, kernel %s, %s.", m.CPU, m.Cores, m.MemoryGiB, m.OS, m.Arch, m.Kernel, m.Go)
}

// field is the value of the first line "name : value" of a file.
func field(path, name string) (value string, ok bool) {
	text, err := os.ReadFile(path) //nolint:gosec // one of two files of the kernel
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
