package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that others may read is warned of, at the line of a secret that is written there, whatever key it has.
func TestReadableSecrets(t *testing.T) {
	const head = "addr: 127.0.0.1:0\nuser_list: [{user: u%s}]\nnodes: [{name: n, user: r, master: '127.0.0.1:3306'%s}]\nschema_list: [{user: u, nodes: [n], default: n}]\n"
	t.Setenv("KS_TEST_PASSWORD", "canary-env")
	for _, c := range []struct {
		name, user, node, more string
		line                   int
	}{
		{name: "none", user: ", password_file: p", node: ", password_file: p"},
		{name: "by the environment", user: ", password: '${KS_TEST_PASSWORD}'", node: ", password: '${KS_TEST_PASSWORD}'"},
		{name: "empty", user: ", password: ''", node: ", password_file: p"},
		{name: "a user's", user: ", password: canary", line: 2},
		{name: "a node's", user: ", password: ''", node: ", password: canary", line: 3},
		{name: "a verifier", user: ", verifiers: {mysql_native_password: '*6D8E7CA2D13CBEBC74BE7EF3A2976000952DCE92'}", line: 2},
		{name: "the web user's", user: ", password: ''", more: "web_user: a\nweb_password: canary\n", line: 6},
		{name: "a token", user: ", password: ''", more: "web_tokens:\n- {name: a, rights: read, token: canary-0123456789}\n", line: 6},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p"), []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "ks.yaml")
		for _, mode := range []os.FileMode{0o644, 0o604, 0o640, 0o600} {
			if err := os.WriteFile(file, fmt.Appendf(nil, head+c.more, c.user, c.node), mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
			cfg, faults := Load(file, Options{})
			if cfg == nil {
				t.Fatalf("%s: %v", c.name, faults)
			}
			line := 0
			for _, f := range faults {
				if strings.Contains(f.Text, "every user of this host can read") {
					line = f.Line
				}
				if strings.Contains(f.String(), "canary") {
					t.Errorf("%s: a secret is shown: %v", c.name, f)
				}
			}
			if want := c.line; mode&0o004 == 0 && line != 0 || mode&0o004 != 0 && line != want {
				t.Errorf("%s, mode %o: warned of line %d, want %d: %v", c.name, mode, line, want, faults)
			}
		}
	}
}

// Every key of a secret is known, so that a new one is not forgotten.
func TestSecretKeys(t *testing.T) {
	text, err := os.ReadFile("config.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := secretKeys(typeOfConfig, map[string]bool{})
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[1] != "Secret" && fields[1] != "Verifiers" {
			continue
		}
		key := strings.Trim(strings.TrimPrefix(fields[2], "`yaml:"), "\"`")
		if !keys[key] {
			t.Errorf("%s is not taken for a secret", key)
		}
	}
	if len(keys) < 4 {
		t.Errorf("only %v", keys)
	}
}
