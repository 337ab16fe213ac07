package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"strings"
	"sync"
	"testing"
)

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// channel is what the server knows besides the account.
type channel struct {
	secure bool
	key    *rsa.PrivateKey
}

const gaveUp Verdict = -1 // the client refused to go on

// exchange connects a Client to a Server. It returns the verdict and how many packets the client sent, and fails if the
// password went in clear over a channel that is not secure, or if either side does not end.
func exchange(t testing.TB, c *Credentials, plugin string, ch channel, o ClientOptions) (Verdict, int) {
	t.Helper()
	salt, err := NewSaltFor(plugin)
	if err != nil {
		t.Fatal(err)
	}
	server, err := NewServer(c, ServerOptions{Plugin: plugin, Salt: salt, Secure: ch.secure, RSAKey: ch.key})
	if err != nil {
		t.Fatal(err)
	}
	o.Secure = ch.secure
	client := NewClient(o)
	response, err := client.Start(plugin, append(bytes.Clone(salt), 0))
	if err != nil {
		t.Fatal(err)
	}
	for packets := 1; packets < 5; packets++ {
		if !ch.secure && len(o.Password) > 3 && bytes.Contains(response, []byte(o.Password)) {
			t.Fatalf("%s: the password went in clear", plugin)
		}
		more, v := server.Step(response)
		if v != Continue {
			if _, again := server.Step(response); again != Deny {
				t.Fatalf("%s: %v after %v", plugin, again, v)
			}
			if more != nil {
				if _, send, err := client.Next(more); send || err != nil {
					t.Fatalf("%s: the client on %x: send %v, %v", plugin, more, send, err)
				}
			}
			return v, packets
		}
		var send bool
		response, send, err = client.Next(more)
		if err != nil {
			if send || response != nil || strings.Contains(err.Error(), o.Password) || !strings.Contains(err.Error(), plugin) {
				t.Fatalf("%s: sends %v %x with error %v", plugin, send, response, err)
			}
			return gaveUp, packets
		}
		if !send {
			t.Fatalf("%s: both sides wait", plugin)
		}
	}
	t.Fatalf("%s: no end", plugin)
	return Deny, 0
}

// passwordOutcome is how a login ends when the server wants to see the password.
func passwordOutcome(ch channel, o ClientOptions, known, right bool) (Verdict, int) {
	verdict := Deny
	if right {
		verdict = Accept
	}
	switch {
	case ch.secure:
		return verdict, 2
	case ch.key == nil && known:
		return Deny, 1
	case ch.key == nil:
		return DenyInsecure, 1
	case o.ServerPublicKey != nil:
		return verdict, 2
	case o.AllowPublicKeyRetrieval:
		return verdict, 3
	}
	return gaveUp, 1
}

// expect says how a login must end, from what the manual says of the plugins.
func expect(plugin, password string, known bool, ch channel, o ClientOptions) (Verdict, int) {
	right := o.Password == password
	switch {
	case plugin != CachingSHA2 && right:
		return Accept, 1
	case plugin != CachingSHA2, password == "" && !right, o.Password == "" && !right:
		return Deny, 1
	case password == "" || right && known:
		return Accept, 1
	}
	return passwordOutcome(ch, o, known, right)
}

func TestEveryLogin(t *testing.T) {
	key := testKey()
	clients := []ClientOptions{{}, {ServerPublicKey: &key.PublicKey}, {AllowPublicKeyRetrieval: true}}
	channels := []channel{{}, {secure: true}, {key: key}, {secure: true, key: key}}
	const right = "the right password"
	for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519} {
		text, err := Hash(plugin, right)
		if err != nil {
			t.Fatal(err)
		}
		for kind, password := range map[string]string{"password": right, "verifier": right, "empty": "", "unknown": "\x00"} {
			for _, ch := range channels {
				for i, o := range clients {
					for _, o.Password = range []string{right, "wrong", ""} {
						var c *Credentials
						switch kind {
						case "verifier":
							c, err = FromVerifiers(map[string]string{plugin: text})
						case "unknown":
							c = Unknown()
						default:
							c, err = FromPassword(password)
						}
						if err != nil {
							t.Fatal(err)
						}
						name := fmt.Sprintf("%s %s secure=%v key=%v client=%d %q", plugin, kind, ch.secure, ch.key != nil, i, o.Password)
						known := kind != "verifier"
						for range 2 {
							v, n := exchange(t, c, plugin, ch, o)
							if wantV, wantN := expect(plugin, password, known, ch, o); v != wantV || n != wantN {
								t.Errorf("%s: %v after %d packets, want %v after %d", name, v, n, wantV, wantN)
							}
							known = known || v == Accept
						}
					}
				}
			}
		}
	}
}

// The digest that one login leaves serves all others, however many run at once.
func TestFullAuthenticationIsRemembered(t *testing.T) {
	text, err := Hash(CachingSHA2, "secret")
	if err != nil {
		t.Fatal(err)
	}
	c, err := FromVerifiers(map[string]string{CachingSHA2: text})
	if err != nil {
		t.Fatal(err)
	}
	if v, n := exchange(t, c, CachingSHA2, channel{}, ClientOptions{Password: "secret"}); v != DenyInsecure || n != 1 {
		t.Fatalf("before: %v after %d packets", v, n)
	}
	if v, _ := login(t, c, CachingSHA2, "wrong"); v != Deny || c.sha2.Load() != nil {
		t.Fatalf("wrong password: %v, remembered %v", v, c.sha2.Load() != nil)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v, _ := login(t, c, CachingSHA2, "secret"); v != Accept {
				t.Errorf("full: %v", v)
			}
			if v, n := exchange(t, c, CachingSHA2, channel{}, ClientOptions{Password: "secret"}); v != Accept || n != 1 {
				t.Errorf("fast: %v after %d packets", v, n)
			}
			if v, n := exchange(t, c, CachingSHA2, channel{}, ClientOptions{Password: "wrong"}); v != Deny || n != 1 {
				t.Errorf("wrong password: %v after %d packets", v, n)
			}
		})
	}
	wg.Wait()
}
