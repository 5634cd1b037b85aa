// Package mfotl measures `aspis mfotl` on logs of a million events, and MonPoly beside
// it.
package mfotl

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// Workload is a formula with a log and the right answers.
type Workload struct {
	Name                    string
	Sig, Formula, Log, Want []byte
}

// ErrArchive is wrapped when the archive is not what it should be.
var ErrArchive = errors.New("mfotl: not an archive of workloads")

// Load reads an archive of workloads: a folder each with sig, formula.mfotl, log.gz and
// expected.gz. They are sorted by name.
func Load(file string) ([]*Workload, error) {
	f, err := os.Open(file) //nolint:gosec // the path is the user's
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	byName := map[string]*Workload{}
	var out []*Workload
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		name := path.Base(path.Dir(header.Name))
		w := byName[name]
		if w == nil {
			w = &Workload{Name: name}
			byName[name] = w
			out = append(out, w)
		}
		if err := w.add(path.Base(header.Name), archive); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrArchive, header.Name, err)
		}
	}
	slices.SortFunc(out, func(a, b *Workload) int { return strings.Compare(a.Name, b.Name) })
	for _, w := range out {
		if w.Sig == nil || w.Formula == nil || w.Log == nil {
			return nil, fmt.Errorf("%w: %s lacks a file", ErrArchive, w.Name)
		}
	}
	return out, nil
}

// add takes in one file of the archive.
func (w *Workload) add(name string, r io.Reader) error {
	if strings.HasSuffix(name, ".gz") {
		zip, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		r = zip
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch name {
	case "sig":
		w.Sig = content
	case "formula.mfotl":
		w.Formula = content
	case "log.gz":
		w.Log = content
	case "expected.gz":
		w.Want = content
	}
	return nil
}

// Bar is the number of events per second of user time to reach on two quiet cores; 0 is
// none. What counts as an event is a time point.
func (w *Workload) Bar() float64 {
	switch w.Name {
	case "a-once24":
		return 1.5e6
	case "a-once24-rate1000":
		return 1.1e6
	case "a-once24-str":
		return 0.8e6
	case "b-cnt6":
		return 0.84e6
	case "c-since2":
		return 1.35e6
	case "c-since2-bounded":
		return 1.4e6
	case "c-join2":
		return 0.9e6
	case "pack60":
		return 1e6 / 30 // 30 µs per call
	}
	return 0
}

// firstDifference says where two texts differ first, by line, or nothing.
func firstDifference(got, want []byte) string {
	for line := 1; ; line++ {
		g, restGot, moreGot := bytes.Cut(got, []byte("\n"))
		w, restWant, moreWant := bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(g, w) || moreGot != moreWant {
			return fmt.Sprintf("line %d: got %.120q, want %.120q", line, g, w)
		}
		if !moreGot {
			return ""
		}
		got, want = restGot, restWant
	}
}
