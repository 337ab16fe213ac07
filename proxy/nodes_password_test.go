package proxy_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// The password of a node's account goes to nobody who does not prove to be the server. MySQL asks for it, by caching_sha2_password, after
// it was changed or forgotten; then whoever answers could.
func TestNodePasswordGoesToProvenServersOnly(t *testing.T) {
	server, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: mysqltest.MySQL9, TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	direct := dial(t, server.Addr, rootClient())
	key := filepath.Join(server.Dir, "data", "public_key.pem")
	proofs := map[string]string{
		"":                       "no tls",
		"tls: {mode: required}":  "TLS that verifies nothing",
		"tls: {mode: preferred}": "TLS that verifies nothing",
	}
	login := func(master, keys string) error {
		t.Helper()
		text := strings.Replace(configText([]node{{name: "n", master: master, conns: 1}}), ", allow_public_key_retrieval: true", "", 1)
		cfg := parse(t, strings.Replace(text, "user: root, password: root, master", "user: proven, password: not-to-be-seen, "+keys+" master", 1))
		nodes, err := backend.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer nodes["n"].Close()
		c, err := nodes["n"].Primary.Dial(0, time.Now().Add(10*time.Second))
		if err == nil {
			c.Close()
		}
		return err
	}
	forget := func() {
		must(t, direct, "DROP USER IF EXISTS proven")
		must(t, direct, "CREATE USER proven IDENTIFIED WITH caching_sha2_password BY 'not-to-be-seen'")
	}
	for keys, name := range proofs {
		if keys != "" {
			keys += ","
		}
		forget()
		err := login(server.Addr, keys)
		if err == nil || !strings.Contains(err.Error(), "verify_identity") || !strings.Contains(err.Error(), "server_public_key") || strings.Contains(err.Error(), "not-to-be-seen") {
			t.Errorf("%s: %v, want a refusal that says what to choose", name, err)
		}
		if err := login(server.Addr, keys+"allow_public_key_retrieval: true,"); err != nil {
			t.Errorf("%s, allowed: %v", name, err)
		}
		// What the server knows now it needs not ask for: a scramble is enough.
		if err := login(server.Addr, keys); err != nil {
			t.Errorf("%s, with a scramble: %v", name, err)
		}
	}
	for name, c := range map[string]struct{ master, keys string }{
		"verified TLS":  {server.Addr, fmt.Sprintf("tls: {mode: verify_ca, ca: %q},", server.CAFile)},
		"a unix socket": {server.Socket, ""},
		"a pinned key":  {server.Addr, fmt.Sprintf("server_public_key: %q,", key)},
	} {
		forget()
		if err := login(c.master, c.keys); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
