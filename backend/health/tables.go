package health

import (
	"errors"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
)

const (
	// EpochTable is the table that has a node's epoch, in one row. It comes to replicas by replication, so that a server which was the primary before has
	// an earlier one until it replicates again.
	EpochTable = "ks_meta.epoch"
	// HeartbeatTable is the table whose rows come to replicas by replication: what a replica lacks tells how far it is behind. Each server that was a primary
	// has one, which is changed there only, so that those of an old one and of the next are not mixed up.
	HeartbeatTable = "ks_meta.heartbeat"
)

// CreateSchema makes the schema that the tables are in.
const CreateSchema = "CREATE DATABASE IF NOT EXISTS ks_meta"

// Table is one that nodes with replicas have on their primaries, from where it comes to the replicas.
type Table struct {
	// Name is the table's with its schema.
	Name string
	// Create makes it where it is not there; the schema has to be.
	Create string
	// Without is what a proxy cannot do if its account may not write it.
	Without string
}

var (
	epochTable = Table{
		Name: EpochTable,
		Create: "CREATE TABLE IF NOT EXISTS " + EpochTable + " (id TINYINT UNSIGNED NOT NULL PRIMARY KEY, epoch BIGINT UNSIGNED NOT NULL, " +
			"server VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, since DATETIME(6) NOT NULL) ENGINE=InnoDB",
		Without: "a proxy that starts after the primary has changed does not know the new one from the old if both take writes",
	}
	heartbeatTable = Table{
		Name: HeartbeatTable,
		Create: "CREATE TABLE IF NOT EXISTS " + HeartbeatTable + " (server VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, epoch BIGINT UNSIGNED NOT NULL, " +
			"counter BIGINT UNSIGNED NOT NULL, writer VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL) ENGINE=InnoDB",
		Without: "how far replicas are behind is what they say themselves",
	}
)

// Tables returns those that a node has use for.
func Tables(nc *config.Node) (tables []Table) {
	if nc.FollowsRoles() {
		tables = append(tables, epochTable)
		if nc.MaxReplicaLag.Max() > 0 {
			tables = append(tables, heartbeatTable)
		}
	}
	return tables
}

// Make makes the table by a connection, unless it is there. It reports whether it was made.
func (t Table) Make(c *backend.Conn) (made bool, err error) {
	err = c.Rows("SELECT 1 FROM "+t.Name+" LIMIT 0", 1, func([]string) {})
	if !lacksTable(err) {
		return false, err
	}
	for _, one := range []string{CreateSchema, t.Create} {
		if err := c.Exec(one); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Usable asks whether the account of a connection can read and write the table, and changes nothing. refused is why it cannot; there is false only if the
// table is not, as far as the account may know.
func (t Table) Usable(c *backend.Conn) (there bool, refused *mysql.SQLError, err error) {
	for _, statement := range []string{"INSERT INTO " + t.Name + " SELECT * FROM " + t.Name, "UPDATE " + t.Name + " SET epoch = epoch"} {
		err = c.Rows("EXPLAIN FORMAT=JSON "+statement, 1, func([]string) {}) // which takes the rights of the statement
		switch {
		case lacksTable(err):
			return false, nil, nil
		case errors.As(err, &refused):
			return true, refused, nil
		case err != nil:
			return true, nil, err
		}
	}
	return true, nil, nil
}

// execMaking runs a statement, and once more where it lacks the table, which it makes.
func (t Table) execMaking(c *backend.Conn, sql string) error {
	err := c.Exec(sql)
	if !lacksTable(err) {
		return err
	}
	if _, err := t.Make(c); err != nil {
		return err
	}
	return c.Exec(sql)
}

// erNoSuchTable is the code of a table that is not there. MySQL manual: "Server Error Message Reference".
const erNoSuchTable = 1146

// lacksTable reports whether an error is that of a table, or its schema, that is not there.
func lacksTable(err error) bool {
	refused, ok := errors.AsType[*mysql.SQLError](err)
	return ok && (refused.Code == erNoSuchTable || refused.Code == mysql.ERBadDB)
}
