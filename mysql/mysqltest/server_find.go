package mysqltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Kind is a family of servers.
type Kind string

// The kinds that there are.
const (
	MariaDB Kind = "mariadb" // the system's MariaDB
	MySQL9  Kind = "mysql9"  // MySQL 9, as install/mysql9.sh unpacks it, else the system's
	MySQL56 Kind = "mysql56" // MySQL 5.6, as install/mysql56.sh unpacks it; tests use it when it is there
	MySQL   Kind = "mysql"   // the system's MySQL, 5.7 or later
)

// Installation is a server's programs on this machine.
type Installation struct {
	Kind    Kind
	Server  string // path of mysqld or mariadbd
	Install string // path of MariaDB's mariadb-install-db; "" for MySQL, which initialises itself
	Version string // for people, such as "MariaDB 10.11.6" or "MySQL 9.7.4"

	base  string   // base directory of an unpacked server, "" for the system's
	args  []string // given to every start: where the rest of an unpacked server lies
	major int
	minor int
}

// String names the server and its version.
func (i Installation) String() string { return i.Version }

// Find locates a kind of server on PATH, where systems put servers, and in [ServersDir]. The error says how to get it.
func Find(kind Kind) (Installation, error) {
	switch kind {
	case MariaDB:
		return findMariaDB()
	case MySQL9:
		return findMySQL9()
	case MySQL56:
		return findMySQL56()
	case MySQL:
		return findMySQL()
	}
	return Installation{}, fmt.Errorf("there is no kind of server %q", kind)
}

// FindAny locates any server on this machine: MariaDB, the system's MySQL, or one that the install scripts unpacked.
func FindAny() (Installation, error) {
	for _, kind := range []Kind{MariaDB, MySQL, MySQL9, MySQL56} {
		if i, err := Find(kind); err == nil {
			return i, nil
		}
	}
	return Installation{}, errors.New("no MariaDB or MySQL server is installed: there is no mariadbd and no mysqld in PATH or /usr/sbin")
}

func findMariaDB() (Installation, error) {
	const cure = "install MariaDB's server and client programs, on Debian by mysql/mysqltest/install/mariadb.sh"
	i := Installation{Kind: MariaDB, Server: lookPath("mariadbd"), Install: lookPath("mariadb-install-db")}
	if i.Server == "" || i.Install == "" {
		return Installation{}, errors.New("there is no mariadbd or no mariadb-install-db: " + cure)
	}
	return i.probe(cure)
}

func findMySQL() (Installation, error) {
	const cure = "install MySQL's server"
	i := Installation{Kind: MySQL, Server: lookPath("mysqld")}
	if i.Server == "" {
		return Installation{}, errors.New("there is no mysqld: " + cure)
	}
	i, err := i.probe(cure)
	if err == nil && (i.major < 5 || i.major == 5 && i.minor < 7) {
		return Installation{}, fmt.Errorf("%s is %s; 5.7 or later is needed", i.Server, i.Version)
	}
	return i, err
}

func findMySQL9() (Installation, error) {
	const cure = "run mysql/mysqltest/install/mysql9.sh"
	dir, err := ServersDir()
	if err != nil {
		return Installation{}, err
	}
	tree := filepath.Join(dir, "mysql9", "tree", "usr")
	i := Installation{
		Kind: MySQL9, Server: filepath.Join(dir, "mysql9", "bin", "mysqld"), base: tree,
		args: []string{
			"--basedir=" + tree, "--plugin-dir=" + filepath.Join(tree, "lib/mysql/plugin"),
			"--lc-messages-dir=" + filepath.Join(tree, "share/mysql"), "--character-sets-dir=" + filepath.Join(tree, "share/mysql/charsets"),
		},
	}
	if isFile(filepath.Join(dir, "mysql9", "done")) {
		return i.probe(cure + " again")
	}
	if i, err := findMySQL(); err == nil && i.major == 9 {
		i.Kind = MySQL9
		return i, nil
	}
	return Installation{}, errors.New("there is no MySQL 9: " + cure)
}

func findMySQL56() (Installation, error) {
	const cure = "run mysql/mysqltest/install/mysql56.sh"
	dir, err := ServersDir()
	if err != nil {
		return Installation{}, err
	}
	if !isFile(filepath.Join(dir, "mysql56", "done")) {
		return Installation{}, errors.New("there is no MySQL 5.6: " + cure)
	}
	tree := filepath.Join(dir, "mysql56", "tree")
	i := Installation{Kind: MySQL56, Server: filepath.Join(tree, "bin", "mysqld"), base: tree, args: []string{"--basedir=" + tree}}
	return i.probe(cure + " again")
}

// probe runs the server, as the user that it will run as, for its version.
func (i Installation) probe(cure string) (Installation, error) {
	owner, err := serverUser()
	if err != nil {
		return Installation{}, err
	}
	cmd := exec.Command(i.Server, "--no-defaults", "--version")
	cmd.SysProcAttr = processAttr(owner, false)
	cmd.Dir = "/"
	out, err := cmd.Output()
	if err != nil {
		return Installation{}, fmt.Errorf("%s does not run (%w): %s", i.Server, err, cure)
	}
	// "mysqld  Ver 9.7.4-2 for Linux on x86_64", "mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64"
	_, text, _ := strings.Cut(string(out), "Ver ")
	isMariaDB := strings.Contains(text, "MariaDB")
	if isMariaDB != (i.Kind == MariaDB) {
		return Installation{}, fmt.Errorf("%s is not %s: %s", i.Server, i.Kind, cure)
	}
	number := text[:len(text)-len(strings.TrimLeft(text, "0123456789."))]
	parts := strings.Split(number, ".")
	if len(parts) < 2 {
		return Installation{}, fmt.Errorf("%s tells no version: %s", i.Server, cure)
	}
	i.major, _ = strconv.Atoi(parts[0])
	i.minor, _ = strconv.Atoi(parts[1])
	i.Version = "MySQL " + number
	if isMariaDB {
		i.Version = "MariaDB " + number
	}
	return i, nil
}

// old tells MySQL before 8: its redo log, replication statements and accounts are of another age.
func (i Installation) old() bool { return i.Kind != MariaDB && i.major < 8 }

// lookPath looks in PATH and where servers are that are not in a user's PATH; "" when it is nowhere.
func lookPath(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/opt/homebrew/bin", "/usr/local/mysql/bin"} {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
