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
	"syscall"
)

// templateOf gives an initialised data directory with the accounts in it, made once for each version and user.
func templateOf(ctx context.Context, i Installation, progress func(string)) (string, error) {
	base := filepath.Join(os.TempDir(), fmt.Sprintf("kingshard-templates-%d", os.Getuid()))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	// One process initialises, the others wait for it.
	lock, err := os.OpenFile(filepath.Join(base, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(i.Server + i.Version + accountsText(i.Kind)))
	dir := filepath.Join(base, fmt.Sprintf("%s-%x", i.Kind, sum[:6]))
	if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
		return filepath.Join(dir, "data"), nil
	}
	tell(progress, "initialising a data directory")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := makeTemplate(ctx, i, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return filepath.Join(dir, "data"), os.WriteFile(filepath.Join(dir, "done"), nil, 0o600)
}

// makeTemplate initialises data in dir and makes the accounts by a first run of the server.
func makeTemplate(ctx context.Context, i Installation, dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, "data"), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	accounts := filepath.Join(dir, "accounts.sql")
	if err := os.WriteFile(accounts, []byte(accountsText(i.Kind)), 0o644); err != nil {
		return err
	}
	owner, err := serverUser()
	if err != nil {
		return err
	}
	if err := giveTo(owner, dir); err != nil {
		return err
	}
	settings := flatten(baseSettings(i.Kind, dir))
	init := exec.CommandContext(ctx, i.Server, append(append(append([]string{"--no-defaults"}, i.args...), settings...), "--initialize-insecure")...)
	if i.Kind == MariaDB {
		init = exec.CommandContext(ctx, i.Install, "--no-defaults", "--datadir="+filepath.Join(dir, "data"),
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=48M")
	}
	init.SysProcAttr = processAttr(owner)
	init.Dir = dir
	if out, err := init.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
		return fmt.Errorf("initialise a data directory: %w\n%s%s", err, out, log)
	}
	s := &RealServer{Kind: i.Kind, Dir: dir, installation: i}
	if s.Port, err = freePort(); err != nil {
		return err
	}
	s.Addr = fmt.Sprintf("127.0.0.1:%d", s.Port)
	s.args = append(append(append([]string{"--no-defaults"}, i.args...), settings...),
		"--init-file="+accounts, fmt.Sprintf("--port=%d", s.Port), "--socket="+filepath.Join(dir, "s.sock"))
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.Stop(); err != nil {
		return err
	}
	// A copy must have an identity of its own.
	if err := os.Remove(filepath.Join(dir, "data", "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// accountsText makes the accounts: root and ks with all rights, nopw without a password, and one for each plugin that
// the kind has: ksn native, ksc caching_sha2, kss sha256, kse ed25519, all with the password ks.
func accountsText(kind Kind) string {
	account := func(user, how string) string {
		return "CREATE USER " + user + "@'%' IDENTIFIED " + how + ";\nGRANT ALL PRIVILEGES ON *.* TO " + user + "@'%' WITH GRANT OPTION;\n"
	}
	text := account("root", "BY 'root'") + account("ks", "BY 'ks'") +
		"CREATE USER nopw@'%';\nGRANT ALL PRIVILEGES ON *.* TO nopw@'%';\n" +
		"CREATE DATABASE test CHARACTER SET utf8mb4;\n"
	if kind == MariaDB {
		return text + account("ksn", "VIA mysql_native_password USING PASSWORD('ks')") + account("kse", "VIA ed25519 USING PASSWORD('ks')")
	}
	return text + account("ksc", "WITH caching_sha2_password BY 'ks'") + account("kss", "WITH sha256_password BY 'ks'")
}

// copyTree copies a directory with its files.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type().IsRegular():
			return copyFile(path, target)
		}
		return nil // sockets
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
