package halfdone

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// fileName is the name of the file in its folder: a line of JSON for each record that was made or forgotten. It is none that ends in
// .log, which somebody may have rotated.
const fileName = "half-done.journal"

const (
	// fileMax is more than a book writes: a longer file is written anew.
	fileMax = 256 << 20
	// lineMax is more than a line has, in bytes; a longer one is passed over.
	lineMax = 1 << 20
)

// file is the file of a book. Nobody but its writer uses it.
type file struct {
	dir string
	// seen is the file when it was last read or written.
	seenSize int64
	seenAt   time.Time
	// sync has the disk keep what was written, nil: fsync. Tests have it fail.
	sync func(*os.File) error
}

// line is a line of the file: a record, the id of one that is forgotten, or the last id that was given.
type line struct {
	Add    *Record `json:"add,omitempty"`
	Forget uint64  `json:"forget,omitempty"`
	Last   uint64  `json:"last,omitempty"`
}

// contents are what a file says.
type contents struct {
	records    map[uint64]Record
	forgotten  map[uint64]bool // by lines that say so
	kept       uint64          // records up to here that it does not have were forgotten when it was written anew
	last       uint64
	lines, bad int
	long       bool // longer than a book writes
}

// forgets tells whether somebody was told to forget a record that is not there. A file that was emptied or damaged says nothing.
func (is *contents) forgets(id uint64) bool { return is.forgotten[id] || is.bad == 0 && id <= is.kept }

func (f *file) path() string { return filepath.Join(f.dir, fileName) }

// changed tells whether somebody else has written to the file.
func (f *file) changed() bool {
	info, err := os.Stat(f.path())
	if err != nil {
		return errors.Is(err, os.ErrNotExist) && f.seenSize > 0 // it was taken away
	}
	return info.Size() != f.seenSize || !info.ModTime().Equal(f.seenAt)
}

// see remembers the file as it is now.
func (f *file) see() {
	f.seenSize = 0
	if info, err := os.Stat(f.path()); err == nil {
		f.seenSize, f.seenAt = info.Size(), info.ModTime()
	}
}

// locked runs do while no other process has the folder.
func (f *file) locked(do func(*file) error) error {
	return lockDir(f.dir, func() error {
		defer f.see()
		return do(f)
	})
}

// lockDir runs do while no other process has the folder, which is made if it is not there.
func lockDir(path string, do func() error) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return err
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close() // which ends the lock
	for {
		if err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return do()
}

// read gives what the file says; one that is not there says nothing. A line that a crash has cut is passed over.
func (f *file) read() (is contents, err error) {
	is.records, is.forgotten = make(map[uint64]Record), make(map[uint64]bool)
	in, err := os.Open(f.path())
	if errors.Is(err, os.ErrNotExist) {
		return is, nil
	}
	if err != nil {
		return is, err
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil {
		is.long = info.Size() > fileMax
	}
	lines := bufio.NewReaderSize(in, lineMax)
	for whole := true; ; {
		text, err := lines.ReadSlice('\n')
		switch text = bytes.TrimSpace(text); {
		case errors.Is(err, bufio.ErrBufferFull):
			whole = false
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return is, err
		case !whole:
			is.lines++
			is.bad++
		case len(text) > 0:
			is.take(text)
		}
		whole = true
		if err != nil {
			return is, nil
		}
	}
}

// take reads a line.
func (is *contents) take(text []byte) {
	is.lines++
	var l line
	if json.Unmarshal(text, &l) != nil {
		is.bad++
		return
	}
	if l.Add != nil && l.Add.ID > 0 {
		is.records[l.Add.ID] = *l.Add
		delete(is.forgotten, l.Add.ID)
		is.last = max(is.last, l.Add.ID)
	}
	if l.Forget > 0 {
		delete(is.records, l.Forget)
		is.forgotten[l.Forget] = true
	}
	is.kept = max(is.kept, l.Last)
	is.last = max(is.last, l.Last, l.Forget)
}

// append writes lines to the end of the file, or none, and has the disk keep all of it. After an error the file is as long as before.
func (f *file) append(fresh []Record, gone []uint64) error {
	var text []byte
	if len(fresh)+len(gone) > 0 {
		text = []byte("\n") // the last line may have been cut
	}
	for k := range fresh {
		text = appendLine(text, line{Add: &fresh[k]})
	}
	for _, id := range gone {
		text = appendLine(text, line{Forget: id})
	}
	before, err := os.Stat(f.path())
	made := errors.Is(err, os.ErrNotExist)
	if err != nil && !made {
		return err
	}
	out, err := os.OpenFile(f.path(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.writeOut(out, text); err != nil {
		size := int64(0)
		if !made {
			size = before.Size()
		}
		return errors.Join(err, os.Truncate(f.path(), size))
	}
	if made {
		return f.syncDir()
	}
	return nil
}

// rewrite makes the file one without what is forgotten.
func (f *file) rewrite(records []Record, last uint64) error {
	text := appendLine(nil, line{Last: last})
	for k := range records {
		text = appendLine(text, line{Add: &records[k]})
	}
	out, err := os.CreateTemp(f.dir, fileName+".*")
	if err != nil {
		return err
	}
	if err = f.writeOut(out, text); err == nil {
		err = os.Rename(out.Name(), f.path())
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return err
	}
	return f.syncDir()
}

// writeOut writes text, has the disk keep it and closes the file.
func (f *file) writeOut(out *os.File, text []byte) error {
	_, err := out.Write(text)
	switch {
	case err != nil:
	case f.sync != nil:
		err = f.sync(out)
	default:
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// syncDir has the disk keep the folder's names.
func (f *file) syncDir() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func appendLine(text []byte, l line) []byte {
	b, err := json.Marshal(&l)
	if err != nil {
		panic("halfdone: " + err.Error()) // it has nothing that JSON does not know
	}
	return append(append(text, b...), '\n')
}
