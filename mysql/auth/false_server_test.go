package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"testing"
)

// falseServer drives a login as somebody who is not the server: it names a plugin, asks for all that the plugin has and gives a key
// of its own. It returns whether the password came to be known.
func falseServer(t *testing.T, o ClientOptions, plugin string) (known bool) {
	t.Helper()
	own, err := publicKeyPEM(&testKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(o)
	salt := bytes.Repeat([]byte{'s'}, saltLenOf(plugin))
	said := func(b []byte, err error) {
		known = known || bytes.Contains(b, []byte(o.Password)) || decrypts(b, o.Password)
		if err != nil && b != nil {
			t.Errorf("%s: %x beside %v", plugin, b, err)
		}
	}
	said(c.Start(plugin, salt))
	for _, more := range [][]byte{{4}, own, own} {
		b, _, err := c.Next(more)
		said(b, err)
		if plugin == SHA256 && more[0] == 4 { // that plugin has the key come first
			c = NewClient(o)
			said(c.Start(plugin, salt))
		}
	}
	return known
}

// A server that proves nothing gets no password, whatever plugin it names and whatever the channel, unless the operator said so.
func TestFalseServersGetNoPassword(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, channel := range []struct {
		name                   string
		secure, unix, unproven bool
	}{
		{name: "plain"}, {name: "TLS that verifies nothing", secure: true, unproven: true},
		{name: "verified TLS", secure: true}, {name: "unix socket", secure: true, unix: true},
	} {
		for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519, SHA256, Clear} {
			for bits := range 8 {
				retrieve, pinned, clear := bits&1 != 0, bits&2 != 0, bits&4 != 0
				o := ClientOptions{Password: "not to be seen", Secure: channel.secure, UnixSocket: channel.unix, Unverified: channel.unproven, AllowPublicKeyRetrieval: retrieve, AllowClear: clear}
				if pinned {
					o.ServerPublicKey = &key.PublicKey
				}
				asks := plugin == CachingSHA2 || plugin == SHA256 || plugin == Clear && clear
				var may bool
				switch channel.name {
				case "plain":
					may = asks && plugin != Clear && retrieve && !pinned
				case "TLS that verifies nothing":
					may = asks && retrieve
				default: // who answers there is the server; a pinned key wins where sha256_password must ask for one
					may = asks && !(plugin == SHA256 && channel.unix && pinned)
				}
				if known := falseServer(t, o, plugin); known != may {
					t.Errorf("%s, %s, retrieval %v, pinned %v, clear allowed %v: the password is known %v, want %v", channel.name, plugin, retrieve, pinned, clear, known, may)
				}
				cases++
			}
		}
	}
	if cases != 160 {
		t.Errorf("%d cases", cases)
	}
}
