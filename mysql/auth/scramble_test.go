package auth

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Logins that MariaDB 10.11.19 and MySQL 9.7.4 accepted, as they went over the wire. The first salt and response of
// mysql_native_password are those of the old kingshard's own test.
var accepted = []struct{ plugin, password, salt, response string }{
	{NativePassword, "kingshard", hex.EncodeToString([]byte("@jx=d_3z42;sS$YrS)p|")), "fbc71db5ac3d7b51048d1a1d88c1677f34bcca11"},
	{NativePassword, "pässwörd", "48633b3a526b47613069424d3f3074777876692b", "33c3aae88a93113705b93547f65b59a7512e7269"},
	{CachingSHA2, "secret", "45331f51085a0a3e5345663b3767187c531f2e47", "7c83cbd44262a687ae5b549c4ed7401a2ea661af2e538cfa98cd0ccc547601f8"},
	{
		Ed25519, "secret", "09614fab188769af87663d6ed9a6d665236c44bf22f438d69b48cf4346bc75b3",
		"d4781c04b1238cb8e60c114f1667b4f2155716cbd150ee119497c46ec6a9fd28c0af42a3dc23d8112c3b292f9920585e7a1aadb4467fd7240d76a972c25c5d0e",
	},
}

func TestCapturedLogins(t *testing.T) {
	for _, l := range accepted {
		salt, response := unhex(t, l.salt), unhex(t, l.response)
		got, err := NewClient(ClientOptions{Password: l.password}).Start(l.plugin, append(salt[:len(salt):len(salt)], 0))
		if err != nil || !bytes.Equal(got, response) {
			t.Errorf("%s: the client says %x, %v; want %x", l.plugin, got, err, response)
		}
		c, err := FromPassword(l.password)
		if err != nil {
			t.Fatal(err)
		}
		for i := range response {
			if v := firstStep(t, c, ServerOptions{Plugin: l.plugin, Salt: salt}, response); v != Accept {
				t.Fatalf("%s: %v", l.plugin, v)
			}
			forged := bytes.Clone(response)
			forged[i] ^= 1
			if v := firstStep(t, c, ServerOptions{Plugin: l.plugin, Salt: salt}, forged); v != Deny {
				t.Fatalf("%s with byte %d changed: %v", l.plugin, i, v)
			}
		}
	}
}

func firstStep(t testing.TB, c *Credentials, o ServerOptions, response []byte) Verdict {
	t.Helper()
	s, err := NewServer(c, o)
	if err != nil {
		t.Fatal(err)
	}
	_, v := s.Step(response)
	return v
}

// With a password of 32 bytes MariaDB's scheme is RFC 8032 itself.
func TestEd25519IsTheStandardForSeeds(t *testing.T) {
	const seed = "0123456789abcdef0123456789abcdef"
	want := ed25519.NewKeyFromSeed([]byte(seed))
	got, err := newEd25519Secret(seed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.public[:], want.Public().(ed25519.PublicKey)) {
		t.Errorf("public key %x", got.public)
	}
	message := []byte("thirty-two bytes or any other number")
	signature, err := got.sign(message)
	if err != nil || !bytes.Equal(signature, ed25519.Sign(want, message)) {
		t.Errorf("signature %x, %v", signature, err)
	}
}

func TestNewSalt(t *testing.T) {
	for plugin, want := range map[string]int{NativePassword: 20, CachingSHA2: 20, SHA256: 20, Ed25519: 32} {
		seen := make(map[string]bool)
		for range 500 {
			salt, err := NewSaltFor(plugin)
			if err != nil || len(salt) != want {
				t.Fatalf("%d bytes, %v", len(salt), err)
			}
			for _, x := range salt {
				if x == 0 || x == '$' || x > 127 {
					t.Fatalf("byte %#x in a salt", x)
				}
			}
			seen[string(salt)] = true
		}
		if len(seen) != 500 {
			t.Errorf("%d different salts of 500", len(seen))
		}
	}
	if salt, err := NewSalt(); err != nil || len(salt) != 20 {
		t.Errorf("NewSalt: %d bytes, %v", len(salt), err)
	}
}
