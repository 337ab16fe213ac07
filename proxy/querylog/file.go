package querylog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Rotation says when a log file is put aside and how many of those are kept.
type Rotation struct {
	Size int64         // bytes after which a new file is begun; 0: any size
	Age  time.Duration // time after which a new file is begun; 0: any age
	Keep int           // files put aside that are kept; 0: all
}

// file is a log file, or standard output if path is empty. Only its Writer's goroutine uses it.
type file struct {
	path  string
	out   io.WriteCloser // nil: not open
	size  int64
	begun time.Time
}

// open opens the file for more lines. A file with lines counts as old as its last one.
func (f *file) open() error {
	if f.path == "" {
		f.out = keepOpen{os.Stdout}
		return nil
	}
	out, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	f.out, f.size, f.begun = out, 0, time.Now()
	if info, err := out.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		f.size, f.begun = info.Size(), info.ModTime()
	}
	return nil
}

// keepOpen is standard output, which others use too.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// close closes the file; write opens it again.
func (f *file) close() {
	if f.out != nil {
		_ = f.out.Close()
		f.out = nil
	}
}

// write writes whole lines, to a new file where the old one is full or too old.
func (f *file) write(lines []byte, r Rotation) error {
	if f.out != nil && f.path != "" && f.size > 0 &&
		(r.Size > 0 && f.size+int64(len(lines)) > r.Size || r.Age > 0 && time.Since(f.begun) > r.Age) {
		f.close()
		if err := f.putAside(r.Keep); err != nil {
			return err
		}
	}
	if f.out == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	n, err := f.out.Write(lines)
	f.size += int64(n)
	return err
}

// stamp is the part of the name of a file put aside that makes the order of names that of time.
const stamp = "20060102T150405.000000"

// putAside renames the file: sql.log becomes sql-20060102T150405.000000.log. The oldest of such files beyond keep go.
func (f *file) putAside(keep int) error {
	ext := filepath.Ext(f.path)
	base := strings.TrimSuffix(f.path, ext)
	if err := os.Rename(f.path, fmt.Sprintf("%s-%s%s", base, time.Now().UTC().Format(stamp), ext)); err != nil && !os.IsNotExist(err) {
		return err
	}
	if keep == 0 {
		return nil
	}
	dir, name := filepath.Split(base)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return err
	}
	var aside []string
	for _, e := range entries {
		at, is := strings.CutPrefix(e.Name(), name+"-")
		if at, ends := strings.CutSuffix(at, ext); is && ends {
			if _, err := time.Parse(stamp, at); err == nil {
				aside = append(aside, e.Name())
			}
		}
	}
	slices.Sort(aside)
	for _, old := range aside[:max(0, len(aside)-keep)] {
		if err := os.Remove(dir + old); err != nil {
			return err
		}
	}
	return nil
}
