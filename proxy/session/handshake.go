package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
)

// offered are the capabilities of every greeting; TLS, compression and session tracking are added as configured.
const offered = mysql.ClientLongPassword | mysql.ClientFoundRows | mysql.ClientLongFlag | mysql.ClientConnectWithDB |
	mysql.ClientNoSchema | mysql.ClientODBC | mysql.ClientLocalFiles | mysql.ClientIgnoreSpace | mysql.ClientProtocol41 |
	mysql.ClientInteractive | mysql.ClientIgnoreSigpipe | mysql.ClientTransactions | mysql.ClientSecureConnection |
	mysql.ClientMultiStatements | mysql.ClientMultiResults | mysql.ClientPSMultiResults | mysql.ClientPluginAuth |
	mysql.ClientConnectAttrs | mysql.ClientPluginAuthLenencClientData | mysql.ClientSessionTrack | mysql.ClientDeprecateEOF |
	mysql.ClientOptionalResultsetMetadata | mysql.ClientQueryAttributes | mysql.ClientReserved

// handshake greets the client, proves who it is and makes the session ready for commands, all within the handshake
// time-out. No backend is used but to verify the database that the client asks for.
func (s *Session) handshake() *endError {
	s.client.snap = s.client.shared.Snapshot.Load()
	cfg := s.client.snap.Config
	_ = s.client.conn.Net.SetDeadline(time.Unix(0, s.client.entry.Started()).Add(cfg.HandshakeTimeout.Duration()))
	if !s.client.snap.Accounts.Allowed(s.client.addr) {
		e := mysql.NewSQLError(mysql.ERHostNotPrivileged, "Host '%s' is not allowed to connect to this MySQL server", s.client.host())
		s.client.conn.EndPacket(e.AppendEarly(s.client.conn.StartPacket()))
		s.client.lastWords()
		return &endError{reason: process.EndDenied}
	}
	if err := s.newSalt(); err != nil {
		return &endError{process.EndPanic, err}
	}
	caps := offered
	if s.client.snap.TLS != nil {
		caps |= mysql.ClientSSL
	}
	if cfg.Compression {
		caps |= mysql.ClientCompress | mysql.ClientZstdCompressionAlgorithm
	}
	hello := mysql.HandshakeV10{
		ServerVersion: s.client.snap.serverVersion(), ConnectionID: s.client.id, Salt: s.salt, Capabilities: caps,
		Collation: state.GreetingCollation(cfg.ProxyCharset), Status: mysql.ServerStatusAutocommit, AuthPlugin: cfg.AuthPlugin,
	}
	s.client.conn.EndPacket(hello.AppendTo(s.client.conn.StartPacket()))
	if err := s.client.conn.Flush(); err != nil {
		return clientEnd(err)
	}
	resp, end := s.readResponse(caps)
	if end != nil {
		return end
	}
	return s.login(resp)
}

// readResponse reads the client's answer, going into TLS first where it asks for that.
func (s *Session) readResponse(caps mysql.Capability) (*mysql.HandshakeResponse41, *endError) {
	p, err := s.client.conn.ReadPacket()
	if err != nil {
		return nil, clientEnd(err)
	}
	if mysql.IsSSLRequest(p) && s.client.snap.TLS != nil {
		if err := s.client.conn.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Server(nc, s.client.snap.TLS) }); err != nil {
			return nil, clientEnd(err)
		}
		if p, err = s.client.conn.ReadPacket(); err != nil {
			return nil, clientEnd(err)
		}
	}
	resp := new(mysql.HandshakeResponse41)
	if err := resp.Decode(p); err != nil {
		return nil, s.deny(mysql.NewSQLError(mysql.ERHandshakeError, "Bad handshake"), err)
	}
	s.client.conn.Capabilities = resp.Capabilities & caps
	return resp, nil
}

// setAccount makes a the session's account: after a login, and after a reload.
func (c *client) setAccount(a *account.Account) {
	c.account = a
	c.observed.SetAccount(a)
}

// deny sends the error and ends the login.
func (s *Session) deny(e *mysql.SQLError, err error) *endError {
	s.client.observed.Fail(e.Code, observe.OriginClient)
	s.client.conn.WriteError(e)
	s.client.lastWords()
	if err == nil {
		err = e
	}
	return &endError{process.EndDenied, err}
}

