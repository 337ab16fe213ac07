package auth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
)

var salt20 = bytes.Repeat([]byte{'s'}, 20)

// decrypts tells whether b is the password as sent under the key of the tests.
func decrypts(b []byte, password string) bool {
	plain, err := decryptPassword(b, salt20, testKey())
	return err == nil && string(plain) == password+"\x00"
}

func TestSHA256Client(t *testing.T) {
	key := testKey()
	text, err := publicKeyPEM(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	start := func(o ClientOptions) (*Client, []byte, error) {
		c := NewClient(o)
		b, err := c.Start(SHA256, salt20)
		return c, b, err
	}
	if _, b, err := start(ClientOptions{Password: longPassword, Secure: true}); err != nil || string(b) != longPassword+"\x00" {
		t.Errorf("secure: %q, %v", b, err)
	}
	if _, b, err := start(ClientOptions{}); err != nil || string(b) != "\x00" {
		t.Errorf("no password: %q, %v", b, err)
	}
	if _, b, err := start(ClientOptions{Password: longPassword, ServerPublicKey: &key.PublicKey}); err != nil || !decrypts(b, longPassword) {
		t.Errorf("known key: %q, %v", b, err)
	}
	if _, b, err := start(ClientOptions{Password: longPassword}); b != nil || err == nil ||
		!strings.Contains(err.Error(), "(sha256_password)") || !strings.Contains(err.Error(), "use tls with mode verify_identity or verify_ca") {
		t.Errorf("no key: %q, %v", b, err)
	}
	for _, o := range []ClientOptions{{AllowPublicKeyRetrieval: true}, {Secure: true, UnixSocket: true}} {
		o.Password = longPassword
		c, b, err := start(o)
		if err != nil || string(b) != "\x01" {
			t.Fatalf("asked key: %q, %v", b, err)
		}
		if b, send, err := c.Next(text); err != nil || !send || !decrypts(b, longPassword) {
			t.Errorf("asked key: %q, %v", b, err)
		}
		if _, send, err := c.Next(text); err == nil || send {
			t.Error("a second key is taken")
		}
	}
}

func TestCachingSHA2ClientOverAUnixSocket(t *testing.T) {
	c := NewClient(ClientOptions{Password: "secret", Secure: true, UnixSocket: true})
	if _, err := c.Start(CachingSHA2, salt20); err != nil {
		t.Fatal(err)
	}
	if b, send, err := c.Next([]byte{4}); string(b) != "secret\x00" || !send || err != nil {
		t.Errorf("%q, %v, %v", b, send, err)
	}
}

func TestAllowedPlugins(t *testing.T) {
	all := []string{NativePassword, CachingSHA2, Ed25519, SHA256, Clear, "mysql_old_password", "parsec", ""}
	for _, c := range []struct {
		name string
		o    ClientOptions
		want string // of all, those that are supported
	}{
		{"default", ClientOptions{Secure: true}, "mysql_native_password caching_sha2_password client_ed25519 sha256_password"},
		{"clear", ClientOptions{Secure: true, AllowClear: true}, "mysql_native_password caching_sha2_password client_ed25519 sha256_password mysql_clear_password"},
		{"clear in the open", ClientOptions{AllowClear: true}, "mysql_native_password caching_sha2_password client_ed25519 sha256_password"},
		{"listed only", ClientOptions{Secure: true, AllowedPlugins: []string{Clear, "parsec"}}, ""},
		{"listed and allowed", ClientOptions{Secure: true, AllowClear: true, AllowedPlugins: []string{Clear}}, "mysql_clear_password"},
		{"allowed, not listed", ClientOptions{Secure: true, AllowClear: true, AllowedPlugins: []string{Ed25519}}, "client_ed25519"},
		{"none", ClientOptions{AllowedPlugins: []string{}}, ""},
	} {
		c.o.Password = "secret"
		client := NewClient(c.o)
		var got []string
		for _, p := range all {
			salt := make([]byte, saltLenOf(p))
			b, err := client.Start(p, salt)
			if (err == nil) != client.Supports(p) && p != SHA256 {
				t.Errorf("%s: Supports(%q) is %v, Start says %v", c.name, p, client.Supports(p), err)
			}
			if !client.Supports(p) && (len(b) != 0 || err == nil || p != "" && !strings.Contains(err.Error(), p)) {
				t.Errorf("%s: %s answers %q, %v", c.name, p, b, err)
			}
			if client.Supports(p) {
				got = append(got, p)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s", c.name, s)
		}
	}
	if b, err := NewClient(ClientOptions{Password: "secret", Secure: true, AllowClear: true}).Start(Clear, nil); string(b) != "secret\x00" || err != nil {
		t.Errorf("clear: %q, %v", b, err)
	}
}

func TestClientSalts(t *testing.T) {
	for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519} {
		o := ClientOptions{Password: "secret"}
		n := saltLenOf(plugin)
		salt := append(bytes.Repeat([]byte{'s'}, n-1), 0)
		whole, err := NewClient(o).Start(plugin, salt)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range [][]byte{salt[:n-1], append(salt[:n:n], 0)} {
			if b, err := NewClient(o).Start(plugin, s); err != nil || !bytes.Equal(b, whole) {
				t.Errorf("%s with %d bytes: %x, %v", plugin, len(s), b, err)
			}
		}
		for _, s := range [][]byte{nil, salt[:8], salt[:n-2], append(salt[:n:n], 1), append(salt[:n:n], 0, 0)} {
			if b, err := NewClient(o).Start(plugin, s); err == nil || b != nil {
				t.Errorf("%s takes %d bytes of salt", plugin, len(s))
			}
		}
	}
}

func TestClientWithoutPassword(t *testing.T) {
	for plugin, want := range map[string]int{NativePassword: 0, CachingSHA2: 0, SHA256: 1, Ed25519: ed25519.SignatureSize} {
		b, err := NewClient(ClientOptions{}).Start(plugin, make([]byte, saltLenOf(plugin)))
		if err != nil || len(b) != want {
			t.Errorf("%s: %d bytes, %v", plugin, len(b), err)
		}
	}
	if b, err := NewClient(ClientOptions{Password: "a\x00b"}).Start(NativePassword, salt20); err == nil {
		t.Errorf("a password with a NUL gives %x", b)
	}
}

// The next plugin starts afresh, whatever the one before it waited for.
func TestSwitchForgetsTheState(t *testing.T) {
	c := NewClient(ClientOptions{Password: "secret", Secure: true})
	for _, m := range [][]byte{{3}, {4}, nil} {
		if _, send, err := c.Next(m); err == nil || send {
			t.Errorf("data %x before a plugin: %v", m, err)
		}
	}
	if _, err := c.Start(CachingSHA2, salt20); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(NativePassword, salt20); err != nil {
		t.Fatal(err)
	}
	if b, send, err := c.Next([]byte{4}); err == nil || send || b != nil {
		t.Errorf("native sends %q", b)
	}
	if _, err := c.Start(CachingSHA2, salt20); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start("unheard_of", salt20); err == nil {
		t.Fatal("unheard_of is taken")
	}
	if b, send, err := c.Next([]byte{4}); err == nil || send || b != nil {
		t.Errorf("after a refused switch the client sends %q", b)
	}
}

// badKeys are what a hostile or broken server might send for its public key.
func badKeys(t testing.TB) map[string][]byte {
	block := func(kind string, key any) []byte {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	edKey, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	numbered := func(bits uint) *rsa.PublicKey {
		n := new(big.Int).Lsh(big.NewInt(1), bits-1)
		return &rsa.PublicKey{N: n.Add(n, big.NewInt(1)), E: 65537}
	}
	good := block("PUBLIC KEY", &testKey().PublicKey)
	return map[string][]byte{
		"nothing": nil, "one byte": {4}, "text": []byte("-----BEGIN PUBLIC KEY-----"), "cut": good[:200],
		"no DER": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{1, 2, 3}}),
		"kind":   block("PRIVATE KEY", &testKey().PublicKey), "Ed25519": block("PUBLIC KEY", edKey),
		"512 bits": block("PUBLIC KEY", numbered(512)), "16384 bits": block("PUBLIC KEY", numbered(16384)),
		"long": append(bytes.Repeat([]byte("x\n"), 5000), good...),
	}
}

