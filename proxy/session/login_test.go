package session

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/process"
)

// A client comes in with the password of a user who may come from where it is and has a schema; else it hears why not.
func TestLogin(t *testing.T) {
	for _, tt := range []struct {
		name       string
		user       string
		password   string
		db         string
		from       string
		admin      bool
		change     func(cfg *config.Config)
		code       uint16
		reason     string // "" it is in
		inDB       string
		taken      int64 // of the account's connections
		handshaken bool  // it was greeted
	}{
		{name: "right", user: "app", password: "app", handshaken: true},
		{name: "with a database", user: "app", password: "app", db: "shop", inDB: "shop", handshaken: true},
		{name: "with an unknown database", user: "app", password: "app", db: "nowhere", code: mysql.ERBadDB, reason: "denied", handshaken: true},
		{name: "wrong password", user: "app", password: "other", code: mysql.ERAccessDenied, reason: "denied", handshaken: true},
		{name: "no password", user: "app", code: mysql.ERAccessDenied, reason: "denied", handshaken: true},
		{name: "unknown user", user: "nobody", password: "app", code: mysql.ERAccessDenied, reason: "denied", handshaken: true},
		{name: "from a forbidden address", user: "app", password: "app", from: "192.0.2.1:99", change: func(cfg *config.Config) { cfg.AllowIPs = "10.0.0.0/8" }, code: mysql.ERHostNotPrivileged, reason: "denied"},
		{name: "from an allowed address", user: "app", password: "app", from: "10.1.2.3:99", change: func(cfg *config.Config) { cfg.AllowIPs = "10.0.0.0/8" }, handshaken: true},
		{name: "a user of another address", user: "app", password: "app", from: "192.0.2.1:99", change: func(cfg *config.Config) { cfg.UserList[1].Hosts = "10.0.0.0/8" }, code: mysql.ERAccessDenied, reason: "denied", handshaken: true},
		{name: "without a schema", user: "app", password: "app", change: func(cfg *config.Config) { cfg.SchemaList = cfg.SchemaList[:1] }, code: KSNoSchema, reason: "denied", handshaken: true},
		{name: "without TLS", user: "app", password: "app", change: func(cfg *config.Config) { cfg.UserList[1].RequireTLS = true }, code: mysql.ERSecureTransportRequired, reason: "denied", handshaken: true},
		{name: "the admin port", user: "root", password: "root", admin: true, db: "anywhere", inDB: "anywhere", handshaken: true},
		{name: "the admin port, without rights", user: "app", password: "app", admin: true, code: KSNoRights, reason: "denied", handshaken: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := partsConfig(settingServer(t))
			cfg.MaxLoginDelay = 0
			if tt.change != nil {
				tt.change(cfg)
			}
			c, end, err := logsIn(t, newShared(t, cfg), tt.from, tt.admin, mysqltest.ClientConfig{User: tt.user, Password: tt.password, DB: tt.db})
			reason := ""
			if end != nil {
				reason = end.reason.String()
			}
			if sqlCode(err) != tt.code || (err == nil) != (tt.code == 0) || reason != tt.reason {
				t.Fatalf("the client hears %v, the login ends by %q: %v", err, reason, end)
			}
			if (c.salt != [auth.SaltLen]byte{}) != tt.handshaken {
				t.Errorf("it was greeted: %v", c.salt != [auth.SaltLen]byte{})
			}
			if tt.code != 0 {
				return
			}
			if c.entry.Name() != tt.user || c.account == nil || c.schema == nil || c.state.DB() != tt.inDB || c.entry.Command() != mysql.ComSleep || c.entry.User() != tt.user {
				t.Errorf("user %q in %q, running %v", c.entry.Name(), c.state.DB(), c.entry.Command())
			}
			if (c.schema.Default == nil) != tt.admin {
				t.Errorf("its default node is %v", c.schema.Default)
			}
		})
	}
}

// Not more clients of a user than it may have.
func TestLoginMaxConns(t *testing.T) {
	cfg := partsConfig(&mysqltest.ScriptServer{Addr: "127.0.0.1:1"})
	cfg.UserList[1].MaxConns = 1
	shared := newShared(t, cfg)
	who := mysqltest.ClientConfig{User: "app", Password: "app"}
	first, _, err := logsIn(t, shared, "", false, who)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := logsIn(t, shared, "", false, who); sqlCode(err) != mysql.ERUserLimitReached {
		t.Errorf("a second one: %v", err)
	}
	first.account.Leave()
	if _, _, err := logsIn(t, shared, "", false, who); err != nil {
		t.Errorf("behind the first: %v", err)
	}
}

// A client that says nothing, or nonsense, ends.
func TestLoginNonsense(t *testing.T) {
	cfg := partsConfig(&mysqltest.ScriptServer{Addr: "127.0.0.1:1"})
	cfg.HandshakeTimeout = 100_000_000
	shared := newShared(t, cfg)
	for name, tt := range map[string]struct {
		sends  string
		reason process.EndReason
	}{
		"silence": {"", process.EndHandshake}, "a short packet": {"\x01\x00\x00\x01\x00", process.EndDenied}, "another sequence": {"\x01\x00\x00\x07\x00", process.EndProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			lo, far := loginApart(t, shared, "", false)
			done := make(chan *endError, 1)
			go func() { done <- lo.handshake() }()
			go func() {
				buffer := make([]byte, 1<<10)
				if _, err := far.Read(buffer); err != nil {
					return
				}
				if tt.sends != "" {
					_, _ = far.Write([]byte(tt.sends))
				}
				for {
					if _, err := far.Read(buffer); err != nil {
						return
					}
				}
			}()
			if end := <-done; end == nil || end.reason != tt.reason {
				t.Errorf("ends by %v", end)
			}
		})
	}
}

// loginApart is the part that lets a client in which has connected.
func loginApart(t *testing.T, shared *Shared, from string, admin bool) (login, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	a := &apart{client: new(client)}
	a.init(near, shared)
	if from != "" {
		a.comesFrom(netip.MustParseAddrPort(from))
	}
	a.entry.Connect((*clientConn)(a.conn), process.Who{Host: hostOf(a.addr), Admin: admin}, shared.Log)
	shared.Sessions.Add(&a.entry)
	a.identify(a.entry.ID())
	xs := a.withExchanges()
	t.Cleanup(func() {
		far.Close()
		a.conn.Close()
		a.conn.Release()
		a.releaseTask()
		shared.Sessions.Remove(&a.entry)
	})
	return login{a.client, settings{a.client, xs.leases, xs.routing, xs}}, far
}

// logsIn has a client log in; err is what it hears.
func logsIn(t *testing.T, shared *Shared, from string, admin bool, c mysqltest.ClientConfig) (*client, *endError, error) {
	t.Helper()
	lo, far := loginApart(t, shared, from, admin)
	heard := make(chan error, 1)
	go func() {
		_, err := mysqltest.LoginRaw(far, c)
		heard <- err
	}()
	end := lo.handshake()
	if end != nil {
		lo.client.conn.Close()
	}
	err := <-heard
	var broken *mysql.ConnError
	if errors.As(err, &broken) {
		t.Fatal(err)
	}
	return lo.client, end, err
}
