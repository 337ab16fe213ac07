package health

import (
	"errors"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/backend/gtid"
	"kingshard/backend/roles"
	"kingshard/mysql"
)

// askServer asks which server it is, whether it takes writes and which transactions it has. MariaDB has no UUID of its own.
func (w *rolesWatch) askServer(o *roles.Observation) error {
	query := "SELECT @@GLOBAL.read_only, @@GLOBAL.innodb_read_only, @@server_uuid, @@GLOBAL.gtid_executed"
	if w.conn.Info.MariaDB {
		query = "SELECT @@GLOBAL.read_only, @@GLOBAL.innodb_read_only, CONCAT(@@server_id, '@', @@hostname, ':', @@port), @@GLOBAL.gtid_current_pos"
	}
	return w.conn.Rows(query, 4, func(row []string) {
		o.ReadOnly = backend.IsOn(row[0]) || backend.IsOn(row[1])
		o.Server = row[2]
		o.GTIDs, _ = gtid.Parse(row[3], w.conn.Info.MariaDB) // what cannot be read tells nothing
	})
}

// askSources asks what the server replicates from, channels of Group Replication aside.
func (w *rolesWatch) askSources(o *roles.Observation) error {
	return backend.ReplicaStatuses(w.conn, func(s backend.ReplicaStatus) {
		if !strings.HasPrefix(s.Channel, "group_replication_") {
			o.Sources = append(o.Sources, roles.Source{Addr: s.Source, Server: s.SourceServer})
		}
	})
}

// askEpoch asks for the epoch, which is none where the table is not there.
func (w *rolesWatch) askEpoch(o *roles.Observation) error {
	return lacking(w.conn.Rows("SELECT epoch, server FROM "+EpochTable+" WHERE id = 1", 2, func(row []string) {
		o.Epoch.Number, _ = strconv.ParseUint(row[0], 10, 64)
		o.Epoch.Server = row[1]
	}))
}

// lacking is err unless the server refused the question, because it has not what it is about.
func lacking(err error) error {
	if _, refused := errors.AsType[*mysql.SQLError](err); refused {
		return nil
	}
	return err
}

// askGroup asks a server of MySQL for its group. MySQL manual: "The replication_group_members Table".
func (w *rolesWatch) askGroup(o *roles.Observation) error {
	if w.conn.Info.MariaDB || w.conn.Info.Number < 80002 || w.plain {
		return nil
	}
	const query = "SELECT MEMBER_STATE, (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_ROLE = 'PRIMARY') " +
		"FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid"
	err := w.conn.Rows(query, 2, func(row []string) {
		switch primaries, _ := strconv.Atoi(row[1]); {
		case row[0] == "OFFLINE": // it is configured for a group at most
		case row[0] != "ONLINE":
			o.Member = roles.Departed
		case primaries > 1:
			o.Member = roles.Multi
		default:
			o.Member = roles.Online
		}
	})
	refused, said := errors.AsType[*mysql.SQLError](err)
	if !said || w.hidden != nil {
		return lacking(err)
	}
	group, err := backend.Group(w.conn)
	if w.plain = err == nil && group == ""; err == nil && !w.plain {
		w.hidden = refused
	}
	return err
}

// askGalera asks a server of MariaDB for its cluster, unless it has said that it has none. MariaDB Knowledge Base: "Galera Cluster Status Variables".
func (w *rolesWatch) askGalera(o *roles.Observation) error {
	if !w.conn.Info.MariaDB || w.plain {
		return nil
	}
	w.plain = true
	if err := lacking(w.conn.Rows("SELECT @@wsrep_on", 1, func(row []string) { w.plain = !backend.IsOn(row[0]) })); err != nil || w.plain {
		return err
	}
	o.Member = roles.Departed
	ready, primary := false, false
	err := lacking(w.conn.Rows("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status')", 2, func(row []string) {
		ready = ready || strings.EqualFold(row[0], "wsrep_ready") && backend.IsOn(row[1])
		primary = primary || strings.EqualFold(row[1], "Primary")
	}))
	if ready && primary {
		o.Member = roles.Multi
	}
	return err
}
