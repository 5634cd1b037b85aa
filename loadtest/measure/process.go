package measure

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrProc is wrapped when the kernel's account of a process cannot be read.
var ErrProc = errors.New("measure: no account of the process")

// Usage is what a process has used so far.
type Usage struct {
	CPU time.Duration // user and system
	RSS int64         // resident now, bytes
}

// clockTick is the unit of processor times in /proc: the kernel's USER_HZ, which is
// 100 on every platform that Go supports.
const clockTick = 10 * time.Millisecond

// Self returns the usage of this process, with the processor time in µs.
func Self() (Usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("%w: %w", ErrProc, err)
	}
	u, err := Process(os.Getpid())
	u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return u, err
}

// Process returns the usage of a process, with the processor time in 10 ms.
func Process(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, fmt.Errorf("%w: %w", ErrProc, err)
	}
	u, err := parseStat(string(stat), int64(os.Getpagesize()))
	if err != nil {
		return Usage{}, fmt.Errorf("%w %d: %w", ErrProc, pid, err)
	}
	return u, nil
}

// The fields of /proc/PID/stat after the command's name, counted from 0 (proc(5)).
const (
	statUser   = 11
	statSystem = 12
	statRSS    = 21
)

// parseStat reads the fields; the name in parentheses may contain anything.
func parseStat(stat string, page int64) (Usage, error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	if end < 0 || len(fields) <= statRSS {
		return Usage{}, fmt.Errorf("stat has %d fields", len(fields))
	}
	var n [3]int64
	for i, f := range []int{statUser, statSystem, statRSS} {
		v, err := strconv.ParseInt(fields[f], 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("field %d of stat: %w", f, err)
		}
		n[i] = v
	}
	return Usage{CPU: time.Duration(n[0]+n[1]) * clockTick, RSS: n[2] * page}, nil
}
