package decisions

import (
	"fmt"
	"strings"
)

// Fitness is whether transactions over several nodes may use a server.
type Fitness uint8

// What a server is fit for, the worst first.
const (
	// No: it cannot, whatever is done.
	No Fitness = iota
	// Unsafe: it can, and a crash of the server may break a transaction that it had said was kept. With xa_on_unsafe_server it is used all the same.
	Unsafe
	// Yes: what it says of a transaction holds through crashes of the server and of the proxy.
	Yes
)

// String gives "no", "unsafe" or "yes".
func (f Fitness) String() string { return [...]string{"no", "unsafe", "yes"}[f] }

// Verdict is whether a server qualifies, and why not.
type Verdict struct {
	Fitness Fitness
	// Reasons say what keeps it from Yes and what to do, a sentence each. Notes are what holds beside a Yes, too.
	Reasons, Notes []string
	// Loses says what a fail-over of the node may lose; "" where it loses nothing that was acknowledged.
	Loses string
}

// String gives the fitness and the reasons in one line.
func (v Verdict) String() string {
	text := v.Fitness.String()
	if v.Fitness == Unsafe {
		text = "only with xa_on_unsafe_server"
	}
	if len(v.Reasons) > 0 {
		text += ": " + strings.Join(v.Reasons, "; ")
	}
	return text
}

// foreign are parts of the versions of servers that speak as MySQL does, and are none.
var foreign = []string{"tidb", "oceanbase", "vitess", "tddl", "polardb-x", "memsql", "singlestore", "doris", "starrocks", "dolt", "clickhouse", "cockroach"}

// First versions, as numbers.
const (
	mysqlPrepared   = 50707  // keeps what is prepared when the connection ends
	mysqlCrashSafe  = 80030  // prepares in the binary log and in InnoDB as one
	mariadbPrepared = 100500 // keeps what is prepared when the connection ends
)

// Judge tells whether a server qualifies. MySQL manual: "Restrictions on XA Transactions". MariaDB Knowledge Base: "XA Transactions".
func Judge(s Server) Verdict {
	v := Verdict{Fitness: Yes}
	if reason := s.unable(); reason != "" {
		return Verdict{Fitness: No, Reasons: []string{reason}}
	}
	if !s.MariaDB && s.Number < mysqlCrashSafe {
		v.doubt("MySQL before 8.0.30 can lose a prepared transaction, or have the binary log and InnoDB differ on it, when it crashes: upgrade it")
	}
	if !s.MariaDB && s.has("xa_detach_on_prepare") && !s.on("xa_detach_on_prepare") {
		v.doubt("xa_detach_on_prepare is OFF, so that a prepared transaction whose proxy is gone stays until somebody ends its connection: SET PERSIST xa_detach_on_prepare = ON")
	}
	if flush := s.Variables["innodb_flush_log_at_trx_commit"]; flush != "1" {
		v.doubt(fmt.Sprintf("innodb_flush_log_at_trx_commit is %s: a crash loses transactions that were said to be prepared or committed; set it to 1", flush))
	}
	if s.has("innodb_support_xa") && !s.on("innodb_support_xa") {
		v.doubt("innodb_support_xa is OFF: a crash loses what is prepared; set it to ON")
	}
	s.judgeLog(&v)
	if s.on("sysdate_is_now") {
		v.note("sysdate-is-now is set: a client's SET timestamp reaches the deadline of decisions")
	}
	return v
}

// unable says why a server cannot take part at all; "" where it can.
func (s *Server) unable() string {
	lower := strings.ToLower(s.Version)
	for _, name := range foreign {
		if strings.Contains(lower, name) {
			return s.Version + " is no MySQL or MariaDB server: nothing is known of its XA transactions"
		}
	}
	switch {
	case s.MariaDB && s.Number < mariadbPrepared:
		return "MariaDB before 10.5 rolls back what is prepared when its connection ends: upgrade it"
	case !s.MariaDB && s.Number < mysqlPrepared:
		return "MySQL before 5.7.7 rolls back what is prepared when its connection ends: upgrade it"
	case s.on("wsrep_on") && !strings.EqualFold(s.Variables["wsrep_provider"], "none"):
		return "it is a Galera cluster (wsrep_on), which has no XA transactions"
	case s.Variables["group_replication_group_name"] != "" && s.has("group_replication_single_primary_mode") && !s.on("group_replication_single_primary_mode"):
		return "its group has several primaries, which could decide differently on one transaction: group_replication_switch_to_single_primary_mode() has it have one"
	case !s.has("innodb_flush_log_at_trx_commit"):
		return "it has no InnoDB"
	}
	return ""
}

// judgeLog judges the binary log, and what fail-overs keep.
func (s *Server) judgeLog(v *Verdict) {
	if !s.on("log_bin") {
		v.note("it has no binary log: what is prepared or committed is as durable as InnoDB's log, and there is no replica that has it, nor a backup that can be rolled forward: a lost disk loses " +
			"its part of transactions that other nodes keep")
		if s.Replicated {
			v.doubt("the node has replicas and its primary has no binary log, so that they get nothing: start it with log_bin")
		}
		return
	}
	if n := s.Variables["sync_binlog"]; n != "1" {
		v.doubt(fmt.Sprintf("sync_binlog is %s: a crash loses transactions that were said to be prepared or committed, or has the binary log and InnoDB differ; set it to 1", n))
	}
	if format := s.Variables["binlog_format"]; format != "" && !strings.EqualFold(format, "ROW") {
		v.doubt(fmt.Sprintf("binlog_format is %s: a prepared transaction may stop a replica for ever; set it to ROW", format))
	}
	if s.MariaDB {
		v.note("after a crash of this server the binary log and InnoDB may differ on transactions that were being prepared: promote a replica, or make the replicas anew")
	}
	if s.Replicated {
		v.Loses = s.loses()
	}
}

// loses says what a fail-over to a replica may lose; "" where it loses nothing that was acknowledged.
func (s *Server) loses() string {
	const apart = "its replicas may lack transactions that it has acknowledged, and a fail-over to one may take a transaction over several nodes apart: "
	if s.Variables["group_replication_group_name"] != "" {
		return ""
	}
	for _, name := range []string{"source", "master"} {
		if s.on("rpl_semi_sync_" + name + "_enabled") {
			if strings.EqualFold(s.Variables["rpl_semi_sync_"+name+"_wait_point"], "AFTER_COMMIT") {
				return apart + "set rpl_semi_sync_" + name + "_wait_point to AFTER_SYNC"
			}
			return ""
		}
	}
	return apart + "use semi-synchronous replication (AFTER_SYNC) or group replication"
}

func (v *Verdict) doubt(reason string) {
	v.Fitness = min(v.Fitness, Unsafe)
	v.Reasons = append(v.Reasons, reason)
}

func (v *Verdict) note(text string) { v.Notes = append(v.Notes, text) }
