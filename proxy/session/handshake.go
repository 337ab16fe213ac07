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

// login lets a client in.
type login struct {
	client   *client
	settings settings
}

// handshake greets the client, proves who it is and makes the session ready for commands, all within the handshake
// time-out. No backend is used but to verify the database that the client asks for.
func (lo login) handshake() *endError {
	lo.client.snap = lo.client.shared.Snapshot.Load()
	cfg := lo.client.snap.Config
	_ = lo.client.conn.Net.SetDeadline(time.Unix(0, lo.client.entry.Started()).Add(cfg.HandshakeTimeout.Duration()))
	if !lo.client.snap.Accounts.Allowed(lo.client.addr) {
		e := mysql.NewSQLError(mysql.ERHostNotPrivileged, "Host '%s' is not allowed to connect to this MySQL server", lo.client.entry.Host())
		lo.client.conn.EndPacket(e.AppendEarly(lo.client.conn.StartPacket()))
		lo.client.lastWords()
		return &endError{reason: process.EndDenied}
	}
	if err := lo.newSalt(); err != nil {
		return &endError{process.EndPanic, err}
	}
	caps := offered
	if lo.client.snap.TLS != nil {
		caps |= mysql.ClientSSL
	}
	if cfg.Compression {
		caps |= mysql.ClientCompress | mysql.ClientZstdCompressionAlgorithm
	}
	hello := mysql.HandshakeV10{
		ServerVersion: lo.client.snap.serverVersion(), ConnectionID: lo.client.id, Salt: lo.client.salt[:], Capabilities: caps,
		Collation: state.GreetingCollation(cfg.ProxyCharset), Status: mysql.ServerStatusAutocommit, AuthPlugin: cfg.AuthPlugin,
	}
	lo.client.conn.EndPacket(hello.AppendTo(lo.client.conn.StartPacket()))
	if err := lo.client.conn.Flush(); err != nil {
		return clientEnd(err)
	}
	resp, end := lo.readResponse(caps)
	if end != nil {
		return end
	}
	return lo.logIn(resp)
}

// readResponse reads the client's answer, going into TLS first where it asks for that.
func (lo login) readResponse(caps mysql.Capability) (*mysql.HandshakeResponse41, *endError) {
	lo.client.conn.Release() // who never logs in holds no buffer
	p, err := lo.client.conn.ReadPacket()
	if err != nil {
		return nil, clientEnd(err)
	}
	if mysql.IsSSLRequest(p) && lo.client.snap.TLS != nil {
		if err := lo.client.conn.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Server(nc, lo.client.snap.TLS) }); err != nil {
			return nil, clientEnd(err)
		}
		if p, err = lo.client.conn.ReadPacket(); err != nil {
			return nil, clientEnd(err)
		}
	}
	resp := new(mysql.HandshakeResponse41)
	if err := resp.Decode(p); err != nil {
		return nil, lo.deny(mysql.NewSQLError(mysql.ERHandshakeError, "Bad handshake"), err)
	}
	lo.client.conn.Capabilities = resp.Capabilities & caps
	return resp, nil
}

// setAccount makes a the session's account: after a login, and after a reload.
func (c *client) setAccount(a *account.Account) {
	c.account = a
	c.observed.SetAccount(a)
}

// deny sends the error and ends the login.
func (lo login) deny(e *mysql.SQLError, err error) *endError {
	lo.client.observed.Fail(e.Code, observe.OriginClient)
	lo.client.conn.WriteError(e)
	lo.client.lastWords()
	if err == nil {
		err = e
	}
	return &endError{process.EndDenied, err}
}

