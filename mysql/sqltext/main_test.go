package sqltext

import (
	"fmt"
	"os"
	"testing"

	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
