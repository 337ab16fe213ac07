package backend

import (
	"net"
	"strconv"
	"strings"
)

// Group asks a server for the group that it is in: the name of its group in MySQL, the UUID of its Galera cluster; "" is none.
func Group(c *Conn) (group string, err error) {
	if c.Info.MariaDB {
		err = c.Rows("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_cluster_state_uuid'", 1, func(row []string) { group = row[0] })
	} else if c.Info.Number >= groupsSince {
		err = c.NamedRows("SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'", func(row map[string]string) { group = row["Value"] })
	}
	return group, err
}

// groupsSince is the version of MySQL from which on members of a group tell their roles.
const groupsSince = 80002

// Members asks a server of a group for the others that are in step. MySQL manual: "The replication_group_members Table"; MariaDB Knowledge Base: "Galera Cluster
// Status Variables".
func Members(c *Conn) (told []ReplicaTold, err error) {
	group, err := Group(c)
	if err != nil || group == "" {
		return nil, err
	}
	if !c.Info.MariaDB {
		err = c.Rows("SELECT MEMBER_HOST, MEMBER_PORT, MEMBER_ID FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_ID <> @@server_uuid", 3,
			func(row []string) {
				told = append(told, ReplicaTold{Addr: net.JoinHostPort(row[0], row[1]), Server: row[2], Group: group})
			})
		return told, err
	}
	var addrs []string
	own := -1
	err = c.NamedRows("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_incoming_addresses', 'wsrep_local_index')", func(row map[string]string) {
		if strings.EqualFold(row["Variable_name"], "wsrep_local_index") {
			own, _ = strconv.Atoi(row["Value"])
		} else {
			addrs = strings.Split(row["Value"], ",")
		}
	})
	for k, addr := range addrs {
		if _, _, unfit := net.SplitHostPort(addr); unfit == nil && k != own { // AUTO, or nothing, where it does not know
			told = append(told, ReplicaTold{Addr: addr, Group: group})
		}
	}
	return told, err
}
