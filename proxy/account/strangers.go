package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"kingshard/config"
	"kingshard/mysql/auth"
)

// strangers are the accounts of names that no user has. Each name has one whose login goes as that of some user does:
// with the same plugins, asked for in the same way. It is the same one at every try, as a user's would be.
type strangers struct {
	accounts []*Account // one for each user, in the order of their names; never empty
	// key is not to be guessed, so that nobody can compute which account a name has, and lasts over restarts and reloads
	// as far as it can, so that names do not give themselves away by a change.
	key []byte
}

// newStrangers makes the strangers' accounts of a configuration's users.
func newStrangers(cfg *config.Config, byUser map[string]*Account) strangers {
	st := strangers{}
	secrets := sha256.New()
	for _, n := range cfg.Nodes {
		secrets.Write([]byte(n.Password.Reveal() + "\x00"))
	}
	for _, u := range cfg.UserList {
		secrets.Write([]byte(u.Password.Reveal() + "\x00"))
		for _, plugin := range slices.Sorted(maps.Keys(u.Verifiers)) {
			secrets.Write([]byte(u.Verifiers[plugin] + "\x00"))
		}
	}
	st.key = secrets.Sum(nil)
	for _, name := range slices.Sorted(maps.Keys(byUser)) {
		a := byUser[name]
		st.accounts = append(st.accounts, &Account{Credentials: auth.UnknownLike(a.Credentials), Plugin: a.Plugin})
	}
	if len(st.accounts) == 0 {
		st.accounts = []*Account{{Credentials: auth.Unknown()}}
	}
	return st
}

// account returns the account of a name that no user has.
func (st *strangers) account(name string) *Account {
	h := hmac.New(sha256.New, st.key)
	h.Write([]byte(name))
	n := binary.BigEndian.Uint64(h.Sum(nil)) % uint64(len(st.accounts))
	return st.accounts[n]
}
