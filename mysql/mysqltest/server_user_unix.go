//go:build unix

package mysqltest

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// serverUser is the unix user that servers run as when we are root, as whom servers refuse to run: mysql, else nobody.
// nil when we are not root: they run as we do.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"mysql", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("as root a server must run as another user, and there is neither mysql nor nobody")
}

// giveTo makes a directory and all in it the server user's.
func giveTo(c *syscall.Credential, dir string) error {
	if c == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(c.Uid), int(c.Gid))
	})
}

// reachable tells, when servers run as another user, whether everybody may enter a directory and those above it.
func reachable(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("servers of root run as another user, who may not enter %s: make it 0711 or choose another directory", d)
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

// isOurs tells whether a file or directory itself, not what a link refers to, belongs to us.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
