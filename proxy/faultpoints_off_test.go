//go:build !faultpoints

package proxy_test

import (
	"debug/elf"
	"strings"
	"testing"
)

// Nothing of the fault points is in the binary that is delivered: their functions are empty and inlined.
func TestNothingOfFaultPoints(t *testing.T) {
	f, err := elf.Open(buildBinary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "kingshard/") {
			ours++
		}
		if strings.Contains(s.Name, "faultpoint") || strings.HasPrefix(s.Name, "kingshard/proxy/txn/driver.before") || strings.HasPrefix(s.Name, "kingshard/proxy/txn/driver.after") {
			t.Errorf("%s is in the binary", s.Name)
		}
	}
	if ours < 1000 {
		t.Errorf("only %d symbols of the module seen", ours)
	}
}
