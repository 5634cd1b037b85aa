package corpus

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// MaxFileBytes is the size above which a file of a corpus is refused. The largest
// run in the recorded corpora has 0.1 MB and the largest file with many runs 40 MB,
// so the limit leaves headroom and still keeps the files in flight (a few per
// core) within a small machine's memory.
const MaxFileBytes = 64 << 20

// MaxArchiveBytes is the number of bytes that one archive may unpack to. The
// largest recorded corpus unpacks to 0.1 GB; gzip can expand a thousandfold, so
// without a limit a 10 MB file could keep a reader busy for hours.
const MaxArchiveBytes = 8 << 30

// MaxFiles is the number of members that one folder or archive may have. A
// million is over a hundred times the largest recorded corpus.
const MaxFiles = 1 << 20

// The errors of opening a corpus. Each comes wrapped with the path it concerns.
var (
	// ErrNoFiles is returned when the paths together hold no file that matches.
	ErrNoFiles = errors.New("no matching file found")
	// ErrTooLarge is returned when a file, an archive or a folder exceeds a limit.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrArchive is returned when an archive cannot be read to its end.
	ErrArchive = errors.New("unreadable archive")
)

// File is one file of a corpus.
type File struct {
	// Name is the file's slash-separated path: below the archive for a member, and
	// starting with the path as it was given for a file in a folder.
	Name string
	// Archive is the path of the archive that holds the file, empty for a plain file.
	Archive string

	data []byte
	disk string
	max  int64
}

// String names the file for messages.
func (f File) String() string {
	if f.Archive != "" {
		return f.Archive + ":" + f.Name
	}
	return f.Name
}

// Bytes returns the content, read from disk now if it is a plain file. It is safe
// to call from another goroutine than the one that iterates; the slice is shared
// between calls for a member of an archive and must not be modified.
func (f File) Bytes() ([]byte, error) {
	if f.disk == "" {
		return f.data, nil
	}
	h, err := os.Open(f.disk)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer func() { _ = h.Close() }() // read only: nothing is lost
	return readBounded(h, f.String(), f.max)
}

// limits are the bounds in force; tests use small ones.
type limits struct {
	file    int64
	archive int64
	files   int
}

func defaultLimits() limits {
	return limits{file: MaxFileBytes, archive: MaxArchiveBytes, files: MaxFiles}
}

// Files yields the files below the given paths whose Name satisfies match. A path
// is a folder (walked in lexical order; archives in it are opened in their place),
// an archive (.tar, .tar.gz or .tgz; members in archive order) or a plain file,
// which is yielded whatever match says. Symbolic links below a path are not
// followed, and nothing is unpacked to disk.
//
// An error ends the sequence. When no file was found, the last and only element is
// ErrNoFiles. The sequence can be ranged over again and then reads again.
func Files(ctx context.Context, paths []string, match func(name string) bool) iter.Seq2[File, error] {
	return files(ctx, paths, match, defaultLimits())
}

func files(ctx context.Context, paths []string, match func(string) bool, lim limits) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		found := 0
		counted := func(f File) error {
			found++
			if !yield(f, nil) {
				return errStop
			}
			return ctx.Err()
		}
		for _, p := range paths {
			err := openPath(ctx, p, match, lim, counted)
			if errors.Is(err, errStop) {
				return
			}
			if err != nil {
				yield(File{Name: p}, err)
				return
			}
		}
		if found == 0 {
			yield(File{}, fmt.Errorf("corpus: %w in %s", ErrNoFiles, strings.Join(paths, ", ")))
		}
	}
}

// errStop ends a walk because the consumer wants no more.
var errStop = errors.New("stop")

func openPath(ctx context.Context, p string, match func(string) bool, lim limits, emit func(File) error) error {
	info, err := os.Stat(p)
	if err != nil {
		return fmt.Errorf("corpus: %w; give a folder, a .tar.gz archive or a file", err)
	}
	switch {
	case info.IsDir():
		return walkFolder(ctx, p, match, lim, emit)
	case isArchive(p):
		return walkArchive(ctx, p, match, lim, emit)
	}
	return emit(File{Name: filepath.ToSlash(p), disk: p, max: lim.file})
}

func isArchive(p string) bool {
	return strings.HasSuffix(p, ".tar.gz") || strings.HasSuffix(p, ".tgz") || strings.HasSuffix(p, ".tar")
}

func walkFolder(ctx context.Context, root string, match func(string) bool, lim limits, emit func(File) error) error {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	seen := 0
	return filepath.WalkDir(resolved, func(disk string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("corpus: %w", err)
		}
		if !d.Type().IsRegular() {
			return ctx.Err()
		}
		if seen++; seen > lim.files {
			return fmt.Errorf("corpus: folder %s has more than %d files: %w; give its parts one by one", root, lim.files, ErrTooLarge)
		}
		if isArchive(disk) {
			return walkArchive(ctx, disk, match, lim, emit)
		}
		name := filepath.ToSlash(filepath.Join(root, strings.TrimPrefix(disk, resolved)))
		if !match(name) {
			return nil
		}
		return emit(File{Name: name, disk: disk, max: lim.file})
	})
}

func walkArchive(ctx context.Context, p string, match func(string) bool, lim limits, emit func(File) error) error {
	h, err := os.Open(p)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	defer func() { _ = h.Close() }() // read only: nothing is lost
	var r io.Reader = bufio.NewReaderSize(h, 1<<18)
	if !strings.HasSuffix(p, ".tar") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return fmt.Errorf("corpus: %s: %w: %w", p, ErrArchive, err)
		}
		defer func() { _ = z.Close() }()
		r = z
	}
	meter := &metered{r: r, left: lim.archive}
	t := tar.NewReader(meter)
	for members := 0; ; members++ {
		head, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return archiveError(p, err)
		case members >= lim.files:
			return fmt.Errorf("corpus: %s has more than %d members: %w; split the archive", p, lim.files, ErrTooLarge)
		}
		if err := member(t, head, p, match, lim, emit); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func member(t *tar.Reader, head *tar.Header, archive string, match func(string) bool, lim limits, emit func(File) error) error {
	name := strings.TrimPrefix(path.Clean("/"+head.Name), "/")
	if head.Typeflag != tar.TypeReg || !match(name) {
		return nil
	}
	f := File{Name: name, Archive: archive}
	data, err := readBounded(t, f.String(), lim.file)
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	if err != nil {
		return archiveError(archive, err)
	}
	f.data = data
	return emit(f)
}

func archiveError(p string, err error) error {
	if errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("corpus: %s unpacks to too much: %w; split the archive", p, err)
	}
	return fmt.Errorf("corpus: %s: %w: %w", p, ErrArchive, err)
}

// readBounded reads r to its end and fails when that is more than limit bytes.
func readBounded(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("corpus: %s has more than %d bytes: %w", name, limit, ErrTooLarge)
	}
	return data, nil
}

// metered fails with ErrTooLarge once more than left bytes were read through it.
type metered struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.left -= int64(n)
	if m.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
