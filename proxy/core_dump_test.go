package proxy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A process that crashes leaves no core dump with the passwords in it, though its environment asks for one; it does with -core-dumps.
// What the runtime prints of its goroutines has neither passwords nor values.
func TestNoCoreDump(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes a core dump")
	}
	binary, server := buildBinary(t), startScript(t, "n")
	for _, permitted := range []bool{false, true} {
		all := make(canaries)
		user, node := all.secret("password of a user"), all.secret("password of a node")
		text := oneNode(server.Addr, 2)
		text = strings.Replace(text, "{user: root, password: root}", "{user: root, password: "+user+"}", 1)
		text = strings.Replace(text, "user: root, password: root,", "user: root, password: "+node+",", 1)
		dir := t.TempDir()
		file := filepath.Join(dir, "ks.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		flag := "-core-dumps=false"
		if permitted {
			flag = "-core-dumps"
		}
		log := new(mysqltest.LogBuffer)
		cmd := exec.Command("sh", "-c", `ulimit -c unlimited 2>/dev/null; exec "$0" "$@"`, binary, "-config", file, flag)
		cmd.Dir, cmd.Stderr, cmd.Env = dir, log, append(os.Environ(), "GOTRACEBACK=crash")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		mysqltest.WaitFor(t, "the daemon to listen", func() bool { return listens.MatchString(log.String()) })
		c := dial(t, listens.FindStringSubmatch(log.String())[1], mysqltest.ClientConfig{User: "root", Password: user})
		must(t, c, "SELECT '"+all.literal("a value")+"'")
		if err := cmd.Process.Signal(syscall.SIGABRT); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != syscall.SIGABRT {
			t.Fatalf("ended by %v", cmd.ProcessState)
		}
		if what := all.found([]byte(log.String())); what != nil || !strings.Contains(log.String(), "goroutine ") {
			t.Errorf("the process printed %q in\n%s", what, log.String())
		}
		cores, err := filepath.Glob(filepath.Join(dir, "core*"))
		if err != nil {
			t.Fatal(err)
		}
		if !permitted {
			if status.CoreDump() || len(cores) > 0 {
				t.Errorf("a core was dumped: %v, %v", cmd.ProcessState, cores)
			}
			continue
		}
		if !status.CoreDump() {
			t.Log("this system dumps no cores at all") // a limit that only root may raise
		}
		for _, core := range cores {
			b, err := os.ReadFile(core)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(b, []byte(node)) {
				t.Error("not even a core that is permitted has the password: the search is at fault")
			}
		}
	}
}
