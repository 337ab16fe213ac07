package decisions

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// The verdict goes by the version, and by what the server is set to; each reason says what to do.
func TestJudge(t *testing.T) {
	mysql := map[string]string{
		"xa_detach_on_prepare": "ON", "sync_binlog": "1", "innodb_flush_log_at_trx_commit": "1", "binlog_format": "ROW", "log_bin": "ON",
		"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_wait_point": "AFTER_SYNC",
	}
	mariadb := map[string]string{
		"sync_binlog": "1", "innodb_flush_log_at_trx_commit": "1", "binlog_format": "ROW", "log_bin": "ON", "rpl_semi_sync_master_enabled": "ON", "rpl_semi_sync_master_wait_point": "AFTER_SYNC",
		"wsrep_on": "OFF", "wsrep_provider": "none", "sysdate_is_now": "OFF",
	}
	for _, c := range []struct {
		version string
		set     string // name=value, of those that differ; name= is one that is not there
		want    Fitness
		reasons string // parts of them, split by |
		notes   string
		loses   string
	}{
		{"9.7.4", "", Yes, "", "", ""},
		{"8.4.6", "", Yes, "", "", ""},
		{"8.0.30", "", Yes, "", "", ""},
		{"8.0.36-28", "", Yes, "", "", ""}, // Percona's
		{"8.0.29", "", Unsafe, "MySQL before 8.0.30 can lose", "", ""},
		{"5.7.7", "xa_detach_on_prepare= innodb_support_xa=ON", Unsafe, "MySQL before 8.0.30", "", ""},
		{"5.7.44-log", "xa_detach_on_prepare= innodb_support_xa=OFF", Unsafe, "MySQL before 8.0.30|innodb_support_xa is OFF", "", ""},
		{"5.7.6", "", No, "MySQL before 5.7.7 rolls back what is prepared", "", ""},
		{"5.6.51", "", No, "MySQL before 5.7.7", "", ""},
		{"9.7.4", "xa_detach_on_prepare=OFF", Unsafe, "SET PERSIST xa_detach_on_prepare = ON", "", ""},
		{"9.7.4", "sync_binlog=0", Unsafe, "sync_binlog is 0", "", ""},
		{"9.7.4", "sync_binlog=100 innodb_flush_log_at_trx_commit=2", Unsafe, "innodb_flush_log_at_trx_commit is 2|sync_binlog is 100", "", ""},
		{"9.7.4", "binlog_format=STATEMENT", Unsafe, "binlog_format is STATEMENT", "", ""},
		{"9.7.4", "binlog_format=MIXED", Unsafe, "binlog_format is MIXED", "", ""},
		{"9.7.4", "binlog_format=", Yes, "", "", ""}, // where it can be ROW alone
		{"9.7.4", "log_bin=OFF sync_binlog=0 binlog_format=MIXED", Yes, "", "it has no binary log", ""},
		{"9.7.4", "replicas= log_bin=OFF", Unsafe, "start it with log_bin", "it has no binary log", ""},
		{"9.7.4", "replicas=", Yes, "", "", ""},
		{"9.7.4", "replicas= rpl_semi_sync_source_enabled=OFF", Yes, "", "", "use semi-synchronous replication"},
		{"9.7.4", "replicas= rpl_semi_sync_source_enabled= rpl_semi_sync_source_wait_point=", Yes, "", "", "use semi-synchronous replication"},
		{"9.7.4", "replicas= rpl_semi_sync_source_wait_point=AFTER_COMMIT", Yes, "", "", "set rpl_semi_sync_source_wait_point to AFTER_SYNC"},
		{"9.7.4", "replicas= rpl_semi_sync_source_enabled= rpl_semi_sync_master_enabled=ON rpl_semi_sync_master_wait_point=AFTER_SYNC", Yes, "", "", ""},
		{"9.7.4", "replicas= rpl_semi_sync_source_enabled= group_replication_group_name=aa group_replication_single_primary_mode=ON", Yes, "", "", ""},
		{"9.7.4", "group_replication_group_name=aa group_replication_single_primary_mode=OFF", No, "several primaries", "", ""},
		{"9.7.4", "innodb_flush_log_at_trx_commit=", No, "it has no InnoDB", "", ""},
		{"8.0.36", "wsrep_on=ON wsrep_provider=/usr/lib/galera.so", No, "Galera", "", ""},
		{"8.0.11-TiDB-v7.5.0", "", No, "no MySQL or MariaDB server", "", ""},
		{"8.0.30-Vitess", "", No, "no MySQL or MariaDB server", "", ""},
		{"5.7.25-OceanBase-v4.2", "", No, "no MySQL or MariaDB server", "", ""},

		{"11.8.2-MariaDB", "", Yes, "", "after a crash of this server", ""},
		{"5.5.5-10.11.19-MariaDB-log", "", Yes, "", "after a crash of this server", ""},
		{"10.5.0-MariaDB", "", Yes, "", "after a crash of this server", ""},
		{"10.4.34-MariaDB", "", No, "MariaDB before 10.5 rolls back", "", ""},
		{"10.11.19-MariaDB", "log_bin=OFF binlog_format=MIXED", Yes, "", "it has no binary log", ""},
		{"10.11.19-MariaDB", "binlog_format=MIXED", Unsafe, "binlog_format is MIXED", "after a crash", ""},
		{"10.11.19-MariaDB", "sync_binlog=0", Unsafe, "sync_binlog is 0", "after a crash", ""},
		{"10.11.19-MariaDB", "wsrep_on=ON", Yes, "", "after a crash", ""}, // with nobody to talk to
		{"10.11.19-MariaDB", "wsrep_on=ON wsrep_provider=/usr/lib/galera.so", No, "Galera", "", ""},
		{"10.11.19-MariaDB", "replicas= rpl_semi_sync_master_wait_point=AFTER_COMMIT", Yes, "", "after a crash", "set rpl_semi_sync_master_wait_point to AFTER_SYNC"},
		{"10.11.19-MariaDB", "sysdate_is_now=ON", Yes, "", "after a crash|SET timestamp", ""},
	} {
		s := Server{Version: c.version, MariaDB: strings.Contains(c.version, "MariaDB"), Variables: maps.Clone(mysql)}
		var major, minor, patch int
		if _, err := fmt.Sscanf(strings.TrimPrefix(c.version, "5.5.5-"), "%d.%d.%d", &major, &minor, &patch); err != nil {
			t.Fatal(err)
		}
		s.Number = major*10000 + minor*100 + patch
		if s.MariaDB {
			s.Variables = maps.Clone(mariadb)
		}
		for one := range strings.FieldsSeq(c.set) {
			name, value, _ := strings.Cut(one, "=")
			switch {
			case name == "replicas":
				s.Replicated = true
			case value == "":
				delete(s.Variables, name)
			default:
				s.Variables[name] = value
			}
		}
		v := Judge(s)
		if v.Fitness != c.want || !haveParts(v.Reasons, c.reasons) || !haveParts(v.Notes, c.notes) || (v.Loses == "") != (c.loses == "") || !strings.Contains(v.Loses, c.loses) {
			t.Errorf("%s %s: %+v", c.version, c.set, v)
		}
		if (v.Fitness == Yes) != (len(v.Reasons) == 0) {
			t.Errorf("%s %s: %v, for no reason", c.version, c.set, v)
		}
	}
}

