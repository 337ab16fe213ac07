package proxy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
)

// buildBinary builds the daemon for a test.
func buildBinary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built builds the binary once for all tests; TestMain removes it.
var built = sync.OnceValues(func() (string, error) {
	var err error
	if builtDir, err = os.MkdirTemp("", "kingshard-test"); err != nil {
		return "", err
	}
	path := filepath.Join(builtDir, "kingshard")
	build := exec.Command("go", "build", "-tags", buildTags, "-o", path, "kingshard/cmd/kingshard")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is delivered, of packages that make lint has compiled
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// buildTags are those that the binary is built with.
var buildTags string

// builtDir has the binary; empty before it is built.
var builtDir string

// hashPassword runs the binary's hash-password.
func hashPassword(t *testing.T, path, plugin, password string) string {
	t.Helper()
	cmd := exec.Command(path, "hash-password", plugin)
	cmd.Stdin = strings.NewReader(password + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Threat 13: no password has to stand in the file. What hash-password prints lets its user in and nobody else, by its own
// plugin, and no dump of the configuration, no reload and no log shows it.
func TestStoredVerifiers(t *testing.T) {
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	path := buildBinary(t)
	server := startScript(t, "script")
	plugins := []string{"mysql_native_password", "caching_sha2_password", "client_ed25519"}
	var secrets []string
	text := func(password string) string {
		var users, schemas string
		for k, plugin := range plugins {
			hash := hashPassword(t, path, plugin, password)
			secrets = append(secrets, hash, hash[len(hash)/2:])
			users += fmt.Sprintf("  - {user: u%d, verifiers: {%s: '%s'}}\n", k, plugin, hash)
			schemas += fmt.Sprintf("  - {user: u%d, nodes: [n], default: n}\n", k)
		}
		return fmt.Sprintf("addr: 127.0.0.1:0\nhealth_interval: 100ms\ntls: {cert: %s, key: %s}\nuser_list:\n%snodes: [{name: n, user: root, password: root, master: %q}]\nschema_list:\n%s",
			cert, key, users, server.Addr, schemas)
	}
	first, second := text("it's one"), text("two")
	p := startProxy(t, first)
	check := func(right, wrong string) {
		t.Helper()
		for k, own := range plugins {
			for _, plugin := range plugins[:2] { // the proxy asks for the one that it can verify
				c := mysqltest.ClientConfig{User: fmt.Sprint("u", k), Password: right, Plugin: plugin, TLS: insecureTLS()}
				client, err := mysqltest.DialRaw(p.addr, c)
				if err != nil {
					t.Errorf("%s, asked by a client of %s: %v", own, plugin, err)
					continue
				}
				must(t, client, "SELECT name")
				client.Close()
				for _, password := range []string{wrong, "", secrets[2*k]} {
					c.Password = password
					if client, err := mysqltest.DialRaw(p.addr, c); !isCode(err, 1045) {
						t.Errorf("%s, asked by a client of %s, with another password: %v, %v", own, plugin, client, err)
					}
				}
			}
		}
	}
	check("it's one", "two")
	before := p.Config()
	p.reload(second)
	check("two", "it's one")

	shown := p.log.String() + fmt.Sprintf("%v %+v %#v %v", before, *before, *before, before.UserList) + fmt.Sprint(config.Diff(before, p.Config()))
	for _, marshal := range []func(any) ([]byte, error){yaml.Marshal, json.Marshal} {
		b, err := marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		shown += string(b)
	}
	if !strings.Contains(shown, "user_list[u1].verifiers") {
		t.Error("the change of a verifier is not told")
	}
	for _, secret := range append(secrets, "it's one") {
		if strings.Contains(shown, secret) {
			t.Errorf("%.6s... is shown", secret)
		}
	}
}
