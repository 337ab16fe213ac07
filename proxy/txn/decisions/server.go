package decisions

import (
	"strings"
	"time"

	"kingshard/backend"
)

// Server is what a verdict goes by: a server's version, and its global variables as it gives them, "" for those that it does not have.
type Server struct {
	Version string // as in the greeting
	MariaDB bool
	Number  int // major*10000 + minor*100 + patch
	// Replicated says that the node has replicas, by the configuration.
	Replicated bool
	Variables  map[string]string // by name in lower case
}

// variables are those that are asked for.
var variables = []string{
	"binlog_format", "group_replication_group_name", "group_replication_single_primary_mode", "innodb_flush_log_at_trx_commit", "innodb_support_xa", "log_bin",
	"rpl_semi_sync_master_enabled", "rpl_semi_sync_master_wait_point", "rpl_semi_sync_source_enabled", "rpl_semi_sync_source_wait_point",
	"sync_binlog", "sysdate_is_now", "wsrep_on", "wsrep_provider", "xa_detach_on_prepare", "hostname", "port", "server_id", "server_uid", "server_uuid",
}

// Ask reads what a verdict goes by, by one question that servers of all versions answer, to any account.
func Ask(c *backend.Conn) (Server, error) {
	s := Server{Version: c.Info.Version, MariaDB: c.Info.MariaDB, Number: c.Info.Number, Variables: map[string]string{}}
	err := c.Rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('"+strings.Join(variables, "', '")+"')", 2, func(row []string) {
		if row[1] != "NULL" {
			s.Variables[strings.ToLower(row[0])] = row[1]
		}
	})
	return s, err
}

// AskNode is [Ask] of the primary of a node, within the deadline.
func AskNode(n *backend.Node, deadline time.Time) (Server, error) {
	c, err := n.Primary.OwnUntil(deadline)
	if err != nil {
		return Server{}, err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	s, err := Ask(c)
	for _, r := range n.Replicas {
		s.Replicated = s.Replicated || !r.IsSource
	}
	return s, err
}

// Identity tells the server from others, also where one takes its address: ids of connections are known by it. It has no colon.
func (s *Server) Identity() string {
	for _, name := range []string{"server_uuid", "server_uid"} {
		if id := s.Variables[name]; id != "" {
			return strings.ReplaceAll(id, ":", ".")
		}
	}
	return strings.ReplaceAll(s.Variables["server_id"]+"."+s.Variables["hostname"]+"."+s.Variables["port"], ":", ".")
}

// Detaches reports whether a branch that is prepared leaves its connection, which may be used for others then, and others may end the branch. Else the
// connection has to be kept, or to be ended.
func (s *Server) Detaches() bool {
	return !s.MariaDB && s.on("xa_detach_on_prepare")
}

// on reports whether a variable is set to ON.
func (s *Server) on(name string) bool {
	v := s.Variables[name]
	return strings.EqualFold(v, "ON") || v == "1"
}

// has reports whether the server has a variable.
func (s *Server) has(name string) bool {
	_, has := s.Variables[name]
	return has
}
