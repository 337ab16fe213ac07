package mysqltest

import (
	"testing"
	"time"
)

// waitForMax is how long WaitFor asks: long enough for a machine that has much other work.
const waitForMax = 30 * time.Second

// WaitFor asks again and again until the answer is yes, and ends the test if it is not within thirty seconds.
func WaitFor(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(waitForMax); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
