package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	cryptPrefixLen  = len("$A$005$")
	cryptSaltLen    = 20
	cryptRoundsUnit = 1000
	cryptRoundsMin  = 5000
	sha2Prefix      = "sha2x2:"
)

// cryptVerifier is what MySQL stores for caching_sha2_password: "$A$", the rounds in thousands as three hex digits,
// "$", a salt of 20 bytes, and the digest. It can check a password, not a scramble.
// MySQL manual: "Caching SHA-2 Pluggable Authentication".
type cryptVerifier struct {
	rounds int // 5,000 to 4,095,000
	salt   [cryptSaltLen]byte
	digest [shaCryptLen]byte
}

func newCryptVerifier(password string) (*cryptVerifier, error) {
	v := &cryptVerifier{rounds: cryptRoundsMin}
	if _, err := rand.Read(v.salt[:]); err != nil {
		return nil, err
	}
	// Characters of the alphabet only, so that the text can be typed into a configuration file.
	for i, x := range v.salt {
		v.salt[i] = cryptAlphabet[x&0x3f]
	}
	v.digest = shaCrypt([]byte(password), v.salt[:], v.rounds)
	return v, nil
}

func (v *cryptVerifier) check(password []byte) bool {
	got := shaCrypt(password, v.salt[:], v.rounds)
	return subtle.ConstantTimeCompare(got[:], v.digest[:]) == 1
}

func (v *cryptVerifier) text() string {
	return fmt.Sprintf("$A$%03X$%s%s", v.rounds/cryptRoundsUnit, v.salt[:], v.digest[:])
}

func parseCrypt(s string) (*cryptVerifier, bool) {
	if len(s) != cryptPrefixLen+cryptSaltLen+shaCryptLen || s[:3] != "$A$" || s[6] != '$' {
		return nil, false
	}
	thousands, err := strconv.ParseUint(s[3:6], 16, 12)
	if err != nil || thousands < cryptRoundsMin/cryptRoundsUnit {
		return nil, false
	}
	v := &cryptVerifier{rounds: int(thousands) * cryptRoundsUnit}
	copy(v.salt[:], s[cryptPrefixLen:])
	copy(v.digest[:], s[cryptPrefixLen+cryptSaltLen:])
	for _, x := range v.digest {
		if strings.IndexByte(cryptAlphabet, x) < 0 {
			return nil, false
		}
	}
	return v, true
}

func parseNative(s string) (*nativeDigest, bool) {
	d := new(nativeDigest)
	if len(s) != 1+hex.EncodedLen(len(d)) || s[0] != '*' {
		return nil, false
	}
	_, err := hex.Decode(d[:], []byte(s[1:]))
	return d, err == nil
}

func parseSHA2(s string) (*sha2Digest, bool) {
	d := new(sha2Digest)
	s, ok := strings.CutPrefix(s, sha2Prefix)
	if !ok || len(s) != hex.EncodedLen(len(d)) {
		return nil, false
	}
	_, err := hex.Decode(d[:], []byte(s))
	return d, err == nil
}

func parseEd25519(s string) (ed25519.PublicKey, bool) {
	if len(s) != base64.RawStdEncoding.EncodedLen(ed25519.PublicKeySize) {
		return nil, false
	}
	key, err := base64.RawStdEncoding.Strict().DecodeString(s)
	return key, err == nil && len(key) == ed25519.PublicKeySize && validEd25519Key(key)
}

// Hash makes the verifier text that [FromVerifiers] takes for the plugin, one of NativePassword, CachingSHA2 and
// Ed25519. That of CachingSHA2 has a random salt and 5,000 rounds; it alone resists guessing, and MySQL, too, takes
// each of them as it is. The password must have 1 to 256 bytes and no NUL.
func Hash(plugin, password string) (string, error) {
	if password == "" {
		return "", errors.New("an empty password has no verifier")
	}
	if err := checkPassword(password); err != nil {
		return "", err
	}
	switch plugin {
	case NativePassword:
		d := newNativeDigest(password)
		return "*" + strings.ToUpper(hex.EncodeToString(d[:])), nil
	case CachingSHA2:
		v, err := newCryptVerifier(password)
		if err != nil {
			return "", err
		}
		return v.text(), nil
	case Ed25519:
		k, err := newEd25519Secret(password)
		if err != nil {
			return "", err
		}
		return base64.RawStdEncoding.EncodeToString(k.public[:]), nil
	}
	return "", errServerPlugin(plugin)
}

func errServerPlugin(plugin string) error {
	return fmt.Errorf("no verifier for authentication plugin %q: use %s, %s or %s", plugin, CachingSHA2, NativePassword, Ed25519)
}

var errPasswordNUL = errors.New("the password has a NUL byte, which cannot be sent")

func checkPassword(password string) error {
	if len(password) > passwordMax {
		return fmt.Errorf("the password has more than %d bytes", passwordMax)
	}
	if strings.IndexByte(password, 0) >= 0 {
		return errPasswordNUL
	}
	return nil
}
