package proxy_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// tap is a connection that keeps what it received.
type tap struct {
	net.Conn
	received bytes.Buffer
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Write(p[:n])
	return n, err
}

// packets shows each packet received by its sequence number, kind and length.
func (c *tap) packets() string {
	var seen []string
	for b := c.received.Bytes(); len(b) > 4; {
		length := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		if length == 0 || len(b) < 4+length {
			return "a packet that is cut off"
		}
		seen = append(seen, fmt.Sprintf("%d:%#02x:%d", b[3], b[4], length))
		b = b[4+length:]
	}
	return strings.Join(seen, " ")
}

// writeRSAKey writes a key for auth_rsa_key.
func writeRSAKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rsa.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A stranger cannot tell a user who does not exist from one who does: for the same login with a wrong password both get
// packets of the same kinds and lengths, and the same error but for the name. The users of this test have names of one
// length: root exists; far may not come from here; toor does not exist.
func TestUnknownUserTakesTheSameSteps(t *testing.T) {
	server := startScript(t, "script")
	rsaKey := writeRSAKey(t)
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	certificate := fmt.Sprintf("{cert: %s, key: %s}", cert, key)
	for _, greeting := range []string{auth.NativePassword, auth.CachingSHA2} {
		for _, key := range []string{"", rsaKey} {
			p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 100ms
auth_plugin: %s
auth_rsa_key: "%s"
tls: %s
user_list:
  - {user: root, password: root}
  - {user: far0, password: root, hosts: 192.0.2.0/24}
  - {user: safe, password: root, require_tls: true}
nodes: [{name: n, user: root, password: root, master: "%s"}]
schema_list: [{user: root, nodes: [n], default: n}, {user: far0, nodes: [n], default: n}, {user: safe, nodes: [n], default: n}]
`, greeting, key, certificate, server.Addr))
			mysqltest.WaitFor(t, "the version that the greeting tells", func() bool { return p.primary("n").Info() != nil })
			for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2} {
				for _, password := range []string{"", "wrong"} {
					name := fmt.Sprintf("%s, greeting %s, RSA key %v, password %q", plugin, greeting, key != "", password)
					want := attempt(t, p.addr, mysqltest.ClientConfig{User: "root", Password: password, Plugin: plugin})
					if !strings.Contains(want, "1045") {
						t.Errorf("%s: %s", name, want)
					}
					for _, user := range []string{"toor", "far0", "safe"} {
						if got := attempt(t, p.addr, mysqltest.ClientConfig{User: user, Password: password, Plugin: plugin}); got != want {
							t.Errorf("%s, %s:\n%s\nwant\n%s", name, user, got, want)
						}
					}
				}
			}
			// COM_CHANGE_USER asks in the same way.
			var asked []string
			for _, user := range []string{"root", "toor", "far0", "safe"} {
				nc, err := net.Dial("tcp", p.addr)
				if err != nil {
					t.Fatal(err)
				}
				wire := &tap{Conn: nc}
				c, err := mysqltest.LoginRaw(wire, rootClient())
				if err != nil {
					t.Fatal(err)
				}
				wire.received.Reset()
				err = c.ChangeUser(user, "wrong", "")
				asked = append(asked, seenBy(user, wire, err))
				c.Close()
			}
			for _, got := range asked[1:] {
				if got != asked[0] {
					t.Errorf("greeting %s, COM_CHANGE_USER:\n%s\nwant\n%s", greeting, got, asked[0])
				}
			}
		}
	}
}

// attempt logs in, which must fail, and shows what came back.
func attempt(t *testing.T, addr string, c mysqltest.ClientConfig) string {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	wire := &tap{Conn: nc}
	_, err = mysqltest.LoginRaw(wire, c)
	return seenBy(c.User, wire, err)
}

// seenBy shows the packets that a user got and the error, without the user's name.
func seenBy(user string, wire *tap, err error) string {
	var e *mysql.SQLError
	if !errors.As(err, &e) {
		return fmt.Sprintf("no error of the server: %v", err)
	}
	return fmt.Sprintf("%s\nerror %d (%s) %s", wire.packets(), e.Code, e.State, strings.ReplaceAll(e.Message, "'"+user+"'", "'USER'"))
}

// insecureTLS goes into TLS with whatever certificate there is.
func insecureTLS() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// A user who logs in by a plugin of its own, or whose only verifier needs a full authentication, gives himself away by
// nothing: names that nobody has are answered alike.
func TestPluginsTellNoUsers(t *testing.T) {
	server := startScript(t, "script")
	stored, err := auth.Hash(auth.CachingSHA2, "root")
	if err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 100ms
max_login_delay: 0s
user_list:
  - {user: root00, password: root}
  - {user: eduser, password: root, auth_plugin: client_ed25519}
  - {user: stored, verifiers: {caching_sha2_password: '%s'}}
nodes: [{name: n, user: root, password: root, master: "%s"}]
schema_list: [{user: root00, nodes: [n], default: n}, {user: eduser, nodes: [n], default: n}, {user: stored, nodes: [n], default: n}]
`, stored, server.Addr))
	mysqltest.WaitFor(t, "the version that the greeting tells", func() bool { return p.primary("n").Info() != nil })
	for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2} {
		answers := func(user string) string {
			return attempt(t, p.addr, mysqltest.ClientConfig{User: user, Password: "wrong", Plugin: plugin})
		}
		strangers := map[string]int{}
		for k := range 100 {
			strangers[answers(fmt.Sprintf("nobo%02d", k))]++
		}
		for _, user := range []string{"root00", "eduser", "stored"} {
			if got := answers(user); strangers[got] < 10 {
				t.Errorf("%s with a client of %s: %s\nis the answer to %d of 100 strangers", user, plugin, got, strangers[got])
			}
		}
	}
}
