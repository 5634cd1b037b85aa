package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// profiles are the profiles of this process over the measured times of all rows.
type profiles struct {
	cpu, mutex, block string
	buf               bytes.Buffer
	err               error
}

func (p *profiles) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&p.cpu, "cpuprofile", "", "file for the processor profile of the last row's measured time")
	fs.StringVar(&p.mutex, "mutexprofile", "", "file for the profile of contended locks of all rows")
	fs.StringVar(&p.block, "blockprofile", "", "file for the profile of waiting of all rows; slows everything down")
}

// The rates at which the runtime samples: every contended lock, and waits of 1 µs and
// more.
const (
	mutexFraction = 1
	blockRate     = 1000
)

func (p *profiles) begin() {
	if p.mutex != "" {
		runtime.SetMutexProfileFraction(mutexFraction)
	}
	if p.block != "" {
		runtime.SetBlockProfileRate(blockRate)
	}
	if p.cpu != "" {
		p.buf.Reset()
		p.err = errors.Join(p.err, pprof.StartCPUProfile(&p.buf))
	}
}

func (p *profiles) end() {
	if p.cpu != "" {
		pprof.StopCPUProfile()
	}
	runtime.SetMutexProfileFraction(0)
	runtime.SetBlockProfileRate(0)
}

// write writes the files asked for.
func (p *profiles) write() error {
	if p.err != nil {
		return fmt.Errorf("processor profile: %w", p.err)
	}
	if p.cpu != "" {
		if err := os.WriteFile(p.cpu, p.buf.Bytes(), 0o600); err != nil {
			return fmt.Errorf("processor profile: %w", err)
		}
	}
	for name, path := range map[string]string{"mutex": p.mutex, "block": p.block} {
		if path == "" {
			continue
		}
		var b bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&b, 0); err != nil {
			return fmt.Errorf("%s profile: %w", name, err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			return fmt.Errorf("%s profile: %w", name, err)
		}
	}
	return nil
}
