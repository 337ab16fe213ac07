package auth

import "crypto/sha256"

// cryptAlphabet is crypt(3)'s base 64.
const cryptAlphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// shaCryptLen is the length in characters of an encoded digest.
const shaCryptLen = 43

// shaCrypt is the digest part of crypt(3)'s "$5$" method. It follows, step by step, Ulrich Drepper's "Unix crypt using
// SHA-256 and SHA-512", whose numbers are in the comments, but for the salt, which is taken whole: MySQL's has 20
// bytes, crypt's at most 16. The work grows with rounds and with the square of the password's length.
func shaCrypt(password, salt []byte, rounds int) [shaCryptLen]byte {
	h := sha256.New()
	// 4-8: digest B.
	h.Write(password)
	h.Write(salt)
	h.Write(password)
	b := h.Sum(nil)
	// 1-3, 9-12: digest A.
	h.Reset()
	h.Write(password)
	h.Write(salt)
	h.Write(stretch(b, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write(b)
		} else {
			h.Write(password)
		}
	}
	a := h.Sum(nil)
	// 13-16: P.
	h.Reset()
	for range password {
		h.Write(password)
	}
	p := stretch(h.Sum(nil), len(password))
	// 17-20: S.
	h.Reset()
	for range 16 + int(a[0]) {
		h.Write(salt)
	}
	s := stretch(h.Sum(nil), len(salt))
	// 21: the rounds.
	for i := range rounds {
		h.Reset()
		if i&1 != 0 {
			h.Write(p)
		} else {
			h.Write(a)
		}
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		if i&1 != 0 {
			h.Write(a)
		} else {
			h.Write(p)
		}
		a = h.Sum(a[:0])
	}
	return encodeCrypt(a)
}

// stretch repeats digest up to n bytes.
func stretch(digest []byte, n int) []byte {
	out := make([]byte, 0, n+len(digest))
	for len(out) < n {
		out = append(out, digest...)
	}
	return out[:n]
}

// encodeCrypt is step 22: three bytes at a time in the specification's order, each group low bits first.
func encodeCrypt(d []byte) (out [shaCryptLen]byte) {
	n := 0
	put := func(b2, b1, b0 byte, chars int) {
		w := uint(b2)<<16 | uint(b1)<<8 | uint(b0)
		for range chars {
			out[n] = cryptAlphabet[w&0x3f]
			w >>= 6
			n++
		}
	}
	i, j, k := 0, 10, 20
	for range 10 {
		put(d[i], d[j], d[k], 4)
		i, j, k = k+1, i+1, j+1
	}
	put(0, d[31], d[30], 3)
	return out
}
