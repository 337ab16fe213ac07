package mysqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const (
	temporaryPrefix = "kingshard-server-"
	ownerName       = "owner"
	socketName      = "s.sock"
	socketPathMax   = 103 // bytes that every system allows in a socket's path
)

// ServersDir is where the install scripts unpack servers: $KS_SERVERS, else our directory in the user's cache.
func ServersDir() (string, error) {
	if dir := os.Getenv("KS_SERVERS"); dir != "" {
		return filepath.Abs(dir)
	}
	return cachePath()
}

// cachePath is our directory in the user's cache. Root's is not below its home, which the user that servers run as may
// not enter.
func cachePath() (string, error) {
	if os.Getuid() == 0 {
		return "/var/tmp/kingshard-servers-0", nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "kingshard-servers"), nil
}

// cacheDir makes a directory in ours of the user's cache.
func cacheDir(name string) (string, error) {
	base, err := cachePath()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if !isOurs(base) {
		return "", fmt.Errorf("%s belongs to somebody else: remove it", base)
	}
	return dir, nil
}

// makeDir makes the server's directory, if need be a temporary one, and its data from the template.
func (s *RealServer) makeDir(ctx context.Context, c ServerConfig) error {
	var err error
	if c.Dir == "" {
		err = s.makeTemporary(ctx)
	} else if s.Dir, err = filepath.Abs(c.Dir); err == nil {
		err = os.MkdirAll(s.Dir, 0o755)
	}
	if err != nil {
		return err
	}
	s.Socket = filepath.Join(s.Dir, socketName)
	if len(s.Socket) > socketPathMax {
		return fmt.Errorf("the path %s is longer than a socket's may be, %d bytes", s.Socket, socketPathMax)
	}
	if err := os.Chmod(s.Dir, 0o755); err != nil {
		return err
	}
	if err := reachable(s.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "tmp"), 0o755); err != nil {
		return err
	}
	data := filepath.Join(s.Dir, "data")
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	template, err := templateOf(ctx, s.installation, c.Progress)
	if err != nil {
		return err
	}
	// By another name first, so that a copy cut short is never taken for data.
	part := data + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := copyTree(template, part); err != nil {
		return err
	}
	return os.Rename(part, data)
}

// makeTemporary makes a temporary directory. A locked file in it tells that this process or its server lives; those of
// others whose lock is gone, because they were killed, are removed.
func (s *RealServer) makeTemporary(ctx context.Context) error {
	cache, err := cacheDir("")
	if err != nil {
		return err
	}
	lock, err := lockFile(ctx, filepath.Join(cache, "temporary.lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	base := temporaryBase()
	removeAbandoned(base)
	if s.Dir, err = os.MkdirTemp(base, temporaryPrefix); err != nil {
		return err
	}
	if s.owner, err = lockFile(ctx, filepath.Join(s.Dir, ownerName)); err != nil {
		return errors.Join(err, os.RemoveAll(s.Dir))
	}
	return nil
}

// temporaryBase is where temporary directories are: $TMPDIR, else in memory for tests, which ask nothing of a disk, else where the system has
// them.
func temporaryBase() string {
	if dir := memoryDir(); dir != "" && testing.Testing() && os.Getenv("TMPDIR") == "" {
		return dir
	}
	if base := os.TempDir(); reachable(base) == nil {
		return base
	}
	return "/tmp"
}

// removeAbandoned removes the temporary directories whose process and server are both gone.
func removeAbandoned(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, temporaryPrefix+"*"))
	for _, dir := range dirs {
		name := filepath.Join(dir, ownerName)
		if !isOurs(name) {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = f.Close()
	}
}

// removeDir removes a temporary directory.
func (s *RealServer) removeDir() error {
	if s.owner == nil {
		return nil
	}
	err := os.RemoveAll(s.Dir)
	_ = s.owner.Close()
	s.owner = nil
	return err
}

// giveAway makes the directory the server's user's.
func (s *RealServer) giveAway() error {
	owner, err := serverUser()
	if err != nil || owner == nil {
		return err
	}
	if err := os.Lchown(s.Dir, int(owner.Uid), int(owner.Gid)); err != nil {
		return err
	}
	for _, name := range []string{"data", "tmp", "tls"} {
		dir := filepath.Join(s.Dir, name)
		if err := giveTo(owner, dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lockFile makes a file and locks it, waiting while another process holds the lock. Closing the file unlocks it.
func lockFile(ctx context.Context, name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}
