//go:build linux && race

package rawio

import (
	"runtime"
	"unsafe"
)

// order is what package syscall tells the race detector of its reads and writes, too: that what comes out of a socket was put in before.
var order byte

func received(b []byte) {
	runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	runtime.RaceAcquire(unsafe.Pointer(&order))
}

func sending(b []byte) {
	runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	runtime.RaceReleaseMerge(unsafe.Pointer(&order))
}
