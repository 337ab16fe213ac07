package account

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"kingshard/config"
	"kingshard/mysql/auth"
)

// store makes the accounts of users, allow_ips being the networks that may connect at all.
func store(t *testing.T, allowIPs string, previous *Store, users ...config.User) *Store {
	t.Helper()
	s, err := New(&config.Config{AllowIPs: allowIPs, UserList: users}, previous)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLookup(t *testing.T) {
	s := store(t, "", nil,
		config.User{User: "any", Password: "p"},
		config.User{User: "near", Password: "p", Hosts: "10.0.0.0/8, 2001:db8::/32, 192.0.2.7"},
	)
	for _, c := range []struct {
		user, addr string // no address: a unix socket
		known      bool
	}{
		{"any", "203.0.113.1", true},
		{"any", "", true},
		{"near", "10.255.0.1", true},
		{"near", "::ffff:10.255.0.1", true},
		{"near", "11.0.0.1", false},
		{"near", "192.0.2.7", true},
		{"near", "192.0.2.8", false},
		{"near", "2001:db8:1::1", true},
		{"near", "2001:db9::1", false},
		{"near", "", true},
		{"Any", "10.0.0.1", false}, // names of users are compared byte by byte
		{"any ", "10.0.0.1", false},
		{"", "10.0.0.1", false},
	} {
		var addr netip.Addr
		if c.addr != "" {
			addr = netip.MustParseAddr(c.addr)
		}
		a, known := s.Lookup(c.user, addr)
		if known != c.known {
			t.Errorf("%q from %q: known %v, want %v", c.user, c.addr, known, c.known)
		}
		if a == nil || a.Credentials == nil {
			t.Fatalf("%q from %q: no account to check a password with", c.user, c.addr)
		}
		if !known && (a.User != "" || a.Process || a.Hints || a.LocalInfile || a.MultiStatements) {
			t.Errorf("%q from %q: the stranger's account may do something: %+v", c.user, c.addr, a)
		}
	}
}

// An account that does not exist supports what others do and denies every password.
func TestUnknownAccount(t *testing.T) {
	s := store(t, "", nil, config.User{User: "u", Password: "p"})
	known, _ := s.Lookup("u", netip.Addr{})
	unknown, _ := s.Lookup("stranger", netip.Addr{})
	for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2, auth.Ed25519} {
		if known.Credentials.Supports(plugin) != unknown.Credentials.Supports(plugin) {
			t.Errorf("%s tells a stranger's name from a user's", plugin)
		}
	}
}

