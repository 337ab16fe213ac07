package mysqltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kind is a family of servers.
type Kind string

// The kinds that tests ask for.
const (
	MariaDB Kind = "mariadb"
	MySQL9  Kind = "mysql9"
)

// Installation is a server's programs on this machine.
type Installation struct {
	Kind    Kind
	Server  string // mysqld or mariadbd
	Install string // MariaDB's mariadb-install-db; "" for MySQL, which initialises itself
	Version string // as the server prints it
	// args are given to every start: where the rest of an unpacked server lies.
	args []string
}

// String names the program and its version.
func (i Installation) String() string { return i.Version }

// ServersDir is where the install scripts put servers of their own: $KS_SERVERS, else below the user's cache directory.
func ServersDir() (string, error) {
	if dir := os.Getenv("KS_SERVERS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "kingshard-servers"), nil
}

// Find locates a kind of server. The error says how to get it.
func Find(kind Kind) (Installation, error) {
	if kind == MariaDB {
		return findMariaDB()
	}
	dir, err := ServersDir()
	if err != nil {
		return Installation{}, err
	}
	tree := filepath.Join(dir, "mysql9", "tree", "usr")
	i := Installation{Kind: MySQL9, Server: filepath.Join(dir, "mysql9", "bin", "mysqld"), args: []string{
		"--basedir=" + tree, "--plugin-dir=" + filepath.Join(tree, "lib/mysql/plugin"),
		"--lc-messages-dir=" + filepath.Join(tree, "share/mysql"), "--character-sets-dir=" + filepath.Join(tree, "share/mysql/charsets"),
	}}
	return i.probe("run mysql/mysqltest/install/mysql9.sh")
}

// FindAny locates any server on this machine: MariaDB, a MySQL of the system, or an unpacked MySQL 9.
func FindAny() (Installation, error) {
	if i, err := findMariaDB(); err == nil {
		return i, nil
	}
	if server := lookPath("mysqld"); server != "" {
		if i, err := (Installation{Kind: MySQL9, Server: server}).probe(""); err == nil && !strings.Contains(i.Version, "MariaDB") {
			return i, nil
		}
	}
	if i, err := Find(MySQL9); err == nil {
		return i, nil
	}
	return Installation{}, fmt.Errorf("no MariaDB or MySQL server is installed: there is no mariadbd and no mysqld in PATH or /usr/sbin")
}

func findMariaDB() (Installation, error) {
	i := Installation{Kind: MariaDB, Server: lookPath("mariadbd"), Install: lookPath("mariadb-install-db")}
	if i.Server == "" || i.Install == "" {
		return Installation{}, fmt.Errorf("mariadbd or mariadb-install-db is missing: run mysql/mysqltest/install/mariadb.sh")
	}
	return i.probe("run mysql/mysqltest/install/mariadb.sh")
}

// probe runs the server for its version.
func (i Installation) probe(cure string) (Installation, error) {
	out, err := exec.Command(i.Server, "--no-defaults", "--version").Output()
	if err != nil {
		return Installation{}, fmt.Errorf("%s does not run (%w): %s", i.Server, err, cure)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(string(out)), "Ver ")
	name := "MySQL "
	if i.Kind == MariaDB {
		name = "MariaDB "
	}
	i.Version = name + strings.TrimSpace(version)
	return i, nil
}

// lookPath looks where servers are that are not in a user's PATH, too.
func lookPath(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/opt/homebrew/bin", "/usr/local/mysql/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}
