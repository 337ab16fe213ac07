package auth

import (
	"crypto/ed25519"
	"crypto/sha512"

	"filippo.io/edwards25519"
)

// ed25519Secret is an Ed25519 key whose seed is the password. RFC 8032, section 5.1.5, has seeds of 32 bytes and
// crypto/ed25519 takes no others; MariaDB hashes a password of any length in the seed's place. Signatures are
// standard, so that crypto/ed25519 can verify them.
type ed25519Secret struct {
	scalar *edwards25519.Scalar
	prefix [32]byte
	public [ed25519.PublicKeySize]byte
}

func newEd25519Secret(password string) (*ed25519Secret, error) {
	h := sha512.Sum512([]byte(password))
	scalar, err := edwards25519.NewScalar().SetBytesWithClamping(h[:32])
	if err != nil {
		return nil, err
	}
	k := &ed25519Secret{scalar: scalar, prefix: [32]byte(h[32:])}
	copy(k.public[:], new(edwards25519.Point).ScalarBaseMult(scalar).Bytes())
	return k, nil
}

// sign follows RFC 8032, section 5.1.6.
func (k *ed25519Secret) sign(message []byte) ([]byte, error) {
	h := sha512.New()
	h.Write(k.prefix[:])
	h.Write(message)
	r, err := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	signature := new(edwards25519.Point).ScalarBaseMult(r).Bytes()
	h.Reset()
	h.Write(signature)
	h.Write(k.public[:])
	h.Write(message)
	challenge, err := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	s := edwards25519.NewScalar().MultiplyAdd(challenge, k.scalar, r)
	return append(signature, s.Bytes()...), nil
}

// validEd25519Key refuses bytes that are no point of the curve, and the few points for which anybody can sign.
func validEd25519Key(public []byte) bool {
	p, err := new(edwards25519.Point).SetBytes(public)
	return err == nil && new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 0
}
