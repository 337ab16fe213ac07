package auth

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ClientOptions say how to log in to a server, and what to refuse to it.
type ClientOptions struct {
	Password string
	Secure   bool // the channel is TLS or a unix socket

	// Unverified tells that Secure means TLS whose certificate proves nothing: whoever answers may have made it. The password
	// goes through it only with AllowPublicKeyRetrieval.
	Unverified bool

	// UnixSocket tells that Secure means a unix socket without TLS. To SHA256, alone of all, the server does not take
	// such a password in clear; its key is then asked for, which is safe there.
	UnixSocket bool

	// AllowedPlugins are those that the server may choose. Nil means NativePassword, CachingSHA2, Ed25519 and SHA256,
	// and Clear if AllowClear is set.
	AllowedPlugins []string

	// ServerPublicKey encrypts the password over a channel that is not secure; nil if it is not known beforehand.
	ServerPublicKey *rsa.PublicKey

	// AllowPublicKeyRetrieval gives the password to a server that nothing proves: one behind TLS that is Unverified, or without
	// TLS and ServerPublicKey, under the key that it sends itself. Somebody between the two can then read it.
	AllowPublicKeyRetrieval bool

	// AllowClear permits Clear, over a secure channel only.
	AllowClear bool
}

// String hides the password from logs and error texts.
func (o ClientOptions) String() string { return "***" }

// GoString hides the password from the verb %#v.
func (o ClientOptions) GoString() string { return "***" }

// Client is one login as the client sees it. It is not safe for concurrent use, and prints as "***". Its errors say
// what the operator should change and never contain the password. How often a server may ask is the caller's to bound.
type Client struct {
	o      ClientOptions
	plugin string
	salt   []byte
	state  clientState
}

type clientState int

const (
	clientIdle      clientState = iota // only an AuthSwitchRequest, OK or ERR may come
	clientScrambled                    // caching_sha2_password says whether the scramble was enough
	clientAwaitsKey                    // the server's public key comes
)

var defaultPlugins = []string{NativePassword, CachingSHA2, Ed25519, SHA256}

// NewClient starts a login.
func NewClient(o ClientOptions) *Client { return &Client{o: o} }

// String hides the password from logs and error texts.
func (c *Client) String() string { return "***" }

// GoString hides the password from the verb %#v.
func (c *Client) GoString() string { return "***" }

// Supports tells whether Start can answer the plugin under the options.
func (c *Client) Supports(plugin string) bool { return c.refuse(plugin) == nil }

// refuse returns why the plugin is not to be used, or nil.
func (c *Client) refuse(plugin string) error {
	if plugin != Clear && !slices.Contains(defaultPlugins, plugin) {
		return fmt.Errorf("the server asks for authentication plugin %q, which is not supported: create the account with another one", plugin)
	}
	if c.o.AllowedPlugins != nil && !slices.Contains(c.o.AllowedPlugins, plugin) {
		return fmt.Errorf("the server asks for authentication plugin %s, which is not among the allowed ones", plugin)
	}
	if plugin == Clear && !c.o.AllowClear {
		return fmt.Errorf("the server asks for %s, which must be allowed explicitly", Clear)
	}
	if plugin == Clear && !c.o.Secure {
		return fmt.Errorf("%s needs TLS", Clear)
	}
	if plugin == Clear && !c.proven() {
		return unproven(plugin)
	}
	return nil
}

