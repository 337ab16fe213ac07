package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// Bounds of a public key that a server sends, so that a hostile one cannot make the arithmetic slow.
const (
	publicKeyBitsMin = 1024
	publicKeyBitsMax = 8192
	publicKeyPEMMax  = 8192 // bytes
)

var (
	errPublicKey   = errors.New("the server's RSA public key cannot be used: it must be a PEM block PUBLIC KEY with an RSA key of 1024 to 8192 bits")
	errTooLongRSA  = errors.New("the password is too long for the server's RSA key: use TLS")
	errNotPassword = errors.New("not a password")
)

// encryptPassword makes what goes over a channel that is not secure: the password with its NUL, XORed with the salt
// repeated, by RSA-OAEP with SHA-1. MySQL manual: "Caching_sha2_password information", "SHA-256 Pluggable Authentication".
func encryptPassword(password string, salt []byte, key *rsa.PublicKey) ([]byte, error) {
	if key.N == nil || key.N.BitLen() < publicKeyBitsMin || key.N.BitLen() > publicKeyBitsMax {
		return nil, errPublicKey
	}
	plain := append([]byte(password), 0)
	xorSalt(plain, salt)
	out, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, key, plain, nil)
	if errors.Is(err, rsa.ErrMessageTooLong) {
		return nil, errTooLongRSA
	}
	return out, err
}

// decryptPassword undoes encryptPassword. The result still has its NUL.
func decryptPassword(ciphertext, salt []byte, key *rsa.PrivateKey) ([]byte, error) {
	if len(ciphertext) != key.Size() {
		return nil, errNotPassword
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, ciphertext, nil)
	if err != nil {
		return nil, errNotPassword
	}
	xorSalt(plain, salt)
	return plain, nil
}

// trimNUL takes the NUL off a clear password and refuses what cannot be one. Another NUL in it matches no verifier.
func trimNUL(b []byte) ([]byte, error) {
	password, ok := bytes.CutSuffix(b, []byte{0})
	if !ok || len(password) > passwordMax {
		return nil, errNotPassword
	}
	return password, nil
}

func xorSalt(b, salt []byte) {
	for len(b) > 0 {
		b = b[subtle.XORBytes(b, b, salt):]
	}
}

func parsePublicKey(text []byte) (*rsa.PublicKey, error) {
	if len(text) > publicKeyPEMMax {
		return nil, errPublicKey
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errPublicKey
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errPublicKey
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, errPublicKey
	}
	return key, nil
}

func publicKeyPEM(key *rsa.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}
