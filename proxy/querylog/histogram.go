package querylog

import (
	"math"
	"math/bits"
	"time"
)

// A time falls into a bucket by its highest three bits, so that a bucket is a quarter of its lower bound wide: a percentile
// is off by an eighth at the most.
const (
	subBits  = 2
	unitBits = 8 // times shorter than 2^unitBits ns are not told apart
	// bucketsMax: the last one takes everything from 2^35 ns, about half a minute, up.
	bucketsMax = (35-unitBits-subBits)<<subBits + 1<<subBits
)

// histogram counts times in buckets.
type histogram [bucketsMax]uint32

// bucketOf gives the place of a time.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0)) >> unitBits
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return min((shift+1)<<subBits+int(v>>shift)&(1<<subBits-1), bucketsMax-1)
}

// middle gives the middle of a bucket.
func middle(bucket int) time.Duration {
	if bucket < 1<<subBits {
		return time.Duration(bucket<<unitBits + 1<<(unitBits-1))
	}
	shift := bucket>>subBits - 1
	low := uint64(1<<subBits+bucket&(1<<subBits-1)) << shift
	return time.Duration((low<<1 + 1<<shift) << (unitBits - 1))
}

// add counts a time. Where a bucket is full, all are halved: what they say of percentiles stays.
func (h *histogram) add(d time.Duration) {
	k := bucketOf(d)
	if h[k]++; h[k] == math.MaxUint32 {
		for k := range h {
			h[k] /= 2
		}
	}
}

// sum is a histogram of many.
type sum [bucketsMax]uint64

func (s *sum) add(h *histogram) {
	for k, n := range h {
		s[k] += uint64(n)
	}
}

// percentile gives the time that a share of all is not longer than, within the shortest and the longest that were seen.
func (s *sum) percentile(share float64, shortest, longest time.Duration) time.Duration {
	var all uint64
	for _, n := range s {
		all += n
	}
	rank := uint64(math.Ceil(share * float64(all)))
	var seen uint64
	for k, n := range s {
		if seen += n; n > 0 && seen >= rank {
			if k == bucketsMax-1 {
				return longest
			}
			return min(max(middle(k), shortest), longest)
		}
	}
	return 0
}
