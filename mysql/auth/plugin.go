package auth

import "crypto/rand"

// The plugins' names as they go over the wire. SHA256 and Clear exist on the client side only.
const (
	NativePassword = "mysql_native_password"
	CachingSHA2    = "caching_sha2_password"
	Ed25519        = "client_ed25519"
	SHA256         = "sha256_password"
	Clear          = "mysql_clear_password"
)

const (
	// SaltLen is the length of a salt, in bytes, of all plugins but Ed25519; the manual calls it scramble or nonce.
	SaltLen        = 20
	ed25519SaltLen = 32

	// passwordMax is the longest password in bytes, the server's own MAX_PLAINTEXT_LENGTH. Hashing one takes time that
	// grows with the square of its length, so it also bounds what a stranger can make us do.
	passwordMax = 256
)

// NewSalt returns SaltLen random bytes for a greeting or an AuthSwitchRequest, each of 7 bits and none 0x00 or '$', as
// clients expect them. Every plugin but Ed25519 takes it; see [NewSaltFor].
func NewSalt() ([]byte, error) { return randomSalt(SaltLen) }

// NewSaltFor is [NewSalt] with the length that the plugin wants: 32 bytes for Ed25519, 20 for all others.
//
// The 32 bytes of Ed25519 do not fit into a greeting, so this plugin always needs an AuthSwitchRequest, and in it,
// unlike the others, no NUL may follow the salt: MariaDB's own client refuses 33 bytes.
func NewSaltFor(plugin string) ([]byte, error) { return randomSalt(saltLenOf(plugin)) }

func saltLenOf(plugin string) int {
	if plugin == Ed25519 {
		return ed25519SaltLen
	}
	return SaltLen
}

func randomSalt(n int) ([]byte, error) {
	salt := make([]byte, 0, n)
	for len(salt) < n {
		var b [64]byte
		if _, err := rand.Read(b[:]); err != nil {
			return nil, err
		}
		for _, x := range b {
			if x &= 0x7f; x != 0 && x != '$' && len(salt) < n {
				salt = append(salt, x)
			}
		}
	}
	return salt, nil
}
