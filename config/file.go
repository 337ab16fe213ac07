package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// File is where a configuration comes from, and where changes made while the proxy runs can be saved. A copy of it remembers
// what the original has read.
type File struct {
	Path    string
	Options Options

	sum [sha256.Size]byte // of what Load or Save saw last; zero: nothing
}

// Load is the function Load, of this file.
func (f *File) Load() (*Config, []Fault) {
	data, dir, err := f.read()
	if err != nil {
		return nil, []Fault{{Text: err.Error()}}
	}
	f.sum = sha256.Sum256(data)
	c, faults := Parse(data, dir, f.Options)
	if c != nil {
		faults = append(faults, c.checkPermissions(f.Path, data)...)
	}
	return c, faults
}

// read gives the file's text and its folder.
func (f *File) read() (data []byte, dir string, err error) {
	if data, err = read(f.Path); err != nil {
		return nil, "", err
	}
	dir, err = filepath.Abs(filepath.Dir(f.Path))
	return data, dir, err
}

// Save writes the values that can change while the proxy runs (those of Set, and each node's master and slave) into the file
// where they differ from it; every other byte of it stays, comments too. A file that is not what Load or Save saw last is left
// alone unless force is set; then only those values change in it. The file is replaced as a whole, or, after an error, left
// alone. saved are the changes.
func (f *File) Save(running *Config, force bool) (saved []Change, err error) {
	data, dir, err := f.read()
	if err != nil {
		return nil, err
	}
	if !force && f.sum != [sha256.Size]byte{} && f.sum != sha256.Sum256(data) {
		return nil, ErrFileChanged
	}
	changed, saved, err := edited(data, dir, f.Options, running)
	if err != nil {
		return nil, err
	}
	if len(saved) > 0 {
		if err := ReplaceFile(f.Path, changed); err != nil {
			return nil, err
		}
	}
	f.sum = sha256.Sum256(changed)
	return saved, nil
}

// ErrFileChanged says that somebody changed the configuration's file since it was read.
var ErrFileChanged = errors.New("the file has changed since it was read")

// edited gives the file's text with the running values, and what that changes.
func edited(data []byte, dir string, opts Options, running *Config) ([]byte, []Change, error) {
	inFile, faults := Parse(data, dir, opts)
	if inFile == nil {
		return nil, nil, fmt.Errorf("the file is not valid now: %s", faults[0])
	}
	now := map[string]place{}
	for _, p := range running.places() {
		now[p.Path] = p
	}
	wanted := inFile.Clone()
	for _, p := range wanted.places() {
		r, ok := now[p.Path]
		if !ok || !p.saved() || r.Value == p.Value {
			continue
		}
		p.value.Set(r.value)
		var err error
		if data, err = editScalar(data, p.in, p.names, r.written()); err != nil {
			return nil, nil, err
		}
	}
	changes := Diff(inFile, wanted)
	// Whatever the edits did to the text, it says now what was wanted and nothing else, or it is not written.
	after, faults := Parse(data, dir, opts)
	if after == nil || len(Diff(after, wanted)) > 0 {
		return nil, nil, fmt.Errorf("the file is written in a way that cannot be changed in place (%v): change %s by hand", faults, changes[0].Path)
	}
	return data, changes, nil
}

// ReplaceFile puts a new content in a file's place at once, with the same rights; of a symbolic link, in the place of the file
// that it leads to. After an error the file is as it was.
func ReplaceFile(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".ks-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
