package proxy_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/handover"
)

// diesVariable has the test's binary be the new process of an upgrade, and kill itself at a step of it.
const diesVariable = "KS_TEST_DIES"

// steps are those of the new process; it dies behind the one that is named.
var steps = []string{"started", "received", "ready", "told to serve", "serving", "accepted", "took a session", "said nothing more"}

// diedAsSuccessor is the process that the variable asks for; false without it.
func diedAsSuccessor() bool {
	at := os.Getenv(diesVariable)
	if at == "" {
		return false
	}
	step := func(name string) {
		if name == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "dies:", err)
			os.Exit(0) // in order, which the old process tells from a crash
		}
	}
	soon := time.Now().Add(10 * time.Second)
	step("started")
	p, err := handover.Inherited()
	must(err)
	must(p.Receive(soon))
	step("received")
	if at == "ready" {
		_, _ = p.Ready("dies", time.Now()) // which says so, and waits for nothing
		step("ready")
	}
	_, err = p.Ready("dies", soon)
	must(err)
	step("told to serve")
	must(p.Serving())
	step("serving")
	for name, l := range p.Listeners {
		if name.Field == "addr" && at == "accepted" {
			nc, err := l.Accept()
			must(err)
			step("accepted")
			nc.Close()
		}
	}
	time.AfterFunc(2*time.Second, func() { step("said nothing more") })
	must(p.Sessions(func(_ []byte, nc net.Conn) error {
		step("took a session")
		return nil
	}))
	return true
}

// Whenever the new process of an upgrade dies, the old one serves, on all its ports, and can be upgraded after that.
func TestNewProcessDiesAtEachStep(t *testing.T) {
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	binary := buildBinary(t)
	for _, at := range steps {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			socket := t.TempDir() + "/s"
			d := startDaemon(t, binary, oneNode(server.Addr, 8, "upgrade_timeout: 1h", "drain_timeout: 1s", "socket: "+socket))
			bound := dial(t, d.addr, rootClient())
			must(t, bound, "BEGIN")
			must(t, bound, "SELECT 1")
			moves := dial(t, d.addr, rootClient())
			must(t, moves, "SELECT 1")
			script := fmt.Sprintf("#!/bin/sh\nexec env %s='%s' '%s'\n", diesVariable, at, os.Args[0])
			if err := os.WriteFile(d.binary+".new", []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(d.binary+".new", d.binary); err != nil {
				t.Fatal(err)
			}
			d.signal()
			if at == "accepted" {
				// Until the old process has served it again, or the new one has dropped it, the client knocks.
				mysqltest.WaitFor(t, "the new process to accept", func() bool {
					nc, err := net.Dial("tcp", d.addr)
					if err != nil {
						t.Fatalf("a connection is refused: %v", err)
					}
					defer nc.Close()
					return strings.Contains(d.log(), "this one accepts clients again")
				})
			}
			mysqltest.WaitFor(t, "the end of the upgrade", func() bool {
				return strings.Contains(d.log(), "this one accepts clients again") || strings.Contains(d.log(), "before it took over") || strings.Contains(d.log(), "was not ready in time")
			})
			for _, addr := range []string{d.addr, socket} {
				must(t, dial(t, addr, rootClient()), "SELECT 1")
			}
			must(t, bound, "COMMIT")
			must(t, bound, "SELECT 2")
			if d.metric("kingshard_sessions") < 1 {
				t.Error("no metrics")
			}
			d.install(binary)
			d.pids = d.pids[:1]
			before := len(handsOver.FindAllString(d.log(), -1))
			d.signal()
			mysqltest.WaitFor(t, "another upgrade", func() bool { return len(handsOver.FindAllString(d.log(), -1)) > before })
			must(t, dial(t, d.addr, rootClient()), "SELECT 3")
			must(t, bound, "SELECT 3")
			if at != "serving" {
				return
			}
			bound.Close()
			mysqltest.WaitFor(t, "the old process to end", func() bool { return !alive(d.pids[0]) })
			for _, addr := range []string{d.addr, socket} {
				must(t, dial(t, addr, rootClient()), "SELECT 4")
			}
		})
	}
}
