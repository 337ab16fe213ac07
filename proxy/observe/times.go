package observe

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// TimeBuckets is the number of buckets of a histogram of times. They are those of Prometheus's native histograms with schema 2, four
// for each doubling: bucket 0 has what is shorter than about a microsecond, 2^-20 s, the last one what is longer than about an hour.
const TimeBuckets = 1 + bucketsPerDoubling*(12+shortestExponent)

const (
	bucketsPerDoubling = 4
	shortestExponent   = 20 // bucket 0 ends at 2^-shortestExponent seconds
)

// TimeBound is the longest time of a bucket, in seconds; infinite for the last one. The bounds are true to two nanoseconds.
func TimeBound(bucket int) float64 {
	if bucket >= TimeBuckets-1 {
		return math.Inf(1)
	}
	return math.Exp2(float64(NativeIndex(bucket)) / bucketsPerDoubling)
}

// NativeSchema is the schema of the buckets in Prometheus's native histograms.
const NativeSchema = 2

// NativeIndex is the number of a bucket in that schema. Bucket 0 has none: it is the zero bucket, up to TimeBound(0).
func NativeIndex(bucket int) int { return bucket - shortestExponent*bucketsPerDoubling }

// times counts how often something took how long.
type times [TimeBuckets]atomic.Uint64

// Between two powers of two, as binary fractions with the highest bit set: the fourth roots of 2, 4 and 8.
const (
	root1 = 0x9837F0518DB8A96F
	root2 = 0xB504F333F9DE6484
	root3 = 0xD744FCCAD69D6AF4
)

// bucketOf gives the place of a time, without a branch on what it is within a doubling.
func bucketOf(d time.Duration) int {
	const more = 0x12E0BE826D694B2E // of 2^64: how many parts of 2^-30 s a nanosecond is above one
	ns := uint64(max(d, 0))
	above, _ := bits.Mul64(ns, more)
	n := bits.Len64(ns + above)
	if n <= 30-shortestExponent {
		return 0
	}
	m := (ns + above) << (64 - n)
	_, below1 := bits.Sub64(m, root1, 0)
	_, below2 := bits.Sub64(m, root2, 0)
	_, below3 := bits.Sub64(m, root3, 0)
	return min(bucketsPerDoubling*(n-(30-shortestExponent))-int(below1+below2+below3), TimeBuckets-1)
}

func (t *times) observe(d time.Duration) { t[bucketOf(d)].Add(1) }

// Times is a histogram of how long something took.
type Times struct {
	Buckets [TimeBuckets]uint64 // those that are not longer than TimeBound, but than that of the bucket before
	Nanos   uint64              // in all
}

// Count is how many times there are.
func (t *Times) Count() (n uint64) {
	for _, in := range t.Buckets {
		n += in
	}
	return n
}

func (t *times) addTo(sum *Times) {
	for k := range t {
		sum.Buckets[k] += t[k].Load()
	}
}
