package login

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// bearer gives the token of a request; is reports whether it has one.
func bearer(h *http.Request) (token string, is bool) {
	scheme, token, is := strings.Cut(h.Header.Get("Authorization"), " ")
	if !is || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// same compares secrets, as hashes of one length, so that the time taken tells nothing.
func same(a, b string) bool { return sameHash(sha256.Sum256([]byte(a)), b) }

// sameHash compares the hash of a secret with a secret.
func sameHash(hash [sha256.Size]byte, secret string) bool {
	y := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], y[:]) == 1
}
