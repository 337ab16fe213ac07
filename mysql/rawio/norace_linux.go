//go:build linux && !race

package rawio

func received([]byte) {}

func sending([]byte) {}
