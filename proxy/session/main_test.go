package session_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"kingshard/mysql/mysqltest"
)

// everyCase says that generated tests run all of their cases, by KS_ALL=1, and not a sample that has each class of them.
var everyCase = os.Getenv("KS_ALL") != ""

// TestMain stops the shared servers and fails the package if goroutines are left.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(mysqltest.StopShared(), stopNodes()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
