package proxy_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// kingshard init makes on each node what transactions over several need, or prints how; kingshard check -servers says what is missing, what is open, and
// whether a server qualifies.
func TestInit(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the binary")
	}
	binary := buildBinary(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := twoAccounts(t, server)
		must(t, direct, "DROP DATABASE IF EXISTS ks_meta")
		t.Cleanup(func() { must(t, direct, "DROP DATABASE IF EXISTS ks_meta") })
		must(t, direct, "CREATE TABLE "+database+".spread_0000 (id INT PRIMARY KEY)")
		must(t, direct, "CREATE TABLE "+database+".spread_0001 (id INT PRIMARY KEY)")
		file := filepath.Join(t.TempDir(), "ks.yaml")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		says := func(code int, args []string, yes bool, texts ...string) {
			t.Helper()
			cmd := exec.Command(binary, append(args, file)...)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != code {
				t.Errorf("%v: exit status %d, want %d:\n%s", args, cmd.ProcessState.ExitCode(), code, out)
			}
			for _, text := range texts {
				if strings.Contains(string(out), text) != yes {
					t.Errorf("%v: %q there: %t, in\n%s", args, text, !yes, out)
				}
			}
		}
		check, doInit, show := []string{"check", "-servers"}, []string{"init"}, []string{"init", "-print"}
		write(ownText(server, "own-account-password"))
		place := "primary " + server.Addr + " of node n: "
		says(0, check, true, place+"transactions over several nodes: only with xa_on_unsafe_server: innodb_flush_log_at_trx_commit is 2", place+"note on transactions over several nodes: ",
			place+"transactions over several nodes need ks_meta.dtx, ks_meta.secret, ks_meta.ks_branch, ks_meta.ks_decide, ks_meta.ks_recent, which are not there: own needs CREATE, ", place+"warning: own cannot write ks_meta.epoch (", "denied to user 'own'@'", place+"warning: own cannot write ks_meta.heartbeat (")
		says(1, doInit, true, "kingshard init: node n ("+server.Addr+"): ks_meta is missing and `own`@`%` could not make it: ")
		says(0, show, true, "-- Node n: on its primary, "+server.Addr, "CREATE TABLE IF NOT EXISTS ks_meta.dtx (", "DELIMITER //\nCREATE PROCEDURE ks_meta.ks_decide (",
			"EXECUTE ON ks_meta.* TO `own`@`%`;\n", "GRANT EXECUTE ON PROCEDURE ks_meta.ks_decide TO `clients`@`%`;\n", "-- Node m: ",
			"CREATE TABLE IF NOT EXISTS ks_meta.heartbeat (", "GRANT SELECT, INSERT, UPDATE ON ks_meta.epoch TO `own`@`%`;\n")
		must(t, direct, "GRANT CREATE, SELECT, INSERT, UPDATE, DELETE, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON ks_meta.* TO own WITH GRANT OPTION")
		says(0, check, true, "which are not there: the proxy makes them when it needs them, or kingshard init does")
		says(0, doInit, true, place+"made ks_meta.dtx, ks_meta.secret, ks_meta.ks_branch, ks_meta.ks_decide, ks_meta.ks_recent, ks_meta.epoch, ks_meta.heartbeat\n", "of node m: all is there\n", "all nodes have the key ")
		says(0, doInit, false, "made", "warning", "-account-password")
		says(0, check, false, "ks_meta", "GRANT OPTION")
		must(t, direct, "GRANT INSERT ON ks_meta.* TO clients")
		const open = "warning: `clients`@`%`, under which clients' statements run, has INSERT on ks_meta: it needs EXECUTE on the procedures alone\n"
		says(0, check, true, place+open)
		says(0, doInit, true, place+open)
		must(t, direct, "REVOKE EXECUTE ON PROCEDURE ks_meta.ks_branch FROM clients")
		says(0, check, true, place+"warning: `clients`@`%` may not call ks_meta.ks_branch", "GRANT EXECUTE ON PROCEDURE ks_meta.ks_branch TO `clients`@`%`")
		must(t, direct, "ALTER TABLE ks_meta.dtx COMMENT 'kingshard 0'")
		says(0, check, true, place+"warning: ks_meta.dtx has the comment 'kingshard 0'")
		says(1, doInit, true, "kingshard init: node n ("+server.Addr+"): ks_meta.dtx has the comment 'kingshard 0'")
		write(strings.ReplaceAll(ownText(server, "own-account-password"), "user: clients, password: clients-password, admin_user: own, admin_password: own-account-password", "user: root, password: root"))
		says(0, check, true, place+"warning: the node has no admin_user, so `root`@`%`, under which clients' statements run, can read and write ks_meta.dtx")
		write("transaction_mode: atomic\n" + ownText(server, "own-account-password"))
		const lacks = "warning: own lacks XA_RECOVER_ADMIN: this proxy does not find what another one has left behind\n"
		says(0, check, server.Kind == mysqltest.MySQL9, place+lacks)
		if server.Kind == mysqltest.MySQL9 {
			must(t, direct, "GRANT XA_RECOVER_ADMIN ON *.* TO own")
			says(0, check, false, lacks)
		}
		one := configText([]node{{name: "n", master: server.Addr, conns: 8}})
		write(one)
		says(0, doInit, true, "no schema has several nodes, and no node has replicas: there is nothing to make")
		says(0, check, false, "over several nodes:")
		// A node with replicas needs two tables, whatever is sharded.
		must(t, direct, "DROP DATABASE ks_meta")
		must(t, direct, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM own")
		must(t, direct, "GRANT SELECT, INSERT ON ks_meta.* TO own")
		_, port, _ := net.SplitHostPort(server.Addr)
		alone := configText([]node{{name: "n", master: server.Addr, slave: "localhost:" + port + ", discover", conns: 8}})
		write(strings.ReplaceAll(alone, "user: root, password: root, master", "user: clients, password: clients-password, admin_user: own, admin_password: own-account-password, master"))
		slaves := "REPLICATION SLAVE"
		if server.Kind == mysqltest.MariaDB {
			slaves = "REPLICATION MASTER ADMIN"
		}
		says(0, check, true, place+"warning: own lacks "+slaves+": no replicas are found\n", place+"warning: ks_meta.epoch is not there, and own lacks CREATE, UPDATE on ks_meta (kingshard init -print lists the statements): ")
		says(1, doInit, true, "kingshard init: node n ("+server.Addr+"): ks_meta.epoch: ")
		says(0, show, false, "DELIMITER", "ks_meta.dtx", "have to stay")
		must(t, direct, "GRANT CREATE ON ks_meta.* TO own")
		must(t, direct, "GRANT "+slaves+" ON *.* TO own")
		says(0, doInit, true, place+"made ks_meta.epoch, ks_meta.heartbeat\n")
		says(0, doInit, true, place+"all is there\n")
		says(0, check, true, place+"warning: own cannot write ks_meta.heartbeat (UPDATE command denied to user 'own'@'")
		must(t, direct, "GRANT UPDATE ON ks_meta.* TO own")
		says(0, check, false, "ks_meta", "no replicas are found")
	})
}
