//go:build !race

package pool

const waitAllocsMax = 0