// logIn authenticates, then sets up what the response asked for.
func (lo login) logIn(resp *mysql.HandshakeResponse41) *endError {
	cfg := lo.client.snap.Config
	lo.client.entry.SetUser(resp.User)
	a, end := lo.authenticate(authAttempt{
		user: resp.User, plugin: resp.AuthPlugin, response: resp.AuthResponse, greeting: cfg.AuthPlugin,
	})
	if end != nil {
		return end
	}
	lo.client.schema = lo.client.snap.Schemas[lo.client.entry.Name()]
	switch {
	case lo.client.entry.AdminOnly():
		if a.Rights == account.None {
			return lo.deny(newError(KSNoRights, "the admin port is for users with rights in user_list"), nil)
		}
		lo.client.schema = &Schema{}
	case lo.client.schema == nil:
		return lo.deny(newError(KSNoSchema, ""), nil)
	}
	if !a.Enter() {
		return lo.deny(mysql.NewSQLError(mysql.ERUserLimitReached, "User '%s' has exceeded the 'max_user_connections' resource", lo.client.entry.Name()), nil)
	}
	lo.client.setAccount(a)
	lo.settings.initState(uint16(resp.Collation))
	switch {
	case !lo.client.conn.Capabilities.Has(mysql.ClientConnectWithDB) || resp.Database == "":
	case lo.client.entry.AdminOnly():
		lo.client.state.SetDB(resp.Database)
	default:
		if err := lo.settings.useDB(resp.Database); err != nil {
			return lo.denyDB(err)
		}
	}
	lo.client.conn.WriteOK(&mysql.OKPacket{Status: lo.client.status()})
	if err := lo.client.conn.Flush(); err != nil {
		return clientEnd(err)
	}
	if err := lo.client.conn.StartCompression(lo.compression(resp)); err != nil {
		return &endError{process.EndProtocol, err}
	}
	lo.client.conn.SetPayloadCap(int(cfg.MaxAllowedPacket))
	_ = lo.client.conn.Net.SetDeadline(time.Time{})
	lo.client.conn.Release()
	lo.client.entry.LoggedIn(lo.client.conn.Net.Bare() == nil)
	lo.client.finishCommand()
	return nil
}

func (lo login) denyDB(err error) *endError {
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		return lo.deny(sqlErr, nil)
	}
	return clientEnd(err)
}

// compression picks the algorithm that both sides have; zstd first, as the server does.
func (lo login) compression(resp *mysql.HandshakeResponse41) (mysql.Compression, int) {
	switch {
	case lo.client.conn.Capabilities.Has(mysql.ClientZstdCompressionAlgorithm):
		return mysql.Zstd, int(resp.ZstdLevel)
	case lo.client.conn.Capabilities.Has(mysql.ClientCompress):
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
func (lo login) authenticate(at authAttempt) (*account.Account, *endError) {
	a, known := lo.client.snap.Accounts.Lookup(at.user, lo.client.addr)
	if lo.client.snap.Config.TLS.RequireTLS && !lo.client.conn.Net.Secure() {
		return nil, lo.denyInsecure()
	}
	if !lo.client.conn.Capabilities.Has(mysql.ClientPluginAuth) {
		at.plugin, at.greeting = auth.NativePassword, auth.NativePassword
	}
	plugin := lo.choosePlugin(a, at)
	salt := lo.client.salt[:]
	if plugin == auth.Ed25519 {
		// This plugin's salt is longer than the greeting's, so it always asks again.
		var err error
		if salt, err = auth.NewSaltFor(plugin); err != nil {
			return nil, &endError{process.EndPanic, err}
		}
		at.greeting = ""
	}
	server, err := auth.NewServer(a.Credentials, auth.ServerOptions{
		Plugin: plugin, Salt: salt, Secure: lo.client.conn.Net.Secure(), RSAKey: lo.client.snap.RSAKey,
	})
	if err != nil {
		return nil, lo.deny(mysql.NewSQLError(mysql.ERPluginIsNotLoaded, "Plugin '%s' is not loaded", plugin), err)
	}
	response := at.response
	if plugin != at.plugin || at.plugin != at.greeting {
		if response, err = lo.switchPlugin(plugin, salt); err != nil {
			return nil, clientEnd(err)
		}
	}
	passwordSent := len(response) > 0
	for {
		// As late as can be: a crowd of connections may have come this far before any of them fails.
		if !lo.awaitTurn(at.user) {
			return nil, lo.deny(lo.blocked(), nil)
		}
		more, verdict := server.Step(response)
		if more != nil {
			b := append(lo.client.conn.StartPacket(), mysql.AuthMoreDataHeader)
			lo.client.conn.EndPacket(append(b, more...))
		}
		switch {
		case verdict == auth.Accept && known && a.RequireTLS && !lo.client.conn.Net.Secure():
			// Said at the end, to who has the password: at the beginning it would tell strangers that the user exists.
			return nil, lo.denyInsecure()
		case verdict == auth.Accept && known:
			lo.client.shared.Failures.Good(lo.client.addr, at.user)
			return a, nil
		case verdict == auth.DenyInsecure:
			return nil, lo.deny(mysql.NewSQLError(mysql.ERAccessDenied,
				"Access denied for user '%s'@'%s': %s needs TLS, or an auth_rsa_key of the proxy, for its first login", at.user, lo.client.entry.Host(), plugin), nil)
		case verdict != auth.Continue:
			if !lo.loginFailed(at.user) {
				return nil, &endError{reason: process.EndDenied}
			}
			return nil, lo.deny(accessDenied(at.user, lo.client.entry.Host(), passwordSent), nil)
		}
		if err := lo.client.conn.Flush(); err != nil {
			return nil, clientEnd(err)
		}
		if response, err = lo.client.conn.ReadPacket(); err != nil {
			return nil, clientEnd(err)
		}
	}
}

// blocked is what a client hears whose password is not looked at, as too many of its address wait for that.
func (lo login) blocked() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERHostIsBlocked, "Host '%s' is blocked because of many failed logins; try again later", lo.client.entry.Host())
}

