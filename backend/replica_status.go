package backend

import (
	"net"
	"strings"
)

// ReplicaStatus is what a server says of its replication from one source.
type ReplicaStatus struct {
	Channel string // of MySQL; "" is the default one
	Source  string // host:port, as configured there
	// SourceServer is the source's server_uuid, of MariaDB its server_id; "" where the server does not know it yet.
	SourceServer      string
	Receiver, Applier string // Yes, No or, of the receiver, Connecting or Preparing
	Behind            string // seconds, or NULL
	Executed          string // the transactions that the server has, as GTIDs
	Trouble           string // the last errors of both
}

// ReplicaStatuses asks a server for its replication, and gives each source of it. It is SHOW REPLICA STATUS, which servers have had under several names,
// with columns of as many. MySQL manual: "SHOW REPLICA STATUS"; MariaDB Knowledge Base: "SHOW REPLICA STATUS".
func ReplicaStatuses(c *Conn, each func(ReplicaStatus)) error {
	query := "SHOW SLAVE STATUS"
	switch {
	case c.Info.MariaDB:
		query = "SHOW ALL SLAVES STATUS"
	case c.Info.Number >= 80022:
		query = "SHOW REPLICA STATUS"
	}
	return c.NamedRows(query, func(row map[string]string) { each(replicaStatusOf(row)) })
}

// replicaStatusOf reads a row in the words of any version.
func replicaStatusOf(row map[string]string) ReplicaStatus {
	either := func(names ...string) string {
		for _, name := range names {
			if text, ok := row[name]; ok {
				return text
			}
		}
		return ""
	}
	s := ReplicaStatus{
		Channel:      row["Channel_Name"],
		Source:       net.JoinHostPort(either("Source_Host", "Master_Host"), either("Source_Port", "Master_Port")),
		SourceServer: either("Source_UUID", "Master_UUID", "Master_Server_Id"),
		Receiver:     either("Replica_IO_Running", "Slave_IO_Running"),
		Applier:      either("Replica_SQL_Running", "Slave_SQL_Running"),
		Behind:       either("Seconds_Behind_Source", "Seconds_Behind_Master"),
		Executed:     either("Executed_Gtid_Set", "Gtid_Slave_Pos"),
		Trouble:      strings.TrimSpace(row["Last_IO_Error"] + " " + row["Last_SQL_Error"]),
	}
	if s.SourceServer == "0" {
		s.SourceServer = ""
	}
	return s
}