// login authenticates, then sets up what the response asked for.
func (s *Session) login(resp *mysql.HandshakeResponse41) *endError {
	cfg := s.client.snap.Config
	s.client.user = resp.User
	s.client.entry.SetUser(resp.User)
	a, end := s.authenticate(authAttempt{
		user: resp.User, plugin: resp.AuthPlugin, response: resp.AuthResponse, greeting: cfg.AuthPlugin,
	})
	if end != nil {
		return end
	}
	s.client.schema = s.client.snap.Schemas[s.client.user]
	switch {
	case s.client.entry.AdminOnly():
		if a.Rights == account.None {
			return s.deny(newError(KSNoRights, "the admin port is for users with rights in user_list"), nil)
		}
		s.client.schema = &Schema{}
	case s.client.schema == nil:
		return s.deny(newError(KSNoSchema, ""), nil)
	}
	if !a.Enter() {
		return s.deny(mysql.NewSQLError(mysql.ERUserLimitReached, "User '%s' has exceeded the 'max_user_connections' resource", s.client.user), nil)
	}
	s.client.setAccount(a)
	s.settings().initState(uint16(resp.Collation))
	switch {
	case !s.client.conn.Capabilities.Has(mysql.ClientConnectWithDB) || resp.Database == "":
	case s.client.entry.AdminOnly():
		s.client.state.SetDB(resp.Database)
	default:
		if err := s.settings().useDB(resp.Database); err != nil {
			return s.denyDB(err)
		}
	}
	s.client.conn.WriteOK(&mysql.OKPacket{Status: s.client.status()})
	if err := s.client.conn.Flush(); err != nil {
		return clientEnd(err)
	}
	if err := s.client.conn.StartCompression(s.compression(resp)); err != nil {
		return &endError{process.EndProtocol, err}
	}
	s.client.conn.SetPayloadCap(int(cfg.MaxAllowedPacket))
	_ = s.client.conn.Net.SetDeadline(time.Time{})
	s.client.conn.Release()
	s.client.entry.LoggedIn(s.client.conn.Net.Bare() == nil)
	s.client.finishCommand()
	return nil
}

func (s *Session) denyDB(err error) *endError {
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		return s.deny(sqlErr, nil)
	}
	return clientEnd(err)
}

// compression picks the algorithm that both sides have; zstd first, as the server does.
func (s *Session) compression(resp *mysql.HandshakeResponse41) (mysql.Compression, int) {
	switch {
	case s.client.conn.Capabilities.Has(mysql.ClientZstdCompressionAlgorithm):
		return mysql.Zstd, int(resp.ZstdLevel)
	case s.client.conn.Capabilities.Has(mysql.ClientCompress):
		return mysql.Zlib, 0
	}
	return mysql.NoCompression, 0
}

// authAttempt is what a client says of itself, in a login or in COM_CHANGE_USER.
type authAttempt struct {
	user     string
	plugin   string // the client's; "" from one that knows no plugins
	response []byte
	greeting string // the plugin that the response's salt was sent for; "" if none
}

// authenticate runs the exchange of the authentication phase. Unknown users and forbidden hosts go through the same
// steps and fail at the end of them. MySQL manual: "Authentication Method".
func (s *Session) authenticate(at authAttempt) (*account.Account, *endError) {
	a, known := s.client.snap.Accounts.Lookup(at.user, s.client.addr)
	if s.client.snap.Config.TLS.RequireTLS && !s.client.conn.Net.Secure() {
		return nil, s.denyInsecure()
	}
	if !s.client.conn.Capabilities.Has(mysql.ClientPluginAuth) {
		at.plugin, at.greeting = auth.NativePassword, auth.NativePassword
	}
	plugin := s.choosePlugin(a, at)
	salt := s.salt
	if plugin == auth.Ed25519 {
		// This plugin's salt is longer than the greeting's, so it always asks again.
		var err error
		if salt, err = auth.NewSaltFor(plugin); err != nil {
			return nil, &endError{process.EndPanic, err}
		}
		at.greeting = ""
	}
	server, err := auth.NewServer(a.Credentials, auth.ServerOptions{
		Plugin: plugin, Salt: salt, Secure: s.client.conn.Net.Secure(), RSAKey: s.client.snap.RSAKey,
	})
	if err != nil {
		return nil, s.deny(mysql.NewSQLError(mysql.ERPluginIsNotLoaded, "Plugin '%s' is not loaded", plugin), err)
	}
	response := at.response
	if plugin != at.plugin || at.plugin != at.greeting {
		if response, err = s.switchPlugin(plugin, salt); err != nil {
			return nil, clientEnd(err)
		}
	}
	passwordSent := len(response) > 0
	for {
		// As late as can be: a crowd of connections may have come this far before any of them fails.
		if !s.awaitTurn(at.user) {
			return nil, s.deny(s.blocked(), nil)
		}
		more, verdict := server.Step(response)
		if more != nil {
			b := append(s.client.conn.StartPacket(), mysql.AuthMoreDataHeader)
			s.client.conn.EndPacket(append(b, more...))
		}
		switch {
		case verdict == auth.Accept && known && a.RequireTLS && !s.client.conn.Net.Secure():
			// Said at the end, to who has the password: at the beginning it would tell strangers that the user exists.
			return nil, s.denyInsecure()
		case verdict == auth.Accept && known:
			s.client.shared.Failures.Good(s.client.addr, at.user)
			return a, nil
		case verdict == auth.DenyInsecure:
			return nil, s.deny(mysql.NewSQLError(mysql.ERAccessDenied,
				"Access denied for user '%s'@'%s': %s needs TLS, or an auth_rsa_key of the proxy, for its first login", at.user, s.client.host(), plugin), nil)
		case verdict != auth.Continue:
			if !s.loginFailed(at.user) {
				return nil, &endError{reason: process.EndDenied}
			}
			return nil, s.deny(accessDenied(at.user, s.client.host(), passwordSent), nil)
		}
		if err := s.client.conn.Flush(); err != nil {
			return nil, clientEnd(err)
		}
		if response, err = s.client.conn.ReadPacket(); err != nil {
			return nil, clientEnd(err)
		}
	}
}

