package health

import (
	"errors"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
)

// EpochTable is the table that has a node's epoch, in one row. It comes to replicas by replication, so that a server which was the primary before has
// an earlier one until it replicates again.
const EpochTable = "ks_meta.epoch"

// createMeta makes the schema of the proxies' tables.
const createMeta = "CREATE DATABASE IF NOT EXISTS ks_meta"

// epochStatements make it.
var epochStatements = []string{
	createMeta,
	"CREATE TABLE IF NOT EXISTS " + EpochTable + " (id TINYINT UNSIGNED NOT NULL PRIMARY KEY, epoch BIGINT UNSIGNED NOT NULL, server VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, since DATETIME(6) NOT NULL) ENGINE=InnoDB",
}

// BeginEpoch writes on a primary that it is that from now on, by the proxy's own account, within the deadline. least is the epoch that it is at least: one more
// than any known. Where the server's epoch is its own already it stays, so that several proxies write one.
func BeginEpoch(i *backend.Instance, least uint64, deadline time.Time) error {
	c, err := i.OwnUntil(deadline)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	w := rolesWatch{conn: c}
	var o roles.Observation
	if err := w.askServer(&o); err != nil {
		return err
	}
	if err := w.askEpoch(&o); err != nil {
		return err
	}
	switch {
	case o.ReadOnly: // an account with rights over that would write where nobody else may
		return errors.New("the server takes no writes")
	case o.Epoch.Number > 0 && o.Epoch.Server == o.Server:
		return nil // what writes nothing leaves nothing in the binary log, either
	}
	// Assignments are made from left to right: server comes last.
	write := "INSERT INTO " + EpochTable + " (id, epoch, server, since) VALUES (1, " + strconv.FormatUint(least, 10) + ", " + literal(o.Server) + ", UTC_TIMESTAMP(6)) " +
		"ON DUPLICATE KEY UPDATE since = IF(server = VALUES(server), since, VALUES(since)), epoch = IF(server = VALUES(server), epoch, GREATEST(epoch + 1, VALUES(epoch))), server = VALUES(server)"
	return execMaking(c, write, epochStatements)
}

// erNoSuchTable is the code of a table that is not there. MySQL manual: "Server Error Message Reference".
const erNoSuchTable = 1146
