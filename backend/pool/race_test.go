//go:build race

package pool

// waitAllocsMax: under the race detector sync.Pool throws away every fourth thing it is given, on purpose.
const waitAllocsMax = 2
