package mysqltest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		child()
	}
	flag.Parse()
	if testing.Short() {
		_ = flag.Set("test.skip", "^TestServer") // they need real servers
	}
	code := m.Run()
	if err := errors.Join(StopShared(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// start starts a server that the test's end stops.
func start(t *testing.T, c ServerConfig) *RealServer {
	t.Helper()
	s, err := StartServer(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, s *RealServer, db string) *sql.DB {
	t.Helper()
	d, err := s.DB(db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func exec1(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func get(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var v sql.NullString
	if err := db.QueryRowContext(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v.String
}

func eachKind(t *testing.T, f func(*testing.T, Kind)) {
	for _, kind := range Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f(t, kind)
		})
	}
}

func TestServerLeavesNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		s := start(t, ServerConfig{Kind: kind, MaxConnections: 77, ServerID: 5, Settings: map[string]string{"wait_timeout": "1234"}})
		db := open(t, s, "test")
		for query, want := range map[string]string{
			"SELECT @@max_connections": "77", "SELECT @@server_id": "5", "SELECT @@log_bin": "0", "SELECT @@port": fmt.Sprint(s.Port),
			"SELECT @@character_set_database": "utf8mb4", "SELECT @@global.wait_timeout": "1234", "SELECT @@local_infile": "1",
			"SELECT @@global.max_allowed_packet": "1073741824", "SELECT @@performance_schema": "0", "SELECT @@bind_address": "127.0.0.1",
		} {
			if kind == MySQL56 && query == "SELECT @@bind_address" {
				continue
			}
			if got := get(t, db, query); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		if version := get(t, db, "SELECT version()"); !strings.HasPrefix(version, strings.Fields(s.Version)[1]) {
			t.Errorf("version() is %s, the server's %s", version, s.Version)
		}
		_ = db.Close() // MySQL gives open connections two seconds
		pid, dir := s.PID(), s.Dir
		for range 2 {
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		if !gone(pid) {
			t.Error("the process is there after Stop")
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the directory is there after Stop: %v", err)
		}
	})
}

// ping logs in. The driver takes a salt of client_ed25519 that ends in zero, as one of 256 does, for a malformed packet; the next is another.
func ping(t *testing.T, db *sql.DB) error {
	for {
		if err := db.PingContext(t.Context()); !errors.Is(err, mysql.ErrMalformPkt) {
			return err
		}
	}
}

func TestServerAccounts(t *testing.T) {
	accounts := map[Kind]map[string]string{ // user -> plugin
		MariaDB: {"root": "mysql_native_password", "ks": "mysql_native_password", "ksn": "mysql_native_password", "kse": "ed25519", "nopw": "mysql_native_password"},
		MySQL9:  {"root": "caching_sha2_password", "ks": "caching_sha2_password", "ksc": "caching_sha2_password", "kss": "sha256_password", "nopw": "caching_sha2_password"},
		MySQL56: {"root": "mysql_native_password", "ks": "mysql_native_password", "ksn": "mysql_native_password", "nopw": "mysql_native_password"},
	}
	for _, kind := range Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := Shared(t, kind)
			if s != Shared(t, kind) {
				t.Fatal("a second shared server")
			}
			root := open(t, s, "")
			for user, plugin := range accounts[kind] {
				for _, network := range []string{"tcp", "unix"} {
					c := s.driverConfig("test")
					c.User, c.Passwd, c.Net = user, map[string]string{"root": "root", "nopw": ""}[user], network
					if user != "root" && user != "nopw" {
						c.Passwd = "ks"
					}
					if network == "unix" {
						c.Addr = s.Socket
					}
					db, err := openDB(c)
					if err != nil {
						t.Fatal(err)
					}
					defer db.Close()
					if err := ping(t, db); err != nil { // and keep the connection
						t.Fatal(err)
					}
					exec1(t, db, "CREATE TABLE a_"+user+network+" (i INT)", "DROP TABLE a_"+user+network)
					c.Passwd = "wrong"
					wrong, err := openDB(c)
					if err != nil {
						t.Fatal(err)
					}
					defer wrong.Close()
					var refused *mysql.MySQLError
					if err := ping(t, wrong); !errors.As(err, &refused) || refused.Number != 1045 {
						t.Errorf("%s with a wrong password by %s: %v", user, network, err)
					}
				}
				if got := get(t, root, "SELECT IF(plugin='', 'mysql_native_password', plugin) FROM mysql.user WHERE user='"+user+"' AND host='%'"); got != plugin {
					t.Errorf("%s has plugin %s, want %s", user, got, plugin)
				}
			}
			if n := get(t, root, "SELECT COUNT(*) FROM mysql.user WHERE user=''"); n != "0" {
				t.Errorf("%s anonymous accounts", n)
			}
		})
	}
}

