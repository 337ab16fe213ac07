package auth

import (
	"bytes"
	"crypto/rsa"
	"fmt"
	"strings"
	"testing"
)

func testServer(t testing.TB, password string, o ServerOptions) *Server {
	t.Helper()
	c, err := FromPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	o.Salt = bytes.Repeat([]byte{'s'}, saltLenOf(o.Plugin))
	s, err := NewServer(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGarbageLengths(t *testing.T) {
	key := testKey()
	for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519} {
		for _, password := range []string{"secret", ""} {
			for n := range 300 {
				for _, fill := range []byte{0, 1, 2, 0xff} {
					for _, o := range []ServerOptions{{}, {Secure: true}, {RSAKey: key}} {
						o.Plugin = plugin
						v := firstStep(t, testServer(t, password, o).credentials, ServerOptions{
							Plugin: plugin, Salt: bytes.Repeat([]byte{'s'}, saltLenOf(plugin)), Secure: o.Secure, RSAKey: o.RSAKey,
						}, bytes.Repeat([]byte{fill}, n))
						want := Deny
						switch {
						case password == "" && (n == 0 || plugin == CachingSHA2 && n == 1 && fill == 0):
							want = Accept
						case password != "" && plugin == CachingSHA2 && n == 32 && (o.Secure || o.RSAKey != nil):
							want = Continue
						}
						if v != want {
							t.Fatalf("%s, password %q, %d bytes %#x: %v, want %v", plugin, password, n, fill, v, want)
						}
					}
				}
			}
		}
	}
}

// The bytes after "perform full authentication", one server each.
func TestFullAuthenticationBytes(t *testing.T) {
	key := testKey()
	salt := bytes.Repeat([]byte{'s'}, 20)
	encrypt := func(password string) string {
		b, err := encryptPassword(password, salt, &key.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	miss := strings.Repeat("m", 32)
	for _, c := range []struct {
		name  string
		o     ServerOptions
		sends []string
		want  Verdict
	}{
		{"clear", ServerOptions{Secure: true}, []string{"secret\x00"}, Accept},
		{"without NUL", ServerOptions{Secure: true}, []string{"secret"}, Deny},
		{"two NULs", ServerOptions{Secure: true}, []string{"secret\x00\x00"}, Deny},
		{"more after the NUL", ServerOptions{Secure: true}, []string{"secret\x00x\x00"}, Deny},
		{"no bytes", ServerOptions{Secure: true}, []string{""}, Deny},
		{"empty password", ServerOptions{Secure: true}, []string{"\x00"}, Deny},
		{"too long", ServerOptions{Secure: true}, []string{strings.Repeat("x", 257) + "\x00"}, Deny},
		{"huge", ServerOptions{Secure: true}, []string{strings.Repeat("x", 1<<20) + "\x00"}, Deny},
		{"no key to ask for", ServerOptions{Secure: true}, []string{"\x02"}, Deny},
		{"clear where it is not secure", ServerOptions{RSAKey: key}, []string{"secret\x00"}, Deny},
		{"encrypted", ServerOptions{RSAKey: key}, []string{encrypt("secret")}, Accept},
		{"encrypted wrong", ServerOptions{RSAKey: key}, []string{encrypt("wrong")}, Deny},
		{"encrypted empty", ServerOptions{RSAKey: key}, []string{encrypt("")}, Deny},
		{"asked, encrypted", ServerOptions{RSAKey: key}, []string{"\x02", encrypt("secret")}, Accept},
		{"asked twice", ServerOptions{RSAKey: key}, []string{"\x02", "\x02"}, Deny},
		{"asked, encrypted, over TLS", ServerOptions{RSAKey: key, Secure: true}, []string{"\x02", encrypt("secret")}, Accept},
		{"asked, clear, over TLS", ServerOptions{RSAKey: key, Secure: true}, []string{"\x02", "secret\x00"}, Deny},
		{"encrypted unasked over TLS", ServerOptions{RSAKey: key, Secure: true}, []string{encrypt("secret")}, Deny},
		{"short ciphertext", ServerOptions{RSAKey: key}, []string{encrypt("secret")[1:]}, Deny},
		{"long ciphertext", ServerOptions{RSAKey: key}, []string{encrypt("secret") + "x"}, Deny},
		{"zero ciphertext", ServerOptions{RSAKey: key}, []string{strings.Repeat("\x00", 256)}, Deny},
		{"random ciphertext", ServerOptions{RSAKey: key}, []string{strings.Repeat("\xa5", 256)}, Deny},
		{"key asked instead of an answer", ServerOptions{RSAKey: key}, []string{}, Continue},
	} {
		c.o.Plugin = CachingSHA2
		s := testServer(t, "secret", c.o)
		more, v := s.Step([]byte(miss))
		if string(more) != "\x04" || v != Continue {
			t.Fatalf("%s: %x, %v", c.name, more, v)
		}
		for i, b := range c.sends {
			if v != Continue {
				t.Fatalf("%s: %v before packet %d", c.name, v, i)
			}
			more, v = s.Step([]byte(b))
			if asked := b == "\x02" && v == Continue; asked != bytes.HasPrefix(more, []byte("-----BEGIN PUBLIC KEY-----\n")) {
				t.Errorf("%s: more is %q", c.name, more)
			}
		}
		if v != c.want {
			t.Errorf("%s: %v, want %v", c.name, v, c.want)
		}
	}
}

func TestNewServerRefuses(t *testing.T) {
	c, err := FromPassword("secret")
	if err != nil {
		t.Fatal(err)
	}
	salt := make([]byte, 20)
	for name, o := range map[string]ServerOptions{
		"no plugin":            {Salt: salt},
		"client-side plugin":   {Plugin: SHA256, Salt: salt},
		"clear":                {Plugin: Clear, Salt: salt},
		"no salt":              {Plugin: NativePassword},
		"salt with its NUL":    {Plugin: CachingSHA2, Salt: make([]byte, 21)},
		"greeting's salt":      {Plugin: Ed25519, Salt: salt},
		"key without a number": {Plugin: CachingSHA2, Salt: salt, RSAKey: new(rsa.PrivateKey)},
	} {
		if s, err := NewServer(c, o); err == nil || s != nil {
			t.Errorf("%s is taken", name)
		}
	}
	if s, err := NewServer(nil, ServerOptions{Plugin: NativePassword, Salt: salt}); err == nil {
		t.Errorf("nil Credentials: %v", s)
	}
	for _, password := range []string{"a\x00b", strings.Repeat("x", 257)} {
		if _, err := FromPassword(password); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("password %.10q: %v", password, err)
		}
	}
}

// An unknown user sees what a user with a wrong password sees, byte for byte, by every plugin and channel.
func TestUnknownLooksLikeAWrongPassword(t *testing.T) {
	key := testKey()
	known, err := FromPassword("secret")
	if err != nil {
		t.Fatal(err)
	}
	cipher, err := encryptPassword("wrong", bytes.Repeat([]byte{'s'}, 20), &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519} {
		for _, o := range []ServerOptions{{}, {Secure: true}, {RSAKey: key}} {
			for _, n := range []int{0, 1, 20, 32, 64} {
				for _, then := range []string{"wrong\x00", "\x02", string(cipher), ""} {
					o.Plugin, o.Salt = plugin, bytes.Repeat([]byte{'s'}, saltLenOf(plugin))
					var seen [2]string
					for i, c := range []*Credentials{known, Unknown()} {
						s, err := NewServer(c, o)
						if err != nil {
							t.Fatal(err)
						}
						m1, v1 := s.Step(bytes.Repeat([]byte{7}, n))
						m2, v2 := s.Step([]byte(then))
						m3, v3 := s.Step(cipher)
						seen[i] = fmt.Sprint(m1, v1, m2, v2, m3, v3)
					}
					if seen[0] != seen[1] {
						t.Errorf("%s: known %s, unknown %s", plugin, seen[0], seen[1])
					}
				}
			}
		}
	}
}

// The mark alone must deny: the digests of Unknown have no known password, but its Ed25519 key has a known secret.
func TestFakeCredentialsDenyTheRightPassword(t *testing.T) {
	for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519} {
		c, err := FromPassword("secret")
		if err != nil {
			t.Fatal(err)
		}
		c.fake = true
		if v, _ := login(t, c, plugin, "secret"); v != Deny {
			t.Errorf("%s: %v", plugin, v)
		}
		text, err := Hash(plugin, "secret")
		if err != nil {
			t.Fatal(err)
		}
		if c, err = FromVerifiers(map[string]string{plugin: text}); err != nil {
			t.Fatal(err)
		}
		c.fake = true
		if v, _ := login(t, c, plugin, "secret"); v != Deny || plugin == CachingSHA2 && c.sha2.Load() != nil {
			t.Errorf("%s with a stored verifier: %v", plugin, v)
		}
	}
	if !Unknown().fake {
		t.Error("Unknown is not marked")
	}
}

// Only "none" opens an account without a password; a scramble that was made from the empty one does not.
func TestScrambleOfTheEmptyPassword(t *testing.T) {
	for plugin, scramble := range map[string][]byte{NativePassword: nativeScramble("", salt20), CachingSHA2: sha2Scramble("", salt20)} {
		if _, v := testServer(t, "", ServerOptions{Plugin: plugin, Secure: true}).Step(scramble); v != Deny {
			t.Errorf("%s: %v", plugin, v)
		}
	}
}

// An account that stores the digest of the empty password is not an account without one.
func TestDigestOfTheEmptyPassword(t *testing.T) {
	const native = "*be1bdec0aa74b4dcb079943e70528096cca985f8"
	c, err := FromVerifiers(map[string]string{NativePassword: native, CachingSHA2: sha2Prefix + "5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456"})
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{NativePassword, CachingSHA2} {
		if v, _ := login(t, c, plugin, ""); v != Deny {
			t.Errorf("%s: %v", plugin, v)
		}
	}
	s, err := NewServer(c, ServerOptions{Plugin: CachingSHA2, Salt: salt20, Secure: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, v := s.Step(make([]byte, 32)); v != Continue {
		t.Fatal(v)
	}
	if _, v := s.Step([]byte{0}); v != Deny {
		t.Errorf("a lone NUL for the password: %v", v)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	c, err := FromPassword("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	o := ClientOptions{Password: "hunter2"}
	client := NewClient(o)
	for _, x := range []any{c, o, &o, client, struct{ O ClientOptions }{o}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, x); strings.Contains(got, "hunter2") || strings.Contains(got, fmt.Sprint(c.native[:])) {
				t.Errorf("%s of %T: %s", verb, x, got)
			}
		}
	}
}

func TestVerdictString(t *testing.T) {
	var zero Verdict
	if got := fmt.Sprint(zero, DenyInsecure, Continue, Accept, Verdict(9)); got != "deny deny insecure continue accept Verdict(9)" {
		t.Error(got)
	}
}

func FuzzServerStep(f *testing.F) {
	key := testKey()
	account, err := FromPassword("secret")
	if err != nil {
		f.Fatal(err)
	}
	plugins := []string{NativePassword, CachingSHA2, Ed25519}
	for i := range plugins {
		f.Add(byte(i), []byte(strings.Repeat("r", 20)), []byte("\x02"), []byte("secret\x00"))
		f.Add(byte(i|0x10), []byte(strings.Repeat("r", 32)), []byte("\x02"), bytes.Repeat([]byte{1}, 256))
		f.Add(byte(i|0x20), []byte{}, []byte{0}, []byte{})
		f.Add(byte(i|0x30), bytes.Repeat([]byte{9}, 64), []byte("wrong\x00"), []byte{})
	}
	f.Fuzz(func(t *testing.T, flags byte, first, second, third []byte) {
		o := ServerOptions{Plugin: plugins[int(flags&0xf)%len(plugins)], Secure: flags&0x10 != 0}
		o.Salt = bytes.Repeat([]byte{'s'}, saltLenOf(o.Plugin))
		if flags&0x20 != 0 {
			o.RSAKey = key
		}
		for _, c := range []*Credentials{account, Unknown()} {
			s, err := NewServer(c, o)
			if err != nil {
				t.Fatal(err)
			}
			ended := false
			for _, b := range [][]byte{first, second, third} {
				more, v := s.Step(b)
				switch {
				case ended && (v != Deny || more != nil):
					t.Fatalf("%v after the end", v)
				case v == Accept && (c == Unknown() || string(b) != "secret\x00" || !o.Secure):
					t.Fatalf("%s accepts %q", o.Plugin, b)
				case v == Continue && more == nil:
					t.Fatal("both sides wait")
				}
				ended = v != Continue
			}
		}
	})
}
