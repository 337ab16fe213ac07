package backend

import (
	"net"
	"slices"
)

// ReplicaTold is a server that another one tells of: a replica that is connected to it, or a member of its group.
type ReplicaTold struct {
	Addr   string // host:port, by its report_host, or in MariaDB by where it connects from if it has none
	Server string // its server_uuid, in MariaDB its server_id; "" of a member of a Galera cluster
	Group  string // the name of the group, or the UUID of the Galera cluster; "" of a replica
}

// Replicas asks a server for the replicas that are connected to it, those aside that do not tell where they are. MySQL manual: "SHOW REPLICAS"; MariaDB Knowledge Base:
// "SHOW REPLICA HOSTS".
func Replicas(c *Conn) (told []ReplicaTold, err error) {
	query := "SHOW SLAVE HOSTS"
	if !c.Info.MariaDB && c.Info.Number >= 80022 {
		query = "SHOW REPLICAS"
	}
	err = c.NamedRows(query, func(row map[string]string) {
		if row["Host"] == "" {
			return
		}
		r := ReplicaTold{Addr: net.JoinHostPort(row["Host"], row["Port"])}
		for _, name := range []string{"Replica_UUID", "Slave_UUID", "Server_id", "Server_Id"} {
			if r.Server == "" {
				r.Server = row[name]
			}
		}
		if !slices.Contains(told, r) {
			told = append(told, r)
		}
	})
	return told, err
}