// blocked is what a client hears whose password is not looked at, as too many of its address wait for that.
func (s *Session) blocked() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERHostIsBlocked, "Host '%s' is blocked because of many failed logins; try again later", s.client.host())
}

// awaitTurn waits until the password of a login is to be looked at; false when too many wait already, or the session was closed.
func (s *Session) awaitTurn(user string) bool {
	wait, ok := s.client.shared.Failures.Turn(s.client.addr, user, s.client.snap.Config.MaxLoginDelay.Duration())
	if !ok || wait == 0 {
		return ok
	}
	turn := time.NewTimer(wait)
	defer turn.Stop()
	select {
	case <-turn.C:
		return true
	case <-s.client.entry.Cancelled():
		return false
	}
}

// loginFailed counts a login that failed and waits as long as its answer is to be delayed; false when the client did not.
func (s *Session) loginFailed(user string) bool {
	f := &s.client.shared.Failures
	delay := f.Failed(s.client.addr, user, s.client.snap.Config.MaxLoginDelay.Duration())
	if delay == 0 || !f.Hold() {
		return true
	}
	defer f.Release()
	_ = s.client.conn.Net.SetDeadline(time.Now().Add(delay))
	// A client has nothing to say now. What ends the wait early is that it leaves, or that the proxy ends.
	return isTimeout(s.client.conn.Await())
}

func (s *Session) denyInsecure() *endError {
	return s.deny(mysql.NewSQLError(mysql.ERSecureTransportRequired,
		"Connections using insecure transport are prohibited while --require_secure_transport=ON."), nil)
}

func accessDenied(user, host string, password bool) *mysql.SQLError {
	using := "NO"
	if password {
		using = "YES"
	}
	return mysql.NewSQLError(mysql.ERAccessDenied, "Access denied for user '%s'@'%s' (using password: %s)", user, host, using)
}

// choosePlugin takes the account's plugin where it is bound to one, else the client's where that can be, else native.
func (s *Session) choosePlugin(a *account.Account, at authAttempt) string {
	switch {
	case a.Plugin != "":
		return a.Plugin
	case !s.client.conn.Capabilities.Has(mysql.ClientPluginAuth):
		return auth.NativePassword
	case at.plugin != "" && a.Credentials.Supports(at.plugin):
		return at.plugin
	}
	for _, p := range []string{s.client.snap.Config.AuthPlugin, auth.CachingSHA2, auth.NativePassword, auth.Ed25519} {
		if a.Credentials.Supports(p) {
			return p
		}
	}
	return auth.NativePassword
}

// switchPlugin asks the client to answer again, with another plugin. A client that knows no plugins cannot be asked:
// its answer is to the greeting's salt.
func (s *Session) switchPlugin(plugin string, salt []byte) ([]byte, error) {
	if !s.client.conn.Capabilities.Has(mysql.ClientPluginAuth) {
		return nil, fmt.Errorf("the client knows no authentication plugins and the account needs %s", plugin)
	}
	sw := mysql.AuthSwitchRequest{Plugin: plugin, Data: salt}
	s.client.conn.EndPacket(sw.AppendTo(s.client.conn.StartPacket()))
	if err := s.client.conn.Flush(); err != nil {
		return nil, err
	}
	return s.client.conn.ReadPacket()
}
