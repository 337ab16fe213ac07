package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// File is where a configuration comes from, and where changes made while the proxy runs can be saved.
type File struct {
	Path    string
	Options Options
}

// Load reads the file as the function Load does.
func (f File) Load() (*Config, []Fault) { return Load(f.Path, f.Options) }

// Save writes the values of those keys that administration can change (allow_ips, log_sql, slow_log_time, and each node's
// master and slave) into the file where they differ from it; every other byte of it stays, comments too. The file is
// replaced as a whole, or, after an error, left alone. saved are the changes.
func (f File) Save(running *Config) (saved []Change, err error) {
	data, err := read(f.Path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(f.Path))
	if err != nil {
		return nil, err
	}
	changed, saved, err := edited(data, dir, f.Options, running)
	if err != nil || len(saved) == 0 {
		return nil, err
	}
	return saved, ReplaceFile(f.Path, changed)
}

// edited gives the file's text with the running values, and what that changes.
func edited(data []byte, dir string, opts Options, running *Config) ([]byte, []Change, error) {
	inFile, faults := Parse(data, dir, opts)
	if inFile == nil {
		return nil, nil, fmt.Errorf("the file is not valid now: %s", faults[0])
	}
	wanted := inFile.Clone()
	wanted.AllowIPs, wanted.LogSQL, wanted.SlowLogTime = running.AllowIPs, running.LogSQL, running.SlowLogTime
	for k := range wanted.Nodes {
		if n := running.Node(wanted.Nodes[k].Name); n != nil {
			wanted.Nodes[k].Master, wanted.Nodes[k].Slave = n.Master, n.Slave
		}
	}
	changes := Diff(inFile, wanted)
	for _, e := range []struct {
		key, value string
		differs    bool
	}{
		{"allow_ips", wanted.AllowIPs, wanted.AllowIPs != inFile.AllowIPs},
		{"log_sql", wanted.LogSQL, wanted.LogSQL != inFile.LogSQL},
		{"slow_log_time", strconv.Itoa(wanted.SlowLogTime), wanted.SlowLogTime != inFile.SlowLogTime},
	} {
		if !e.differs {
			continue
		}
		var err error
		if data, err = editScalar(data, nil, []string{e.key}, e.value); err != nil {
			return nil, nil, err
		}
	}
	for k, n := range wanted.Nodes {
		for _, e := range []struct {
			keys    []string
			value   string
			differs bool
		}{
			{[]string{"master", "primary"}, n.Master, n.Master != inFile.Nodes[k].Master},
			{[]string{"slave", "replica"}, n.Slave, n.Slave != inFile.Nodes[k].Slave},
		} {
			if !e.differs {
				continue
			}
			var err error
			if data, err = editScalar(data, []any{"nodes", k}, e.keys, e.value); err != nil {
				return nil, nil, err
			}
		}
	}
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
