package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// policyFile is the one file every bundle has.
const policyFile = "policy.yaml"

// entry is one file of a bundle, read once: what is checked, loaded and digested
// are the same bytes.
type entry struct {
	name string
	data []byte
}

// readFiles reads the files of a bundle in the order of their names.
func (l *loader) readFiles(fsys fs.FS) {
	total := 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			l.reportFile(name, unreadable(name, err))
			return skip(d)
		case d.IsDir():
			if name != "." && isDropping(d.Name()) {
				return fs.SkipDir
			}
			return nil
		case isDropping(d.Name()):
			return nil
		case !d.Type().IsRegular():
			l.reportFile(name, isLink(name))
			return nil
		case len(l.files) == MaxFiles:
			l.reportFile(name, overLimit("the bundle has too many files", MaxFiles, "keep what is no part of the policy elsewhere"))
			return fs.SkipAll
		}
		data, err := readUpTo(fsys, name, MaxBundle-total+1)
		if err != nil {
			l.reportFile(name, unreadable(name, err))
			return nil
		}
		if total += len(data); total > MaxBundle {
			l.reportFile(name, overLimit("the bundle has too many bytes", MaxBundle, "keep what is no part of the policy elsewhere"))
			return fs.SkipAll
		}
		l.files = append(l.files, entry{name, data})
		return nil
	})
	if err != nil {
		l.reportFile(policyFile, unreadable("the bundle", err))
	}
	slices.SortFunc(l.files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func readUpTo(fsys fs.FS, name string, limit int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing is lost
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// isDropping reports what editors, version control and desktops leave behind. It
// is no part of a bundle.
func isDropping(base string) bool {
	switch {
	case base == ".git", base == ".DS_Store", base == "Thumbs.db":
		return true
	case strings.HasSuffix(base, "~"), strings.HasPrefix(base, ".#"):
		return true
	case strings.HasPrefix(base, "#") && strings.HasSuffix(base, "#") && len(base) > 1:
		return true
	case strings.HasPrefix(base, ".") && (strings.HasSuffix(base, ".swp") || strings.HasSuffix(base, ".swo")):
		return true
	}
	return false
}

// digest is the SHA-256 over the names and bytes of the files in the order of
// their names, each preceded by its length in 8 bytes, big endian. (Lengths keep
// the end of one file from being read as the start of the next.)
func digest(files []entry) (sum [32]byte) {
	h := sha256.New()
	h.Write([]byte("aspis bundle 1\n"))
	write := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	for _, f := range files {
		write([]byte(f.name))
		write(f.data)
	}
	h.Sum(sum[:0])
	return sum
}

// open returns a file of the bundle as source text, nil when there is none.
func (l *loader) open(name string) *source.File {
	if f, ok := l.sources[name]; ok {
		return f
	}
	i, ok := slices.BinarySearchFunc(l.files, name, func(e entry, n string) int { return strings.Compare(e.name, n) })
	if !ok {
		return nil
	}
	if len(l.files[i].data) > MaxFile {
		l.reportFile(name, overLimit(name+" has too many bytes", MaxFile, "split the policy"))
		return nil
	}
	f := source.NewFile(name, bytes.Clone(l.files[i].data))
	l.sources[name] = f
	return f
}

// insidePath reports whether a path named in a bundle stays in it.
func insidePath(p string) bool {
	return p != "" && !strings.HasPrefix(p, "/") && !strings.Contains(p, "\\") &&
		!slices.Contains(strings.Split(p, "/"), "..") && path.Clean(p) == p
}
