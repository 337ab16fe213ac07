package mysqltest

import (
	"crypto/tls"
	"errors"
	"net"

	"kingshard/mysql"
	"kingshard/mysql/auth"
)

// login does the server's half of the connection phase.
func (c *ScriptConn) login(config ScriptConfig) error {
	if config.Refuse != nil {
		c.Conn.WriteError(config.Refuse)
		return errors.Join(c.Conn.Flush(), errRefused)
	}
	salt, err := auth.NewSalt()
	if err != nil {
		return err
	}
	greeting := mysql.HandshakeV10{
		ServerVersion: config.Version, ConnectionID: c.ID, Salt: salt, Capabilities: config.Capabilities,
		Collation: config.Collation, Status: c.Status, AuthPlugin: config.Plugin,
	}
	c.Conn.EndPacket(greeting.AppendTo(c.Conn.StartPacket()))
	if err := c.Conn.Flush(); err != nil {
		return err
	}
	p, err := c.Conn.ReadPacket()
	if err != nil {
		return err
	}
	if config.TLS != nil && mysql.IsSSLRequest(p) {
		if err := c.Conn.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Server(nc, config.TLS) }); err != nil {
			return err
		}
		if p, err = c.Conn.ReadPacket(); err != nil {
			return err
		}
	}
	var r mysql.HandshakeResponse41
	if err := r.Decode(p); err != nil {
		c.Error(mysql.ERHandshakeError, "Bad handshake")
		return errors.Join(c.Conn.Flush(), errRefused)
	}
	c.Response = r
	c.Conn.Capabilities = r.Capabilities & config.Capabilities
	if err := c.authenticate(config, loginAttempt{r.User, r.AuthPlugin, config.Plugin, r.AuthResponse, salt}); err != nil {
		return err
	}
	c.User, c.DB = r.User, r.Database
	c.OK()
	if err := c.Conn.Flush(); err != nil {
		return err
	}
	switch caps := c.Conn.Capabilities; {
	case caps.Has(mysql.ClientCompress):
		return c.Conn.StartCompression(mysql.Zlib, 0)
	case caps.Has(mysql.ClientZstdCompressionAlgorithm):
		return c.Conn.StartCompression(mysql.Zstd, int(r.ZstdLevel))
	}
	return nil
}

// changeUser answers COM_CHANGE_USER: the client must always show its password for a new salt.
func (c *ScriptConn) changeUser(config ScriptConfig, payload []byte) error {
	var r mysql.ChangeUser
	if err := r.Decode(payload, c.Conn.Capabilities); err != nil {
		c.Error(mysql.ERUnknownCom, "Malformed COM_CHANGE_USER")
		return errors.Join(c.Conn.Flush(), errRefused)
	}
	if config.SwitchTo == "" {
		config.SwitchTo = config.Plugin
	}
	if err := c.authenticate(config, loginAttempt{user: r.User}); err != nil {
		return err
	}
	c.User, c.DB = r.User, r.Database
	c.OK()
	return c.Conn.Flush()
}

// loginAttempt is what a client said of itself: clientPlugin made response of salt; the salt belongs to plugin.
type loginAttempt struct {
	user, clientPlugin, plugin string
	response, salt             []byte
}

// authenticate ends with nil for a user who may come in; else the client has been told.
func (c *ScriptConn) authenticate(config ScriptConfig, a loginAttempt) error {
	target := config.SwitchTo
	if target == "" && config.Passwords != nil && a.clientPlugin != a.plugin {
		target = a.plugin
	}
	if target != "" {
		salt, err := auth.NewSaltFor(target)
		if err != nil {
			return err
		}
		request := mysql.AuthSwitchRequest{Plugin: target, Data: salt}
		c.Conn.EndPacket(request.AppendTo(c.Conn.StartPacket()))
		if a.response, err = c.answer(); err != nil {
			return err
		}
		a.plugin, a.salt = target, salt
	}
	if config.Passwords == nil {
		return nil
	}
	credentials := auth.Unknown()
	if password, ok := config.Passwords[a.user]; ok {
		var err error
		if credentials, err = auth.FromPassword(password); err != nil {
			return err
		}
	}
	exchange, err := auth.NewServer(credentials, auth.ServerOptions{Plugin: a.plugin, Salt: a.salt, Secure: c.Conn.Net.Secure()})
	if err != nil {
		return err
	}
	for {
		more, verdict := exchange.Step(a.response)
		if more != nil {
			c.Conn.WritePacket(append([]byte{mysql.AuthMoreDataHeader}, more...))
		}
		switch verdict {
		case auth.Accept:
			return nil
		case auth.Continue:
			if a.response, err = c.answer(); err != nil {
				return err
			}
		default:
			c.Error(mysql.ERAccessDenied, "Access denied for user '%s'", a.user)
			return errors.Join(c.Conn.Flush(), errRefused)
		}
	}
}

// answer sends what is queued and reads the client's next packet.
func (c *ScriptConn) answer() ([]byte, error) {
	if err := c.Conn.Flush(); err != nil {
		return nil, err
	}
	p, err := c.Conn.ReadPacket()
	return append([]byte(nil), p...), err
}
