package measure

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// Machine names the class of the machine, such as "2 vCPU AMD EPYC", and nothing
// that would tell one machine of the class from another.
func Machine() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil
	}
	return fmt.Sprintf("%d vCPU %s", runtime.NumCPU(), model(string(info)))
}

// model is the processor's name without clocks, counts and trade marks.
func model(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(key) != "model name" {
			continue
		}
		value = regexp.MustCompile(`\((R|TM|tm)\)|@.*|\b\d+-Core\b|\b(Processor|CPU)\b`).ReplaceAllString(value, " ")
		if name := strings.Join(strings.Fields(value), " "); name != "" {
			return name
		}
	}
	return runtime.GOARCH
}

// LoadAverage returns the average number of runnable processes over the last minute,
// or "unknown": on a machine that is used by others, figures say little without it.
func LoadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
