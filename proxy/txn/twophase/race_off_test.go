//go:build !race

package twophase

const underRace = false
