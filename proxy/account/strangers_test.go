package account

import (
	"fmt"
	"net/netip"
	"testing"

	"kingshard/config"
	"kingshard/mysql/auth"
)

// Whatever way users log in by, names that nobody has log in by it, too: each by one way, the same at every try, over a
// reload and after a restart.
func TestStrangersLogInAsUsersDo(t *testing.T) {
	verifiers := func(plugin string) config.Verifiers {
		v, err := auth.Hash(plugin, "p")
		if err != nil {
			t.Fatal(err)
		}
		return config.Verifiers{plugin: v}
	}
	users := []config.User{
		{User: "any", Password: "p"},
		{User: "ed", Password: "p", AuthPlugin: auth.Ed25519},
		{User: "sha2", Password: "p", AuthPlugin: auth.CachingSHA2},
		{User: "native only", Verifiers: verifiers(auth.NativePassword)},
		{User: "sha2 only", Verifiers: verifiers(auth.CachingSHA2)},
	}
	way := func(a *Account) string {
		return fmt.Sprint(a.Plugin, a.Credentials.Supports(auth.NativePassword), a.Credentials.Supports(auth.CachingSHA2), a.Credentials.Supports(auth.Ed25519))
	}
	s, restarted := store(t, "", nil, users...), store(t, "", nil, users...)
	reloaded := store(t, "", s, append(users[:len(users):len(users)], config.User{User: "any2", Password: "q"})...)
	seen, moved := map[string]int{}, 0
	for k := range 1000 {
		name := fmt.Sprintf("user%d", k)
		a, known := s.Lookup(name, netip.Addr{})
		if known {
			t.Fatalf("%s is known", name)
		}
		seen[way(a)]++
		again, _ := s.Lookup(name, netip.Addr{})
		after, _ := restarted.Lookup(name, netip.Addr{})
		if way(again) != way(a) || way(after) != way(a) {
			t.Errorf("%s logs in in several ways", name)
		}
		if b, _ := reloaded.Lookup(name, netip.Addr{}); way(b) != way(a) {
			moved++ // as there is one more user
		}
		if _, verdict := step(t, a); verdict == auth.Accept {
			t.Errorf("%s is let in", name)
		}
	}
	for _, u := range users {
		a, _ := s.Lookup(u.User, netip.Addr{})
		if n := seen[way(a)]; n < 100 {
			t.Errorf("the way of %s is that of %d of 1000 strangers", u.User, n)
		}
	}
	if len(seen) != len(users) {
		t.Errorf("ways of strangers: %v", seen)
	}
	if moved == 1000 {
		t.Error("a reload gave every stranger another way")
	}
}

// step answers with no password, by the plugin that the account would be asked for.
func step(t *testing.T, a *Account) (more []byte, v auth.Verdict) {
	t.Helper()
	plugin := a.Plugin
	for _, p := range []string{auth.NativePassword, auth.CachingSHA2, auth.Ed25519} {
		if plugin == "" && a.Credentials.Supports(p) {
			plugin = p
		}
	}
	salt, err := auth.NewSaltFor(plugin)
	if err != nil {
		t.Fatal(err)
	}
	server, err := auth.NewServer(a.Credentials, auth.ServerOptions{Plugin: plugin, Salt: salt})
	if err != nil {
		t.Fatal(err)
	}
	return server.Step(nil)
}