// haveParts reports whether each text has the part in its place.
func haveParts(texts []string, parts string) bool {
	if parts == "" {
		return len(texts) == 0
	}
	list := strings.Split(parts, "|")
	for k := range list {
		if k >= len(texts) || !strings.Contains(texts[k], list[k]) {
			return false
		}
	}
	return len(list) == len(texts)
}

// Servers of all kinds answer what a verdict goes by, to any account.
func TestAsk(t *testing.T) {
	for _, kind := range mysqltest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			if _, err := mysqltest.Find(kind); err != nil {
				t.Skip(err)
			}
			server := mysqltest.Shared(t, kind)
			n := nodesAt(t, false, server)[0]
			s, err := AskNode(n, soon())
			if err != nil {
				t.Fatal(err)
			}
			if s.Variables["innodb_flush_log_at_trx_commit"] == "" || s.Variables["log_bin"] == "" || s.Replicated || s.Version == "" || s.MariaDB != (kind == mysqltest.MariaDB) {
				t.Errorf("%+v", s)
			}
			if id := s.Identity(); id == "" || strings.Contains(id, ":") || kind != mysqltest.MariaDB && id != s.Variables["server_uuid"] {
				t.Errorf("its identity is %q", id)
			}
			if s.Detaches() != (kind == mysqltest.MySQL9) {
				t.Errorf("detaches: %t, %+v", s.Detaches(), s)
			}
			switch v := Judge(s); {
			case kind == mysqltest.MySQL56 && v.Fitness == No && strings.Contains(v.String(), "no: MySQL before 5.7.7"):
			case kind != mysqltest.MySQL56 && v.Fitness == Unsafe && strings.Contains(v.String(), "innodb_flush_log_at_trx_commit is 2"): // as tests' servers are
			default:
				t.Errorf("%+v", v)
			}
		})
	}
}

// A store asks servers once, warns once of what is open or unsafe, refuses servers that do not qualify, and asks again when it is told to.
func TestStore(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		nodes := nodesAt(t, false, b.server)
		if _, err := NewStore(logger, false).Ready(nodes, soon()); err == nil || !strings.Contains(err.Error(), "only with xa_on_unsafe_server: innodb_flush_log_at_trx_commit is 2") {
			t.Errorf("a server that is not safe: %v", err)
		}
		s := NewStore(logger, true)
		key, err := s.Ready(nodes, soon())
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"may come apart when a server crashes", "made=\"ks_meta.dtx, ks_meta.secret, ks_meta.ks_branch, ks_meta.ks_decide, ks_meta.ks_recent\"", "the node has no admin_user"} {
			if strings.Count(log.String(), part) != 1 {
				t.Errorf("%q is not once in\n%s", part, &log)
			}
		}
		log.Reset()
		must(t, b.root, "DROP PROCEDURE ks_meta.ks_branch")
		if again, err := s.Ready(nodes, soon()); err != nil || again != key {
			t.Errorf("again: %v, %v", again, err)
		}
		r, err := b.root.Query(branchCall("a"))
		if err != nil || r.Err == nil || !Lacking(r.Err.Code) {
			t.Errorf("a call of what is not there: %+v, %v", r, err)
		}
		s.Forget(nodes[0])
		if again, err := s.Ready(nodes, soon()); err != nil || again != key {
			t.Errorf("behind Forget: %v, %v", again, err)
		}
		must(t, b.root, branchCall("a"))
		if text := log.String(); strings.Contains(text, "WARN") || !strings.Contains(text, "made=ks_meta.ks_branch") {
			t.Errorf("told again:\n%s", text)
		}
		if strings.Contains(log.String(), strings.ToLower(must(t, b.root, "SELECT HEX(secret) FROM ks_meta.secret").Rows[0][0].(string))) {
			t.Error("the key is in the log")
		}
	})
}
