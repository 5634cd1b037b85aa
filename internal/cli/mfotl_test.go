package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMFOTLAnswersAtOnce holds that an answer does not wait for what comes after the `;`
// of its time point.
func TestMFOTLAnswersAtOnce(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sig": "p(int)", "formula": "p(x)"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	logRead, logWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	code := make(chan int)
	var errw bytes.Buffer
	go func() {
		args := []string{"aspis", "mfotl", "-sig", filepath.Join(dir, "sig"), "-formula", filepath.Join(dir, "formula")}
		code <- Main(args, logRead, outWrite, &errw)
	}()
	answers := bufio.NewReader(outRead)
	for _, tc := range []struct{ write, want string }{
		{"@1 p(5);", "@1 (time point 0): (5)\n"},
		{"@2 p(6) p(7);\n", "@2 (time point 1): (6) (7)\n"},
		{"@3 p(8)\n@", "@3 (time point 2): (8)\n"},
	} {
		if _, err := io.WriteString(logWrite, tc.write); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || got != tc.want {
			t.Fatalf("after %q: got %q, %v, want %q", tc.write, got, err, tc.want)
		}
	}
	_ = logWrite.Close()
	if got := <-code; got != exitNo || !strings.Contains(errw.String(), "expected a time stamp") {
		t.Errorf("got exit code %d and %q, want 1: the log ends after an @", got, errw.String())
	}
}

func TestMFOTLArgs(t *testing.T) {
	root := newRoot(&env{})
	for _, tc := range []struct{ args, want string }{
		{"mfotl -sig a -formula b -log -", "mfotl --sig a --formula b --log -"},
		{"mfotl -sig=a --formula b -check -json", "mfotl --sig=a --formula b --check --json"},
		{"mfotl -sig -check -negate", "mfotl --sig -check --negate"},
		{"mfotl -unix -h -sigout", "mfotl --unix -h --sigout"},
		{"--json mfotl -verbose", "--json mfotl --verbose"},
		{"replay -log x", "replay -log x"},
		{"-h", "-h"},
		{"", ""},
	} {
		if got := mfotlArgs(root, strings.Fields(tc.args)); !slices.Equal(got, strings.Fields(tc.want)) {
			t.Errorf("%s: got %v, want %s", tc.args, got, tc.want)
		}
	}
}

// BenchmarkMFOTL runs the command over 100,000 time points of which some thousand answer.
func BenchmarkMFOTL(b *testing.B) {
	const seed, points = 1, 100_000
	rng := rand.New(rand.NewPCG(seed, 0))
	var log strings.Builder
	for i := range points {
		name := "consent"
		if rng.IntN(10) == 0 {
			name = "export"
		}
		fmt.Fprintf(&log, "@%d %s(%d)\n", i/10, name, rng.IntN(1000))
	}
	dir := b.TempDir()
	for name, text := range map[string]string{"sig": "export(int) consent(int)", "formula": "export(o) AND NOT (ONCE[0,240] consent(o))"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		args := []string{"aspis", "mfotl", "-sig", filepath.Join(dir, "sig"), "-formula", filepath.Join(dir, "formula")}
		if code := Main(args, strings.NewReader(log.String()), io.Discard, io.Discard); code != exitOK {
			b.Fatalf("exit code %d", code)
		}
	}
	b.ReportMetric(float64(points*b.N)/b.Elapsed().Seconds(), "events/s")
}

// TestMFOTLEndsAtASignal holds that the command does not wait for its input when it is
// told to end.
func TestMFOTLEndsAtASignal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sig": "p(int)", "formula": "p(x)"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMFOTLChild$", "-test.v")
	cmd.Env = append(os.Environ(), "ASPIS_MFOTL_CHILD="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "@1 p(1);"); err != nil {
		t.Fatal(err)
	}
	for answers := bufio.NewScanner(out); answers.Scan() && answers.Text() != "@1 (time point 0): (1)"; {
		continue
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Success() {
		t.Errorf("got %v, want an end by the signal", err)
	}
}

// TestMFOTLChild is the command of TestMFOTLEndsAtASignal, in a process of its own.
func TestMFOTLChild(*testing.T) {
	dir := os.Getenv("ASPIS_MFOTL_CHILD")
	if dir == "" {
		return
	}
	Main([]string{"aspis", "mfotl", "-sig", filepath.Join(dir, "sig"), "-formula", filepath.Join(dir, "formula")}, os.Stdin, os.Stdout, os.Stderr)
}
