package remote

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"golang.org/x/term"

	"kingshard/config"
)

// passwordVariable is the environment variable that may hold the password.
const passwordVariable = "KS_PASSWORD"

// connectTimeout bounds the time for a connection and its login.
const connectTimeout = 10 * time.Second

// login is where the proxy is and who asks, as flags say it.
type login struct {
	config, addr, user, passwordFile string
	tls                              config.NodeTLS
}

// bindLogin adds the flags to a command's.
func bindLogin(set *flag.FlagSet) *login {
	l := new(login)
	set.StringVar(&l.config, "config", "/etc/ks.yaml", "configuration `file` of the proxy, read for what -addr and -user leave out")
	set.StringVar(&l.addr, "addr", "", "`address` of the proxy, host:port or the path of its socket; when left out, admin_addr, socket or addr of the configuration")
	set.StringVar(&l.user, "user", "", "`user` with rights; when left out, the one with the most in the configuration")
	set.StringVar(&l.user, "u", "", "short for -user")
	set.StringVar(&l.passwordFile, "password-file", "", "`file` that holds the password; when left out, the environment's "+passwordVariable+", else it is asked for")
	set.StringVar(&l.tls.Mode, "tls", "preferred", "disabled, preferred, required, verify_ca or verify_identity")
	set.StringVar(&l.tls.CA, "ca", "", "PEM `file` of authorities for -tls verify_ca and verify_identity")
	return l
}

// open connects. The caller closes the pool, which has one connection.
func (l *login) open(ctx context.Context) (*sql.DB, error) {
	if l.addr == "" || l.user == "" {
		if err := l.complete(); err != nil {
			return nil, err
		}
	}
	c := driver.NewConfig()
	c.Net, c.Addr, c.User = "tcp", l.addr, l.user
	c.Timeout, c.ReadTimeout, c.Logger = connectTimeout, time.Minute, &driver.NopLogger{}
	if strings.HasPrefix(l.addr, "/") {
		c.Net = "unix"
	} else if err := l.secure(c); err != nil {
		return nil, err
	}
	var err error
	if c.Passwd, err = l.password(); err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("%s@%s: %w", l.user, l.addr, err)
	}
	return db, nil
}

// secure sets TLS as the flags say.
func (l *login) secure(c *driver.Config) error {
	mode := l.tls
	host, _, err := net.SplitHostPort(l.addr)
	if err != nil {
		return fmt.Errorf("-addr %s: host:port or an absolute path is wanted", l.addr)
	}
	switch mode.Mode {
	case "disabled", "required", "verify_ca":
	case "preferred":
		c.AllowFallbackToPlaintext = true
	case "verify_identity":
		mode.ServerName = host
	default:
		return fmt.Errorf("-tls %s: disabled, preferred, required, verify_ca or verify_identity is wanted", mode.Mode)
	}
	if mode.Mode == "verify_ca" && mode.CA == "" {
		return errors.New("-tls verify_ca needs -ca")
	}
	c.TLS, err = mode.Client()
	return err
}

// complete takes what the flags leave out from the configuration.
func (l *login) complete() error {
	cfg, faults := config.Load(l.config, config.Options{Lenient: true})
	if cfg == nil {
		return fmt.Errorf("%s, read as -addr or -user is left out: %v", l.config, faults[0])
	}
	if l.addr == "" {
		if l.addr = reachable(cfg); l.addr == "" {
			return fmt.Errorf("%s names no port to connect to: give -addr", l.config)
		}
	}
	for _, rights := range []string{"admin", "operate", "read"} {
		for _, u := range cfg.UserList {
			if l.user == "" && u.Rights == rights {
				l.user = u.User
			}
		}
	}
	if l.user == "" {
		return fmt.Errorf("%s has no user with rights: give -user", l.config)
	}
	return nil
}

// reachable gives the address at which a proxy of that configuration is reached from its own host.
func reachable(cfg *config.Config) string {
	addr := cfg.AdminAddr
	if addr == "" {
		if cfg.Socket != "" {
			return cfg.Socket
		}
		addr = cfg.Addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return ""
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// password returns what the file has, or the environment, or what is typed.
func (l *login) password() (string, error) {
	if l.passwordFile != "" {
		data, err := os.ReadFile(l.passwordFile)
		if err != nil {
			return "", err
		}
		return strings.TrimRight(string(data), "\r\n"), nil
	}
	if password, set := os.LookupEnv(passwordVariable); set {
		return password, nil
	}
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) {
		return "", fmt.Errorf("no password: set %s or give -password-file", passwordVariable)
	}
	fmt.Fprintf(os.Stderr, "Password of %s: ", l.user)
	data, err := term.ReadPassword(in)
	fmt.Fprintln(os.Stderr)
	return string(data), err
}

// readAll reads statements from standard input.
func readAll(r io.Reader) (string, error) {
	data, err := io.ReadAll(bufio.NewReader(io.LimitReader(r, inputMax+1)))
	if err == nil && len(data) > inputMax {
		err = fmt.Errorf("more than %d bytes of statements", inputMax)
	}
	return string(data), err
}

// inputMax bounds the statements of standard input, in bytes.
const inputMax = 16 << 20
