package auth

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
)

type (
	nativeDigest [sha1.Size]byte   // SHA1(SHA1(password))
	sha2Digest   [sha256.Size]byte // SHA256(SHA256(password))
)

func newNativeDigest(password string) nativeDigest {
	stage1 := sha1.Sum([]byte(password))
	return sha1.Sum(stage1[:])
}

func newSHA2Digest(password []byte) sha2Digest {
	stage1 := sha256.Sum256(password)
	return sha256.Sum256(stage1[:])
}

// nativeScramble is the client's answer: SHA1(password) XOR SHA1(salt + SHA1(SHA1(password))).
// MySQL manual: "Native Authentication".
func nativeScramble(password string, salt []byte) []byte {
	stage1 := sha1.Sum([]byte(password))
	mask := newNativeDigest(password).mask(salt)
	subtle.XORBytes(mask[:], mask[:], stage1[:])
	return mask[:]
}

func (d nativeDigest) mask(salt []byte) [sha1.Size]byte {
	return sha1.Sum(append(append(make([]byte, 0, 64), salt...), d[:]...))
}

// verify tells whether response was made from the password of the digest. It takes constant time.
func (d nativeDigest) verify(response, salt []byte) bool {
	if len(response) != len(d) {
		return false
	}
	stage1 := d.mask(salt)
	subtle.XORBytes(stage1[:], stage1[:], response)
	got := sha1.Sum(stage1[:])
	return subtle.ConstantTimeCompare(got[:], d[:]) == 1
}

// sha2Scramble is the client's answer on the fast path: SHA256(password) XOR SHA256(SHA256(SHA256(password)) + salt).
// MySQL manual: "Caching_sha2_password information".
func sha2Scramble(password string, salt []byte) []byte {
	stage1 := sha256.Sum256([]byte(password))
	mask := newSHA2Digest([]byte(password)).mask(salt)
	subtle.XORBytes(mask[:], mask[:], stage1[:])
	return mask[:]
}

func (d sha2Digest) mask(salt []byte) [sha256.Size]byte {
	return sha256.Sum256(append(append(make([]byte, 0, 64), d[:]...), salt...))
}

// verify reports whether a response of the fast path of caching_sha2_password proves the password that d is of, for a salt.
func (d sha2Digest) verify(response, salt []byte) bool {
	if len(response) != len(d) {
		return false
	}
	stage1 := d.mask(salt)
	subtle.XORBytes(stage1[:], stage1[:], response)
	got := sha256.Sum256(stage1[:])
	return subtle.ConstantTimeCompare(got[:], d[:]) == 1
}

func (d *sha2Digest) equal(other sha2Digest) bool {
	return d != nil && subtle.ConstantTimeCompare(d[:], other[:]) == 1
}
