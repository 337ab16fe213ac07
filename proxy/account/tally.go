package account

import "sync/atomic"

// TallyPlaces is how many counters a Tally has.
const TallyPlaces = 112

// tallyShares is how many Tallies a user has: sessions spread over them so that cores do not fight for one cache line.
const tallyShares = 16

// Tally is a share of what a user's sessions count. What each place counts is the matter of who adds to it.
type Tally [TallyPlaces]atomic.Uint64

// tallies are those of one user; nil: no session has needed it yet.
type tallies [tallyShares]atomic.Pointer[Tally]

// Tally gives the share of the user's counters that a session with this number is to add to. It stays the user's over reloads.
func (a *Account) Tally(session uint32) *Tally {
	share := &a.load.tallies[session%tallyShares]
	if t := share.Load(); t != nil {
		return t
	}
	share.CompareAndSwap(nil, new(Tally))
	return share.Load()
}

// Tallies calls f for each user with the sums of what its sessions counted, which f may use until it returns. Users that the
// configuration does not have any more are left out. A nil Store has none.
func (s *Store) Tallies(f func(user string, sums *[TallyPlaces]uint64)) {
	if s == nil {
		return
	}
	for user, a := range s.byUser {
		var sums [TallyPlaces]uint64
		for k := range a.load.tallies {
			if t := a.load.tallies[k].Load(); t != nil {
				for place := range t {
					sums[place] += t[place].Load()
				}
			}
		}
		f(user, &sums)
	}
}