// awaitTurn waits until the password of a login is to be looked at; false when too many wait already, or the session was closed.
func (lo login) awaitTurn(user string) bool {
	wait, ok := lo.client.shared.Failures.Turn(lo.client.addr, user, lo.client.snap.Config.MaxLoginDelay.Duration())
	if !ok || wait == 0 {
		return ok
	}
	turn := time.NewTimer(wait)
	defer turn.Stop()
	select {
	case <-turn.C:
		return true
	case <-lo.client.entry.Cancelled():
		return false
	}
}

// loginFailed counts a login that failed and waits as long as its answer is to be delayed; false when the client did not.
func (lo login) loginFailed(user string) bool {
	f := &lo.client.shared.Failures
	delay := f.Failed(lo.client.addr, user, lo.client.snap.Config.MaxLoginDelay.Duration())
	if delay == 0 || !f.Hold() {
		return true
	}
	defer f.Release()
	_ = lo.client.conn.Net.SetDeadline(time.Now().Add(delay))
	// A client has nothing to say now. What ends the wait early is that it leaves, or that the proxy ends.
	return isTimeout(lo.client.conn.Await())
}

func (lo login) denyInsecure() *endError {
	return lo.deny(mysql.NewSQLError(mysql.ERSecureTransportRequired,
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
func (lo login) choosePlugin(a *account.Account, at authAttempt) string {
	switch {
	case a.Plugin != "":
		return a.Plugin
	case !lo.client.conn.Capabilities.Has(mysql.ClientPluginAuth):
		return auth.NativePassword
	case at.plugin != "" && a.Credentials.Supports(at.plugin):
		return at.plugin
	}
	for _, p := range []string{lo.client.snap.Config.AuthPlugin, auth.CachingSHA2, auth.NativePassword, auth.Ed25519} {
		if a.Credentials.Supports(p) {
			return p
		}
	}
	return auth.NativePassword
}

// switchPlugin asks the client to answer again, with another plugin. A client that knows no plugins cannot be asked:
// its answer is to the greeting's salt.
func (lo login) switchPlugin(plugin string, salt []byte) ([]byte, error) {
	if !lo.client.conn.Capabilities.Has(mysql.ClientPluginAuth) {
		return nil, fmt.Errorf("the client knows no authentication plugins and the account needs %s", plugin)
	}
	sw := mysql.AuthSwitchRequest{Plugin: plugin, Data: salt}
	lo.client.conn.EndPacket(sw.AppendTo(lo.client.conn.StartPacket()))
	if err := lo.client.conn.Flush(); err != nil {
		return nil, err
	}
	return lo.client.conn.ReadPacket()
}

// newSalt gives the greeting's random bytes.
func (lo login) newSalt() error {
	salt, err := auth.NewSalt()
	copy(lo.client.salt[:], salt)
	return err
}
