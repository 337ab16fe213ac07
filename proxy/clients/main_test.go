// Package clients runs other people's client programs against a server, once directly and once through a proxy in
// front of it, and wants the same outcome: the test suite of go-sql-driver/mysql, the usual drivers of Python, Node and
// Java, the command lines of MariaDB and MySQL, and sysbench.
package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"kingshard/mysql/mysqltest"
)

// install is what the tests need first; empty for those that install theirs.
var install = "./install.sh"

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("these tests need database servers and clients: run them without -short")
		return
	}
	if install != "" {
		if out, err := exec.Command(install).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", install, err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
