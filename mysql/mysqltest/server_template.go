package mysqltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// templateOf gives an initialised data directory with the accounts in it, made once for each version of a server and
// kept in the user's cache.
func templateOf(ctx context.Context, i Installation, progress func(string)) (string, error) {
	base, err := cacheDir("templates")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Append(nil, i.Server, i.Version, i.args, accounts(i), baseSettings(i, "").args()))
	dir := filepath.Join(base, fmt.Sprintf("%s-%x", i.Kind, sum[:6]))
	// One process initialises, the others wait for it.
	lock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	data, done := filepath.Join(dir, "data"), filepath.Join(dir, "done")
	if isFile(done) {
		return data, nil
	}
	tell(progress, "initialising a data directory, once for all servers of "+i.Version)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := makeTemplate(ctx, i, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return data, os.WriteFile(done, nil, 0o600)
}

// makeTemplate initialises data in dir and makes the accounts by a first run of the server.
func makeTemplate(ctx context.Context, i Installation, dir string) error {
	s := &RealServer{Kind: i.Kind, Dir: dir, Socket: filepath.Join(dir, socketName), installation: i}
	data := filepath.Join(dir, "data")
	for _, d := range []string{data, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := s.giveAway(); err != nil {
		return err
	}
	m := baseSettings(i, dir)
	s.args = append(append([]string{"--no-defaults"}, i.args...), m.args()...)
	if err := s.initialise(ctx); err != nil {
		return fmt.Errorf("initialise a data directory: %w", err)
	}
	s.args = append(s.args, "--skip-networking")
	if err := s.startAs(ctx, ""); err != nil {
		return err
	}
	if err := errors.Join(s.makeAccounts(ctx), s.Stop()); err != nil {
		return err
	}
	// A copy must have an identity of its own.
	if err := os.Remove(filepath.Join(data, "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// initialise runs what fills an empty data directory.
func (s *RealServer) initialise(ctx context.Context) error {
	i := s.installation
	ctx, cancel := context.WithTimeout(ctx, 2*startTimeout)
	defer cancel()
	var cmd *exec.Cmd
	switch {
	case i.Kind == MariaDB:
		cmd = exec.CommandContext(ctx, i.Install, "--no-defaults", "--datadir="+filepath.Join(s.Dir, "data"), "--tmpdir="+filepath.Join(s.Dir, "tmp"),
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=48M",
			"--innodb-flush-method=nosync")
	case i.Kind == MySQL56:
		script, err := bootstrapScript(i.base)
		if err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(s.Dir, "data", "mysql"), 0o755); err != nil {
			return err
		}
		if err := s.giveAway(); err != nil {
			return err
		}
		cmd = exec.CommandContext(ctx, i.Server, append(s.args, "--bootstrap")...)
		cmd.Stdin = strings.NewReader(script)
	default:
		cmd = exec.CommandContext(ctx, i.Server, append(s.args, "--initialize-insecure")...)
	}
	owner, err := serverUser()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = processAttr(owner, false)
	cmd.Dir = s.Dir
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // a script's children, too
	runtime.LockOSThread()                                                               // see spawn
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s%s", err, out, s.lastWords(logLines))
	}
	return nil
}

// bootstrapScript is what MySQL 5.6 reads to make its system tables; each statement is on one line there.
func bootstrapScript(base string) (string, error) {
	script := "USE mysql;\n"
	for _, name := range []string{"mysql_system_tables.sql", "mysql_system_tables_data.sql"} {
		text, err := os.ReadFile(filepath.Join(base, "share", name))
		if err != nil {
			return "", err
		}
		script += string(text) + "\n"
	}
	return script, nil
}

// copyTree copies a directory with its files and their modes.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case d.Type().IsRegular():
			return copyFile(path, target, info.Mode().Perm())
		}
		return nil // sockets
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