func TestServerTLS(t *testing.T) {
	for _, kind := range Kinds() {
		if kind == MySQL56 {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			s := Shared(t, kind)
			pem, err := os.ReadFile(s.CAFile)
			if err != nil {
				t.Fatal(err)
			}
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(pem) {
				t.Fatal("no certificate in " + s.CAFile)
			}
			c := s.driverConfig("test")
			c.TLS = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
			db, err := openDB(c)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var name, cipher string
			if err := db.QueryRow("SHOW SESSION STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher); err != nil || cipher == "" {
				t.Errorf("cipher %q, %v", cipher, err)
			}
			c.TLS = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
			stranger, err := openDB(c)
			if err != nil {
				t.Fatal(err)
			}
			defer stranger.Close()
			var unknown x509.UnknownAuthorityError
			if err := stranger.Ping(); !errors.As(err, &unknown) {
				t.Errorf("a client without the authority: %v", err)
			}
		})
	}
	if _, err := StartServer(t.Context(), ServerConfig{Kind: MySQL56, TLS: true}); err == nil {
		t.Error("MySQL 5.6 with TLS started")
	}
}

func TestServerReplica(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		var told []string
		primary := start(t, ServerConfig{Kind: kind, Binlog: true, Progress: func(text string) { told = append(told, text) }})
		replica := start(t, ServerConfig{Kind: kind, ReplicaOf: primary, Progress: func(text string) { told = append(told, text) }})
		if n := len(told); n < 3 || !strings.HasPrefix(told[n-1], "replicating from ") {
			t.Errorf("progress %q", told)
		}
		from, to := open(t, primary, "test"), open(t, replica, "test")
		exec1(t, from, "CREATE TABLE t (i INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
		if err := replica.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := get(t, to, "SELECT SUM(i) FROM t"); got != "3" {
			t.Errorf("the replica has sum %s", got)
		}
		// It stays a read-only replica over a crash, and takes what was written meanwhile.
		replica.Kill()
		exec1(t, from, "INSERT INTO t VALUES (4)")
		if err := replica.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := replica.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := get(t, to, "SELECT CONCAT(SUM(i), ' ', IF(@@read_only, 1, 0)) FROM t"); got != "7 1" {
			t.Errorf("after a restart: sum and read_only %s", got)
		}
		if err := primary.CatchUp(t.Context()); err == nil {
			t.Error("a primary caught up")
		}
	})
}

// A directory of the caller's stays, and a server started in it again has its data.
func TestServerDirStays(t *testing.T) {
	dir, err := os.MkdirTemp("", "mysqltest-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sub := filepath.Join(dir, "server")
	if os.Getuid() == 0 {
		_, err := StartServer(t.Context(), ServerConfig{Kind: MariaDB, Dir: sub})
		if err == nil || !strings.Contains(err.Error(), "may not enter "+dir) {
			t.Errorf("a directory that the server may not enter: %v", err)
		}
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		s := start(t, ServerConfig{Kind: MariaDB, Dir: sub, Binlog: true})
		exec1(t, open(t, s, ""), "CREATE DATABASE d"+fmt.Sprint(k))
		r := start(t, ServerConfig{Kind: MariaDB, Dir: filepath.Join(dir, "replica"), ReplicaOf: s})
		if got := get(t, open(t, r, ""), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name IN ('d0', 'd1')"); got != fmt.Sprint(k+1) {
			t.Errorf("the replica has %s databases after %d starts", got, k+1)
		}
		if err := errors.Join(r.Stop(), s.Stop()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(sub, "data")); err != nil {
		t.Error(err)
	}
}

func TestServerErrors(t *testing.T) {
	t.Run("kind", func(t *testing.T) {
		if _, err := StartServer(t.Context(), ServerConfig{Kind: "oracle"}); err == nil {
			t.Error("started")
		}
	})
	t.Run("setting", func(t *testing.T) {
		_, err := StartServer(t.Context(), ServerConfig{Kind: MariaDB, Settings: map[string]string{"no_such_setting": "1"}})
		if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
			t.Errorf("the error does not tell the server's own: %v", err)
		}
	})
	t.Run("port", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := StartServer(t.Context(), ServerConfig{Kind: MariaDB, Port: l.Addr().(*net.TCPAddr).Port}); err == nil {
			t.Error("started on a port that is taken")
		}
	})
	t.Run("source without binary log", func(t *testing.T) {
		if _, err := StartServer(t.Context(), ServerConfig{Kind: MariaDB, ReplicaOf: Shared(t, MariaDB)}); err == nil {
			t.Error("started")
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := StartServer(ctx, ServerConfig{Kind: MariaDB}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	left, err := filepath.Glob(filepath.Join(temporaryBase(), temporaryPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if f, err := os.Open(filepath.Join(dir, ownerName)); err == nil {
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				t.Errorf("%s is left by a server that did not start", dir)
			}
			_ = f.Close()
		}
	}
}

func TestFindSaysHowToInstall(t *testing.T) {
	t.Setenv("KS_SERVERS", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	for kind, script := range map[Kind]string{MySQL9: "mysql9.sh", MySQL56: "mysql56.sh"} {
		if _, err := Find(kind); err == nil || !strings.Contains(err.Error(), script) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
