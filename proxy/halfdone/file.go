package halfdone

import (
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

// fileMax is more than a book writes; a longer file is none of ours.
const fileMax = 256 << 20

// file is the file of a book. Nobody but its writer uses it.
type file struct {
	dir string
	// seen is the file when it was last read or written.
	seenSize int64
	seenAt   time.Time
}

// line is a line of the file: a record, the id of one that is forgotten, or the last id that was given.
type line struct {
	Add    *Record `json:"add,omitempty"`
	Forget uint64  `json:"forget,omitempty"`
	Last   uint64  `json:"last,omitempty"`
}

// contents are what a file says.
type contents struct {
	none       bool // there is no file
	records    map[uint64]Record
	last       uint64
	lines, bad int
}

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
	if err := os.MkdirAll(f.dir, 0o750); err != nil {
		return err
	}
	dir, err := os.Open(f.dir)
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
		return fmt.Errorf("lock %s: %w", f.dir, err)
	}
	defer f.see()
	return do(f)
}

// read gives what the file says; one that is not there says nothing. A line that a crash has cut is passed over.
func (f *file) read() (is contents, err error) {
	is.records = make(map[uint64]Record)
	in, err := os.Open(f.path())
	if errors.Is(err, os.ErrNotExist) {
		is.none = true
		return is, nil
	}
	if err != nil {
		return is, err
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && info.Size() > fileMax {
		return is, fmt.Errorf("%s is longer than %d MB", f.path(), fileMax>>20)
	}
	data, err := io.ReadAll(io.LimitReader(in, fileMax))
	if err != nil {
		return is, err
	}
	for text := range bytes.Lines(data) {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			is.take(text)
		}
	}
	return is, nil
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
		is.last = max(is.last, l.Add.ID)
	}
	delete(is.records, l.Forget)
	is.last = max(is.last, l.Last)
}

// append writes lines to the end of the file and has the disk keep them.
func (f *file) append(fresh []Record, gone []uint64) error {
	if len(fresh)+len(gone) == 0 {
		return nil
	}
	text := []byte("\n") // the last line may have been cut
	for k := range fresh {
		text = appendLine(text, line{Add: &fresh[k]})
	}
	for _, id := range gone {
		text = appendLine(text, line{Forget: id})
	}
	_, err := os.Stat(f.path())
	made := errors.Is(err, os.ErrNotExist)
	out, err := os.OpenFile(f.path(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := writeOut(out, text); err != nil {
		return err
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
	if err = writeOut(out, text); err == nil {
		err = os.Rename(out.Name(), f.path())
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return err
	}
	return f.syncDir()
}

// writeOut writes text, has the disk keep it and closes the file.
func writeOut(out *os.File, text []byte) error {
	_, err := out.Write(text)
	if err == nil {
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
