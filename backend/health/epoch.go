package health

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
	"kingshard/mysql"
)

// EpochTable is the table that has a node's epoch, in one row. It comes to replicas by replication, so that a server which was the primary before has
// an earlier one until it replicates again.
const EpochTable = "ks_meta.epoch"

// epochStatements make it.
var epochStatements = []string{
	"CREATE DATABASE IF NOT EXISTS ks_meta",
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
	for _, sql := range epochStatements {
		if err := c.Exec(sql); err != nil && !denied(err) { // it may be there
			return err
		}
	}
	w := rolesWatch{conn: c}
	var o roles.Observation
	if err := w.askServer(&o); err != nil {
		return err
	}
	// Assignments are made from left to right: server comes last.
	return c.Exec("INSERT INTO " + EpochTable + " (id, epoch, server, since) VALUES (1, " + strconv.FormatUint(least, 10) + ", '" + strings.ReplaceAll(o.Server, "'", "''") + "', UTC_TIMESTAMP(6)) " +
		"ON DUPLICATE KEY UPDATE since = IF(server = VALUES(server), since, VALUES(since)), epoch = IF(server = VALUES(server), epoch, GREATEST(epoch + 1, VALUES(epoch))), server = VALUES(server)")
}

// denied reports whether the server refused a statement for want of a right.
func denied(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused) && (refused.Code == mysql.ERDBAccessDenied || refused.Code == mysql.ERTableaccessDenied || refused.Code == mysql.ERSpecificAccessDenied)
}