func TestBadPublicKeys(t *testing.T) {
	for name, text := range badKeys(t) {
		c := NewClient(ClientOptions{Password: "secret", AllowPublicKeyRetrieval: true})
		if _, err := c.Start(CachingSHA2, salt20); err != nil {
			t.Fatal(err)
		}
		if b, send, err := c.Next([]byte{4}); string(b) != "\x02" || !send || err != nil {
			t.Fatalf("%x, %v, %v", b, send, err)
		}
		if b, send, err := c.Next(text); err == nil || send || b != nil || !strings.Contains(err.Error(), CachingSHA2) {
			t.Errorf("%s: %x, %v, %v", name, b, send, err)
		}
	}
	long := NewClient(ClientOptions{Password: strings.Repeat("x", 215), ServerPublicKey: &testKey().PublicKey})
	if _, err := long.Start(SHA256, salt20); err == nil || !strings.Contains(err.Error(), "use TLS") {
		t.Errorf("215 bytes under 2048 bits: %v", err)
	}
	if _, err := NewClient(ClientOptions{Password: "x", ServerPublicKey: new(rsa.PublicKey)}).Start(SHA256, salt20); err == nil {
		t.Error("an empty key is taken")
	}
}

func FuzzClientNext(f *testing.F) {
	key := testKey()
	good, err := publicKeyPEM(&key.PublicKey)
	if err != nil {
		f.Fatal(err)
	}
	plugins := []string{NativePassword, CachingSHA2, Ed25519, SHA256, Clear}
	f.Add(byte(1), []byte{3}, []byte{4})
	f.Add(byte(1|0x10), []byte{4}, good)
	f.Add(byte(3|0x10), good, good)
	f.Add(byte(1|0x20), []byte{4}, []byte{4})
	f.Add(byte(4|0x60), []byte{}, []byte{})
	for _, b := range badKeys(f) {
		f.Add(byte(1|0x10), []byte{4}, b)
	}
	f.Fuzz(func(t *testing.T, flags byte, first, second []byte) {
		const password = "not to be seen"
		o := ClientOptions{
			Password: password, AllowPublicKeyRetrieval: flags&0x10 != 0, Secure: flags&0x20 != 0, AllowClear: flags&0x40 != 0,
		}
		plugin := plugins[int(flags&0xf)%len(plugins)]
		c := NewClient(o)
		check := func(b []byte, send bool, err error) {
			if !o.Secure && bytes.Contains(b, []byte(password)) {
				t.Fatalf("%s sends the password in clear", plugin)
			}
			if err != nil && (send || b != nil || strings.Contains(err.Error(), password)) {
				t.Fatalf("%s sends %x with error %v", plugin, b, err)
			}
			if err == nil && !send && b != nil {
				t.Fatalf("%s has %x that is not to be sent", plugin, b)
			}
		}
		b, err := c.Start(plugin, make([]byte, saltLenOf(plugin)))
		check(b, err == nil, err)
		for _, m := range [][]byte{first, second} {
			check(c.Next(m))
		}
	})
}
