package auth

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
)

// Credentials are what a server knows of one account's password. They are immutable but for one thing that they
// remember (see [Server.Step]), safe for concurrent use, and print as "***". A configuration that is loaded again
// should keep those of accounts whose verifiers did not change, with what they remember.
type Credentials struct {
	empty  bool // the account has no password
	fake   bool // no login may succeed
	native *nativeDigest
	crypt  *cryptVerifier
	ed     ed25519.PublicKey

	// sha2 allows the fast path of caching_sha2_password. With only a crypt verifier it is nil until the first
	// successful full authentication. Invariant: once set, it does not change.
	sha2 atomic.Pointer[sha2Digest]
	// like is whose steps fake credentials take; nil: those of an account made from a password.
	like *Credentials
}

// FromPassword makes the verifiers of all server-side plugins. The password has 0 to 256 bytes and no NUL; an empty
// one means that the account needs no password.
func FromPassword(password string) (*Credentials, error) {
	if err := checkPassword(password); err != nil {
		return nil, err
	}
	secret, err := newEd25519Secret(password)
	if err != nil {
		return nil, err
	}
	native, sha2 := newNativeDigest(password), newSHA2Digest([]byte(password))
	c := &Credentials{empty: password == "", native: &native, ed: secret.public[:]}
	c.sha2.Store(&sha2)
	return c, nil
}

// FromVerifiers makes Credentials of texts by plugin name, as [Hash] or MySQL and MariaDB make them (the column
// authentication_string of mysql.user):
//
//   - NativePassword: "*" and 40 hex digits
//   - CachingSHA2: "$A$005$", 20 bytes of salt and 43 characters, or these 70 bytes in hex after "0x", as SHOW CREATE
//     USER prints them with print_identified_with_as_hex; or "sha2x2:" and the 64 hex digits of
//     SHA256(SHA256(password)), which saves the first login its full authentication and resists guessing less
//   - Ed25519: 43 characters of base 64
//
// The account supports the plugins that are given and no others. An empty text is an error, never an account without a
// password. Errors do not quote the texts.
func FromVerifiers(m map[string]string) (*Credentials, error) {
	if len(m) == 0 {
		return nil, errors.New("no verifier is given")
	}
	c := new(Credentials)
	for plugin, text := range m {
		var ok bool
		want := ""
		switch plugin {
		case NativePassword:
			c.native, ok = parseNative(text)
			want = `"*" and 40 hex digits`
		case CachingSHA2:
			ok = c.setCachingSHA2(text)
			want = `"$A$005$", 20 bytes of salt and 43 characters (or all that in hex after "0x"), or "sha2x2:" and 64 hex digits`
		case Ed25519:
			c.ed, ok = parseEd25519(text)
			want = "43 characters of base 64"
		default:
			return nil, errServerPlugin(plugin)
		}
		if !ok {
			return nil, fmt.Errorf("malformed verifier for %s: want %s", plugin, want)
		}
	}
	return c, nil
}

func (c *Credentials) setCachingSHA2(text string) (ok bool) {
	if d, ok := parseSHA2(text); ok {
		c.sha2.Store(d)
		return true
	}
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		b, err := hex.DecodeString(text[2:])
		if err != nil {
			return false
		}
		text = string(b)
	}
	c.crypt, ok = parseCrypt(text)
	return ok
}

// unknown and decoy hold digests that no password is known to have; fake denies whatever they say.
var (
	unknown = newUnknown()
	decoy   = &cryptVerifier{rounds: cryptRoundsMin, salt: [cryptSaltLen]byte([]byte("abcdefghijklmnopqrst"))}
)

func newUnknown() *Credentials {
	base, _ := hex.DecodeString("5866666666666666666666666666666666666666666666666666666666666666") // RFC 8032: the point B
	c := &Credentials{fake: true, native: new(nativeDigest), ed: base}
	c.sha2.Store(new(sha2Digest))
	return c
}

// Unknown returns the Credentials of users that do not exist. They support every server-side plugin, take the same
// steps and do the same work as those of [FromPassword], and always deny.
func Unknown() *Credentials { return unknown }

// UnknownLike returns the Credentials of users that do not exist where strangers are to take them for an account with
// c: they support the plugins of c, take the same steps, and always deny. An account without a password, which lets
// everybody in, is not imitated: they are then those of [Unknown].
func UnknownLike(c *Credentials) *Credentials {
	if c.empty {
		return unknown
	}
	return &Credentials{fake: true, native: unknown.native, ed: unknown.ed, crypt: c.crypt, like: c}
}

// digest returns what the fast path of caching_sha2_password compares with; nil where there is none yet.
func (c *Credentials) digest() *sha2Digest {
	if c.like == nil {
		return c.sha2.Load()
	}
	if c.like.sha2.Load() == nil {
		return nil
	}
	return unknown.sha2.Load()
}

// Supports tells whether the account can log in by the plugin.
func (c *Credentials) Supports(plugin string) bool {
	if c == nil {
		return false
	}
	if c.like != nil {
		return c.like.Supports(plugin)
	}
	switch plugin {
	case NativePassword:
		return c.native != nil
	case CachingSHA2:
		return c.crypt != nil || c.sha2.Load() != nil
	case Ed25519:
		return c.ed != nil
	}
	return false
}

// checkPassword decides a full authentication by caching_sha2_password. The slow hash is computed for every account,
// whether its verifier needs it or not, so that the time does not tell accounts from users that do not exist.
func (c *Credentials) checkPassword(password []byte) bool {
	slow := c.crypt
	if slow == nil {
		slow = decoy
	}
	ok := slow.check(password)
	sum := newSHA2Digest(password)
	if c.crypt == nil {
		ok = c.digest().equal(sum)
	}
	if !ok || c.fake || len(password) == 0 {
		return false
	}
	c.sha2.CompareAndSwap(nil, &sum)
	return true
}

// String hides the verifiers from logs and error texts.
func (c *Credentials) String() string { return "***" }

// GoString hides the password from the verb %#v.
func (c *Credentials) GoString() string { return "***" }
