package observe

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A time lies between the bounds of its bucket, as far as two nanoseconds are told apart.
func TestBucketOfIsWithinItsBounds(t *testing.T) {
	check := func(d time.Duration) bool {
		k := bucketOf(d)
		if k < 0 || k >= TimeBuckets {
			return false
		}
		s := d.Seconds()
		return s <= TimeBound(k)+2e-9 && (k == 0 || s >= TimeBound(k-1)-2e-9)
	}
	for k := range TimeBuckets - 1 {
		at := time.Duration(TimeBound(k) * 1e9)
		if below, above := bucketOf(at-3), bucketOf(at+3); below != k || above != k+1 {
			t.Errorf("around the bound %v of bucket %d: %d and %d", at, k, below, above)
		}
	}
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, 953, 954, math.MaxInt64} {
		if !check(d) && d >= 0 || d < 0 && bucketOf(d) != 0 {
			t.Errorf("%d ns are in bucket %d", d, bucketOf(d))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.IntRange(0, 62).Draw(t, "shift")
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "ns") >> shift)
		if !check(d) {
			t.Fatalf("%d ns are in bucket %d, from %v to %v", d, bucketOf(d), TimeBound(bucketOf(d)-1), TimeBound(bucketOf(d)))
		}
	})
}
