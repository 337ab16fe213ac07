package auth

import (
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
)

// Verdict is the outcome of one step of a login.
type Verdict int

// The zero value denies.
const (
	Deny         Verdict = iota // wrong password, or bytes that no client sends
	DenyInsecure                // caching_sha2_password must see the password once, and the channel is open to listeners
	Continue                    // read another packet of the client and step again
	Accept                      // the client is who it says
)

func (v Verdict) String() string {
	switch v {
	case Deny:
		return "deny"
	case DenyInsecure:
		return "deny insecure"
	case Continue:
		return "continue"
	case Accept:
		return "accept"
	}
	return fmt.Sprintf("Verdict(%d)", int(v))
}

// ServerOptions say what is known before a client's first answer.
type ServerOptions struct {
	Plugin string
	Salt   []byte // as sent, without a NUL: 20 bytes, or 32 for Ed25519 (NewSaltFor); not copied
	Secure bool   // the channel is TLS or a unix socket

	// RSAKey, if not nil, lets clients of caching_sha2_password send their password encrypted over a channel that is
	// not secure. 2048 bits or more.
	RSAKey *rsa.PrivateKey
}

// Server is one login as the server sees it. It is not safe for concurrent use.
//
// States: first -> ended for all plugins; caching_sha2_password also first -> full -> ended, and, when the client asks
// for the public key, first -> full -> encrypted -> ended.
type Server struct {
	credentials *Credentials
	o           ServerOptions
	state       serverState
}

type serverState int

const (
	stateFirst     serverState = iota // the first answer comes
	stateFull                         // the password comes, or a request for the public key
	stateEncrypted                    // the password comes, encrypted
	stateEnded
)

// Bytes of the caching_sha2_password exchange. MySQL manual: "Caching_sha2_password information".
const (
	sha2RequestPublicKey = 0x02
	sha2FastAuthSuccess  = 0x03
	sha2PerformFullAuth  = 0x04
)

// sha256RequestPublicKey is sha256_password's.
const sha256RequestPublicKey = 0x01

// NewServer starts a login. It is an error if the Credentials do not support the plugin or the salt has not its length.
func NewServer(c *Credentials, o ServerOptions) (*Server, error) {
	if !c.Supports(o.Plugin) {
		return nil, fmt.Errorf("the account has no verifier for authentication plugin %q", o.Plugin)
	}
	if want := saltLenOf(o.Plugin); len(o.Salt) != want {
		return nil, fmt.Errorf("%s: the salt has %d bytes instead of %d", o.Plugin, len(o.Salt), want)
	}
	if o.RSAKey != nil && o.RSAKey.N == nil {
		return nil, errors.New("the RSA key is empty")
	}
	return &Server{credentials: c, o: o}, nil
}

// Step takes a packet of the client: the authentication response of its HandshakeResponse41 or COM_CHANGE_USER, then
// each further payload. A more that is not nil is to be sent after the byte 0x01 of an AuthMoreData, whatever the
// verdict: before the OK if it is [Accept]. After a verdict other than [Continue] the login has ended and every
// further step denies.
//
// An account without a password is let in by an empty response, and by the other forms in which clients say that they
// have none (a lone NUL for CachingSHA2, a signature made with the empty password for Ed25519).
//
// By CachingSHA2 a client that misses the fast path is always asked for its password where it can send it safely,
// known user or not, as MySQL does. Where it cannot, an account that has only a "$A$005$" verifier ends in
// [DenyInsecure] until its first full authentication anywhere, after which the Credentials remember
// SHA256(SHA256(password)). Where users have such accounts, unknown ones are to have some of [UnknownLike], too: they
// end in the same way.
func (s *Server) Step(response []byte) (more []byte, v Verdict) {
	state := s.state
	s.state = stateEnded
	c := s.credentials
	switch {
	case state == stateEnded:
		return nil, Deny
	case state == stateFull || state == stateEncrypted:
		return s.full(response, state == stateEncrypted)
	case c.empty && isNoPassword(s.o.Plugin, response):
		return nil, Accept
	case s.o.Plugin == NativePassword:
		return nil, c.verdict(!c.empty && c.native.verify(response, s.o.Salt))
	case s.o.Plugin == Ed25519:
		ok := len(response) == ed25519.SignatureSize && ed25519.Verify(c.ed, s.o.Salt, response)
		return nil, c.verdict(ok)
	}
	return s.fast(response)
}

func isNoPassword(plugin string, response []byte) bool {
	return len(response) == 0 || plugin == CachingSHA2 && len(response) == 1 && response[0] == 0
}

func (c *Credentials) verdict(ok bool) Verdict {
	if ok && !c.fake {
		return Accept
	}
	return Deny
}

// fast decides the first answer by caching_sha2_password.
func (s *Server) fast(response []byte) (more []byte, v Verdict) {
	c := s.credentials
	if c.empty || len(response) != len(sha2Digest{}) {
		return nil, Deny
	}
	digest := c.digest()
	switch {
	case digest != nil && digest.verify(response, s.o.Salt) && !c.fake:
		return []byte{sha2FastAuthSuccess}, Accept
	case s.o.Secure || s.o.RSAKey != nil:
		s.state = stateFull
		return []byte{sha2PerformFullAuth}, Continue
	case digest == nil:
		return nil, DenyInsecure
	}
	return nil, Deny
}

// full decides the answer to sha2PerformFullAuth. Over a secure channel that is the clear password; some clients ask
// for the key even there, and then send it encrypted.
func (s *Server) full(response []byte, encrypted bool) (more []byte, v Verdict) {
	key := s.o.RSAKey
	if !encrypted && key != nil && len(response) == 1 && response[0] == sha2RequestPublicKey {
		text, err := publicKeyPEM(&key.PublicKey)
		if err != nil {
			return nil, Deny
		}
		s.state = stateEncrypted
		return text, Continue
	}
	var err error
	if encrypted || !s.o.Secure {
		if response, err = decryptPassword(response, s.o.Salt, key); err != nil {
			return nil, Deny
		}
	}
	password, err := trimNUL(response)
	if err != nil {
		return nil, Deny
	}
	return nil, s.credentials.verdict(s.credentials.checkPassword(password))
}