// Start answers the greeting's plugin or an AuthSwitchRequest. The salt is the server's, with or without its NUL.
// The response may be empty and is to be sent even then.
func (c *Client) Start(plugin string, salt []byte) (response []byte, err error) {
	c.state = clientIdle
	if err := c.refuse(plugin); err != nil {
		return nil, err
	}
	if strings.IndexByte(c.o.Password, 0) >= 0 {
		return nil, fmt.Errorf("%s: %w", plugin, errPasswordNUL)
	}
	c.plugin = plugin
	if plugin == Clear {
		return c.clearPassword(), nil
	}
	if c.salt, err = cutSalt(plugin, salt); err != nil {
		return nil, err
	}
	switch {
	case plugin == Ed25519:
		// Also without a password: the server has a key made from the empty one.
		secret, err := newEd25519Secret(c.o.Password)
		if err != nil {
			return nil, err
		}
		return secret.sign(c.salt)
	case plugin == SHA256 && c.o.Password == "":
		return []byte{0}, nil
	case plugin == SHA256:
		return c.sendPassword(sha256RequestPublicKey)
	case c.o.Password == "":
		return nil, nil
	case plugin == NativePassword:
		return nativeScramble(c.o.Password, c.salt), nil
	}
	c.state = clientScrambled
	return sha2Scramble(c.o.Password, c.salt), nil
}

// cutSalt returns a copy of the plugin's salt. One byte more is the NUL that ends it. One byte less is a salt that
// ended in 0x00, which MariaDB's for Ed25519 may, and lost it to a decoder that took it for that NUL.
func cutSalt(plugin string, salt []byte) ([]byte, error) {
	want := saltLenOf(plugin)
	out := make([]byte, want)
	copy(out, salt)
	if n := len(salt); n < want-1 || n > want+1 || n == want+1 && salt[want] != 0 {
		return nil, fmt.Errorf("%s: the server sent a salt of %d bytes instead of %d", plugin, n, want)
	}
	return out, nil
}

// Next answers an AuthMoreData; more is its payload after the byte 0x01. If send is false the server goes on by itself.
func (c *Client) Next(more []byte) (response []byte, send bool, err error) {
	state := c.state
	c.state = clientIdle
	switch {
	case state == clientAwaitsKey:
		key, err := parsePublicKey(more)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", c.plugin, err)
		}
		response, err = c.encrypted(key)
		return response, err == nil, err
	case state == clientScrambled && len(more) == 1 && more[0] == sha2FastAuthSuccess:
		return nil, false, nil
	case state == clientScrambled && len(more) == 1 && more[0] == sha2PerformFullAuth:
		response, err = c.sendPassword(sha2RequestPublicKey)
		return response, err == nil, err
	case c.plugin == "":
		return nil, false, errors.New("the server sent authentication data before it named a plugin")
	}
	return nil, false, fmt.Errorf("%s: the server sent authentication data that does not belong here", c.plugin)
}

// sendPassword sends the password itself, in whatever way the channel allows; keyRequest asks for a public key.
func (c *Client) sendPassword(keyRequest byte) ([]byte, error) {
	local := c.plugin == SHA256 && c.o.UnixSocket
	switch {
	case c.o.Secure && !c.proven():
		// Within TLS the server takes no password under its key, so that a pinned one does not help.
		return nil, unproven(c.plugin)
	case c.o.Secure && !local:
		return c.clearPassword(), nil
	case c.o.ServerPublicKey != nil:
		return c.encrypted(c.o.ServerPublicKey)
	case local || c.o.AllowPublicKeyRetrieval:
		c.state = clientAwaitsKey
		return []byte{keyRequest}, nil
	}
	return nil, unproven(c.plugin)
}

// proven reports whether a secure channel leads to the server for certain, or the password may go to whoever answers.
func (c *Client) proven() bool { return !c.o.Unverified || c.o.AllowPublicKeyRetrieval }

// unproven is the refusal to give the password to whoever answers.
func unproven(plugin string) error {
	return fmt.Errorf("the server asks for the password itself (%s) and nothing proves which server it is: use tls with mode verify_identity or verify_ca, "+
		"its unix socket, or without tls its server_public_key; allow_public_key_retrieval: true gives the password to whoever answers", plugin)
}

func (c *Client) clearPassword() []byte { return append([]byte(c.o.Password), 0) }

func (c *Client) encrypted(key *rsa.PublicKey) ([]byte, error) {
	out, err := encryptPassword(c.o.Password, c.salt, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.plugin, err)
	}
	return out, nil
}
