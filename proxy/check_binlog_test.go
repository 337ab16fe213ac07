package proxy_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// `kingshard check -servers` says of a MariaDB server that its binary log has the temporary tables of statements over shards.
func TestCheckTellsOfTemporaryTablesInTheBinlog(t *testing.T) {
	binary := buildBinary(t)
	for format, warned := range map[string]bool{"MIXED": true, "STATEMENT": true, "ROW": false, "": false} {
		t.Run(format, func(t *testing.T) {
			settings := map[string]string{"binlog-format": format, "log-bin": "bin"}
			if format == "" { // no log, and so whatever the format is
				settings = map[string]string{"binlog-format": "MIXED"}
			}
			server, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Settings: settings})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop()
			must(t, dial(t, server.Addr, rootClient()), "CREATE DATABASE shop")
			file := filepath.Join(t.TempDir(), "ks.yaml")
			if err := os.WriteFile(file, []byte(shopText(server.Addr, server.Addr)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, _ := exec.Command(binary, "check", "-servers", file).CombinedOutput()
			if got := strings.Contains(string(out), "primary "+server.Addr+" of node a: warning: binlog_format is "+format); got != warned && format != "" || format == "" && strings.Contains(string(out), "binlog_format") {
				t.Errorf("%s", out)
			}
		})
	}
}
