package pool

import "slices"

// evictedMax is how many evictions are remembered, and how many idle connections there may be for another one to be opened on their account.
const evictedMax = 64

// evicted are the settings that idle connections carried which were lent to somebody with another one, the latest last, one entry
// for each time. Whoever wants one of these again would have found it in a larger pool: only then is it worth growing. They are what
// the literature of caches calls ghosts (Megiddo and Modha, "ARC", FAST 2003).
type evicted[K comparable] struct{ keys []K }

func (e *evicted[K]) add(k K) {
	if len(e.keys) == evictedMax {
		e.keys = slices.Delete(e.keys, 0, 1)
	}
	e.keys = append(e.keys, k)
}

// take tells whether k was evicted, and forgets one time.
func (e *evicted[K]) take(k K) bool {
	i := slices.Index(e.keys, k)
	if i < 0 {
		return false
	}
	e.keys = slices.Delete(e.keys, i, i+1)
	return true
}
