package mfotl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Program is a monitor: its name in the table, and its binary with the arguments that
// stand before MonPoly's.
type Program struct {
	Name    string
	Command []string
}

// Figures are what one run of a program took.
type Figures struct {
	Program string  `json:"program"`
	Size    Size    `json:"size"`
	User    float64 `json:"user_s"`
	System  float64 `json:"system_s"`
	Wall    float64 `json:"wall_s"`
	// Peak is the largest resident size, bytes.
	Peak int64 `json:"peak_bytes"`
	// Rate is time points per second of user time.
	Rate float64 `json:"events_per_s"`
	// Speed is megabytes of log per second of user time.
	Speed float64 `json:"mb_per_s"`
	// Answers are the bytes of the answers.
	Answers int64 `json:"answer_bytes"`
}

// files are the files of one workload in a directory.
type files struct{ dir string }

func (f files) path(name string) string { return filepath.Join(f.dir, name) }

// write puts signature, formula and log into the directory.
func (w *Workload) write(dir string) (files, error) {
	f := files{dir: dir}
	for name, content := range map[string][]byte{"sig": w.Sig, "formula": w.Formula, "log": w.Log} {
		if err := os.WriteFile(f.path(name), content, 0o600); err != nil {
			return f, err
		}
	}
	return f, nil
}

// writeLong puts the repeated log into the directory.
func (w *Workload) writeLong(f files, facts int) (Size, error) {
	out, err := os.Create(f.path("long"))
	if err != nil {
		return Size{}, err
	}
	size, err := w.Repeat(out, facts)
	return size, errors.Join(err, out.Close())
}

// run runs a program on one of the logs; its answers go to the file "out".
func (f files) run(ctx context.Context, p Program, log string, size Size) (Figures, error) {
	out, err := os.Create(f.path("out"))
	if err != nil {
		return Figures{}, err
	}
	defer out.Close() //nolint:errcheck // the child has written it
	args := slices.Concat(p.Command[1:], []string{"-sig", f.path("sig"), "-formula", f.path("formula"), "-log", f.path(log)})
	cmd := exec.CommandContext(ctx, p.Command[0], args...) //nolint:gosec // the programs are the user's
	var errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errw
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return Figures{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	peak := watchPeak(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		return Figures{}, fmt.Errorf("%s: %w: %s", p.Name, err, strings.TrimSpace(errw.String()))
	}
	fig := Figures{
		Program: p.Name, Size: size, Peak: peak, Wall: time.Since(started).Seconds(),
		User: cmd.ProcessState.UserTime().Seconds(), System: cmd.ProcessState.SystemTime().Seconds(),
	}
	if info, err := out.Stat(); err == nil {
		fig.Answers = info.Size()
	}
	if fig.User > 0 {
		fig.Rate = float64(size.Points) / fig.User
		fig.Speed = float64(size.Bytes) / 1e6 / fig.User
	}
	return fig, nil
}

// watchPeak returns the largest resident size of a child, in bytes, when the child has
// ended and before it is waited for. It looks every few milliseconds: the kernel's figure
// after the end (ru_maxrss) would include this process, from which the child was forked.
func watchPeak(pid int) int64 {
	var peak int64
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, line, alive := strings.Cut(string(status), "VmHWM:")
		if err != nil || !alive {
			return peak
		}
		var kib int64
		if _, err := fmt.Sscan(line, &kib); err == nil {
			peak = kib << 10
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Options say what to measure.
type Options struct {
	// Aspis is the program under test, MonPoly the one beside it; no command is none.
	Aspis, MonPoly Program
	// Facts is how many the long log has at least.
	Facts int
	// Runs is how often the program under test runs on it; the run with the median
	// user time counts.
	Runs int
}

// Row is one workload measured.
type Row struct {
	Workload string  `json:"workload"`
	Bar      float64 `json:"bar_events_per_s,omitempty"`
	// Wrong says why the row is void: an answer differs, or a program failed.
	Wrong   string   `json:"wrong,omitempty"`
	Aspis   *Figures `json:"aspis,omitempty"`
	MonPoly *Figures `json:"monpoly,omitempty"`
}

// Measure runs the programs on one workload, in a directory that is the caller's. Both are
// checked on the log as it is; the program under test is then measured on the long log and
// MonPoly, some of whose rates would make that last for hours, on the log as it is.
func (o *Options) Measure(ctx context.Context, w *Workload, dir string) (Row, error) {
	row := Row{Workload: w.Name, Bar: w.Bar()}
	f, err := w.write(dir)
	if err != nil {
		return row, err
	}
	size, err := w.writeLong(f, 0)
	if err != nil {
		return row, err
	}
	size.Bytes = int64(len(w.Log))
	if _, row.Wrong = w.checked(ctx, f, o.Aspis, size); row.Wrong != "" {
		return row, ctx.Err()
	}
	if o.MonPoly.Command != nil {
		fig, wrong := w.checked(ctx, f, o.MonPoly, size)
		row.MonPoly, row.Wrong = &fig, wrong
	}
	long, err := w.writeLong(f, o.Facts)
	if err != nil {
		return row, err
	}
	var runs []Figures
	for range o.Runs {
		fig, err := f.run(ctx, o.Aspis, "long", long)
		if err != nil {
			row.Wrong = err.Error()
			return row, ctx.Err()
		}
		runs = append(runs, fig)
	}
	slices.SortFunc(runs, func(a, b Figures) int { return int(1e6 * (a.User - b.User)) })
	row.Aspis = &runs[len(runs)/2]
	if wrong := w.startsRight(f); wrong != "" {
		row.Wrong = wrong
	}
	return row, nil
}

// checked runs a program on the log as it is and compares its answers.
func (w *Workload) checked(ctx context.Context, f files, p Program, size Size) (Figures, string) {
	fig, err := f.run(ctx, p, "log", size)
	if err != nil {
		return fig, err.Error()
	}
	got, err := os.ReadFile(f.path("out"))
	if err != nil {
		return fig, err.Error()
	}
	if diff := firstDifference(got, w.Want); diff != "" {
		return fig, p.Name + " answers wrong: " + diff
	}
	return fig, ""
}

// startsRight compares the answers to the first copy in the long log.
func (w *Workload) startsRight(f files) string {
	out, err := os.Open(f.path("out"))
	if err != nil {
		return err.Error()
	}
	defer out.Close() //nolint:errcheck // read only
	got := make([]byte, len(w.Want))
	n, err := io.ReadFull(out, got)
	if err != nil && len(got) > 0 {
		return err.Error()
	}
	if diff := firstDifference(got[:n], w.Want); diff != "" {
		return "the answers to the long log are wrong: " + diff
	}
	return ""
}