func TestAllowed(t *testing.T) {
	s := store(t, "127.0.0.1, 192.168.0.0/16", nil)
	for addr, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "192.168.3.4": true, "127.0.0.2": false, "::1": false} {
		if got := s.Allowed(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	if !s.Allowed(netip.Addr{}) {
		t.Error("a unix socket needs no address")
	}
	if !store(t, "", nil).Allowed(netip.MustParseAddr("203.0.113.1")) {
		t.Error("an empty allow_ips keeps somebody out")
	}
}

// The limit of connections holds under a crowd and over a reload that changes it.
func TestConnectionLimit(t *testing.T) {
	user := config.User{User: "u", Password: "p", MaxConns: 5}
	s := store(t, "", nil, user)
	a, _ := s.Lookup("u", netip.Addr{})
	var crowd sync.WaitGroup
	entered := make(chan bool, 100)
	for range 100 {
		crowd.Go(func() { entered <- a.Enter() })
	}
	crowd.Wait()
	close(entered)
	in := 0
	for ok := range entered {
		if ok {
			in++
		}
	}
	if in > 5 || in == 0 || a.Enter() && in == 5 {
		t.Errorf("%d of 100 are in, the limit is 5", in)
	}
	for a.Enter() { // those who met in the door turned each other away: fill up
		in++
	}
	if in != 5 {
		t.Errorf("%d are in, the limit is 5", in)
	}
	user.MaxConns = 6
	b, _ := store(t, "", s, user).Lookup("u", netip.Addr{})
	if !b.Enter() || b.Enter() {
		t.Error("after a reload to 6 exactly one more gets in")
	}
	a.Leave() // a session that began before the reload
	if !b.Enter() {
		t.Error("the place of a session that ended is not free")
	}
	unlimited, _ := store(t, "", nil, config.User{User: "u", Password: "p"}).Lookup("u", netip.Addr{})
	for range 1000 {
		if !unlimited.Enter() {
			t.Fatal("0 is no limit")
		}
	}
}

// A reload keeps what first logins proved, but not for another password.
func TestReloadKeepsCredentials(t *testing.T) {
	hash := func(password string) map[string]string {
		t.Helper()
		h, err := auth.Hash(auth.CachingSHA2, password)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{auth.CachingSHA2: h}
	}
	stored := hash("p")
	for name, c := range map[string]struct {
		before, after config.User
		kept          bool
	}{
		"the same password":  {config.User{Password: "p"}, config.User{Password: "p"}, true},
		"another password":   {config.User{Password: "p"}, config.User{Password: "q"}, false},
		"other rights":       {config.User{Password: "p"}, config.User{Password: "p", Process: true}, true},
		"the same verifiers": {config.User{Verifiers: stored}, config.User{Verifiers: stored}, true},
		"other verifiers":    {config.User{Verifiers: stored}, config.User{Verifiers: hash("p")}, false},
		"a password instead": {config.User{Verifiers: stored}, config.User{Password: "p"}, false},
	} {
		c.before.User, c.after.User = "u", "u"
		s := store(t, "", nil, c.before)
		old, _ := s.Lookup("u", netip.Addr{})
		now, _ := store(t, "", s, c.after).Lookup("u", netip.Addr{})
		if kept := old.Credentials == now.Credentials; kept != c.kept {
			t.Errorf("%s: credentials kept %v", name, kept)
		}
		if now.Process != c.after.Process {
			t.Errorf("%s: the right is the old one", name)
		}
	}
}

// What is wrong is named by its place, and no error or printed account shows a secret.
func TestFaults(t *testing.T) {
	const canary = "canary-3391"
	for name, c := range map[string]struct {
		cfg  config.Config
		says string
	}{
		"allow_ips": {config.Config{AllowIPs: "1.2.3"}, "allow_ips"},
		"hosts":     {config.Config{UserList: []config.User{{User: "a"}, {User: "u", Password: canary, Hosts: "10.0.0.0/99"}}}, "user_list[1] (u): hosts"},
		"verifier":  {config.Config{UserList: []config.User{{User: "u", Verifiers: map[string]string{auth.NativePassword: canary}}}}, "user_list[0] (u)"},
		"plugin": {config.Config{UserList: []config.User{{User: "u", AuthPlugin: auth.CachingSHA2, Verifiers: map[string]string{
			auth.NativePassword: "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19",
		}}}}, "auth_plugin caching_sha2_password has no verifier"},
	} {
		_, err := New(&c.cfg, nil)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
	a, _ := store(t, "", nil, config.User{User: "u", Password: canary}).Lookup("u", netip.Addr{})
	for _, text := range []string{fmt.Sprint(a), fmt.Sprintf("%+v", a), fmt.Sprintf("%#v", a.Credentials), fmt.Sprintf("%+v", *a)} {
		if strings.Contains(text, canary) {
			t.Errorf("the printed account shows the secret: %s", text)
		}
	}
}

// Rights are those of the configuration; a user without a password has none, whatever it says.
func TestRights(t *testing.T) {
	cfg := config.Default()
	cfg.UserList = []config.User{
		{User: "root", Password: "x", Rights: "admin"}, {User: "ops", Password: "x", Rights: "operate"}, {User: "look", Password: "x", Rights: "read"},
		{User: "app", Password: "x", Rights: "none"}, {User: "odd", Password: "x", Rights: "everything"}, {User: "open", Rights: "admin"},
		{User: "verified", Rights: "read", Verifiers: config.Verifiers{"mysql_native_password": "*6D8E7CA2D13CBEBC74BE7EF3A2976000952DCE92"}},
	}
	s, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]Rights{"root": Admin, "ops": Operate, "look": Read, "app": None, "odd": None, "open": None, "verified": Read, "nobody": None} {
		if a, _ := s.Lookup(user, netip.Addr{}); a.Rights != want {
			t.Errorf("%s has %v, want %v", user, a.Rights, want)
		}
	}
}
