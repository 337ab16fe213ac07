package sequence

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/kserror"
)

// definition is the table of sequences: next follows all blocks, server is the server_id of the one where the last was reserved, owner the process that
// reserved it, and shared says that others had blocks, too, since the row was made.
const definition = "CREATE TABLE IF NOT EXISTS " + sqltext.ProxySchema + ".sequence (" +
	"db VARBINARY(256) NOT NULL, name VARBINARY(256) NOT NULL, `next` BIGINT UNSIGNED NOT NULL, server INT UNSIGNED NOT NULL DEFAULT 0, owner VARBINARY(32) NOT NULL DEFAULT '', shared TINYINT NOT NULL DEFAULT 0, " +
	"PRIMARY KEY (db, name)) ENGINE=InnoDB"

// reservation is one block on its way.
type reservation struct {
	t     *Table
	owner string
	at    string // address of the server that is asked
	floor uint64 // the least id that it may have
	ids   uint64 // how many it has
	// skip is how many ids are left out where another server reserved the last block: this one took its place, and may lack some of the last.
	skip uint64
	// had says that the row was there: where it is not, this server took the place of one that had it.
	had bool
	// forgotten is the sequence's when the block was asked for.
	forgotten uint64
}

// setting is what connections for reservations carry.
func setting() *backend.Setting {
	return backend.Intern("", 0, []backend.Var{{Name: "autocommit", Value: "1"}})
}

// attemptsMax is how many connections are tried where they break: what a server may have carried out is only ids that nobody uses.
const attemptsMax = 3

// onPrimary runs f with a connection to a node's primary, and again with another where it breaks.
func onPrimary(node *backend.Node, deadline time.Time, f func(c *backend.Conn) error) error {
	for attempt := 1; ; attempt++ {
		p, err := node.Primary.Get(setting(), deadline, nil)
		if err != nil {
			return err
		}
		p.Conn.Net.SetDeadline(deadline)
		err = f(p.Conn)
		p.Conn.Net.SetDeadline(time.Time{})
		if refused := new(mysql.SQLError); err == nil || errors.As(err, &refused) || errors.Is(err, ErrBelow) {
			p.Put()
			return err
		}
		p.Taint()
		node.Primary.CheckIdle()
		if attempt == attemptsMax || time.Now().After(deadline) {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
}

// make reserves the block.
func (r *reservation) make(deadline time.Time) (block, error) {
	first := uint64(0)
	err := onPrimary(r.t.Node, deadline, func(c *backend.Conn) (err error) {
		first, err = r.on(c)
		return err
	})
	if err != nil {
		return block{}, r.explain(err)
	}
	return block{first, first + r.ids}, nil
}

// Errors of a table or a schema that is not there yet, of a statement that gave way to others, and of a counter that has no more ids. MySQL manual:
// "Server Error Message Reference".
const (
	erLockWait      = 1205
	erDeadlock      = 1213
	erNoSuchTable   = 1146
	erBadDB         = 1049
	erAutoincFailed = 1467
)

// idMax is the largest id that is handed out: servers take larger ones for negative in some sums.
const idMax = 1<<63 - 1

// errExhausted is what a server says whose counter has no more ids.
func errExhausted() error {
	return mysql.NewSQLError(erAutoincFailed, "Failed to read auto-increment value from storage engine")
}

// on reserves the block on a connection to the node's primary, and makes what is not there yet: the row is the last, so that it is tried again.
func (r *reservation) on(c *backend.Conn) (first uint64, err error) {
	all := r.ids + r.skip
	if r.ids > idMax || r.floor > idMax-all {
		return 0, errExhausted()
	}
	made := false // the row, or it was there
	for attempt := 1; ; attempt++ {
		ok, err := change(c, fmt.Sprintf("UPDATE %s.sequence SET `next` = LAST_INSERT_ID(GREATEST(`next`, %d) + IF(server = @@server_id, 0, %d)) + %d, server = @@server_id, "+
			"shared = shared OR owner <> '' AND owner <> '%s', owner = '%s'%s AND `next` <= %d", sqltext.ProxySchema, max(r.floor, 1), r.skip, r.ids, r.owner, r.owner, r.row(), idMax-all))
		var refused *mysql.SQLError
		switch {
		case err == nil && ok.AffectedRows > 0:
			return ok.LastInsertID, nil
		case err == nil && made:
			return 0, errExhausted() // it stands too high
		case err == nil:
			server := "@@server_id"
			if r.had {
				server = "0" // other proxies may have blocks, too
			}
			_, err = change(c, fmt.Sprintf("INSERT IGNORE INTO %s.sequence (db, name, `next`, server) VALUES (%s, %s, %d, %s)", sqltext.ProxySchema, literal(r.t.DB), literal(r.t.Name), max(r.floor, 1), server))
			made = err == nil
		case errors.As(err, &refused) && (refused.Code == erNoSuchTable || refused.Code == erBadDB):
			err = makeTable(c)
		}
		// Several proxies that make the row at the same time may wait for each other's gaps.
		if gaveWay := errors.As(err, &refused) && (refused.Code == erDeadlock || refused.Code == erLockWait); err != nil && (!gaveWay || attempt == triesMax) {
			return 0, err
		}
	}
}

// makeTable makes the table of sequences where it is not there.
func makeTable(c *backend.Conn) error {
	_, err := change(c, "CREATE DATABASE IF NOT EXISTS "+sqltext.ProxySchema)
	if refused := new(mysql.SQLError); err == nil || errors.As(err, &refused) {
		_, err = change(c, definition) // the schema may be there for an account that must not make one
	}
	return err
}

// triesMax is how often a reservation is tried that gave way to others.
const triesMax = 20

// drop takes the row away where no other process has reserved a block since it was made; gone says that it is not there any more.
func (r *reservation) drop(deadline time.Time) (gone bool, err error) {
	err = onPrimary(r.t.Node, deadline, func(c *backend.Conn) error {
		ok, err := change(c, fmt.Sprintf("DELETE FROM %s.sequence%s AND shared = 0 AND owner IN ('', '%s')", sqltext.ProxySchema, r.row(), r.owner))
		switch gone = ok.AffectedRows > 0; {
		case missing(err):
			gone, err = true, nil
		case err == nil && !gone: // it is another process's, too, or there is none
			gone = true
			err = c.Rows(fmt.Sprintf("SELECT 1 FROM %s.sequence%s", sqltext.ProxySchema, r.row()), 1, func([]string) { gone = false })
		}
		return err
	})
	return gone, r.explain(err)
}

// set has the row's next id be r.floor; ErrBelow if it is higher and that is not forced.
func (r *reservation) set(forced bool, deadline time.Time) error {
	return r.explain(onPrimary(r.t.Node, deadline, func(c *backend.Conn) error { return r.setOn(c, forced) }))
}

func (r *reservation) setOn(c *backend.Conn, forced bool) error {
	if _, err := r.on(c); err != nil { // which makes what is not there, and takes an id from r.floor on
		return err
	}
	above := ""
	if !forced {
		above = fmt.Sprintf(" AND `next` <= %d", r.floor+1)
	}
	ok, err := change(c, fmt.Sprintf("UPDATE %s.sequence SET `next` = %d%s%s", sqltext.ProxySchema, r.floor, r.row(), above))
	if err == nil && ok.AffectedRows == 0 {
		return ErrBelow
	}
	return err
}

// change runs a statement without rows.
func change(c *backend.Conn, sql string) (mysql.OKPacket, error) {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return mysql.OKPacket{}, err
	}
	return c.ReadChange()
}

// literal writes a name in a way that no sql_mode or character set reads otherwise.
func literal(name string) string { return "X'" + hex.EncodeToString([]byte(name)) + "'" }

// row is the condition that finds the table's row.
func (r *reservation) row() string {
	return " WHERE db = " + literal(r.t.DB) + " AND name = " + literal(r.t.Name)
}

// explain says what an error of the server means for the client.
func (r *reservation) explain(err error) error {
	var refused *mysql.SQLError
	if !errors.As(err, &refused) || refused.Code == erAutoincFailed { // or nil
		return err
	}
	return kserror.New(kserror.Sequence, fmt.Sprintf("ids of %s.%s are reserved in %s.sequence on node %s, which refuses it: %s", r.t.DB, r.t.Name, sqltext.ProxySchema, r.t.Node.Name, refused.Message))
}

// largest asks all shards for the largest id of the table, 0 where there are no rows, and for the largest that the column takes, 0 where there is none.
func (r *reservation) largest(deadline time.Time) (largest, limit uint64, err error) {
	byNode := map[*backend.Node][]Shard{}
	for _, s := range r.t.Shards {
		byNode[s.Node] = append(byNode[s.Node], s)
	}
	for node, shards := range byNode {
		err := onPrimary(node, deadline, func(c *backend.Conn) error {
			for _, s := range shards {
				n, takes, err := largestOf(c, s)
				if err != nil && !missing(err) {
					return err
				}
				largest, limit = max(largest, n), max(limit, takes)
			}
			return nil
		})
		if refused := new(mysql.SQLError); errors.As(err, &refused) {
			return 0, 0, kserror.New(kserror.Sequence, fmt.Sprintf("the largest id of %s.%s on node %s is not known: %s", r.t.DB, r.t.Name, node.Name, refused.Message))
		} else if err != nil {
			return 0, 0, err
		}
	}
	if largest >= idMax {
		return 0, 0, errExhausted()
	}
	return largest, limit, nil
}

// missing reports whether an error is of a table that is not there.
func missing(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused) && (refused.Code == erNoSuchTable || refused.Code == erBadDB)
}

// largestOf asks for the largest id of a physical table, and for the largest that its column takes. The column is the one with AUTO_INCREMENT, which
// begins a key.
func largestOf(c *backend.Conn, s Shard) (largest, limit uint64, err error) {
	column, kind := "", ""
	err = c.Rows("SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+text(s.DB)+" AND TABLE_NAME = "+text(s.Table)+
		" AND EXTRA LIKE '%auto_increment%' LIMIT 1", 2, func(row []string) { column, kind = row[0], row[1] })
	if err != nil || column == "" {
		return 0, 0, err
	}
	// Rows that are not committed yet count too: their transaction may have told that they are there.
	if _, err = change(c, "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"); err != nil {
		return 0, 0, err
	}
	err = c.Rows("SELECT COALESCE(MAX("+quote(column)+"), 0) FROM "+quote(s.DB)+"."+quote(s.Table)+" LIMIT 1", 1, func(row []string) {
		if n, parsed := strconv.ParseUint(row[0], 10, 64); parsed == nil { // else it is below 0
			largest = n
		}
	})
	return largest, limitOf(kind), err
}

// limitOf returns the largest id that a column of a type takes, such as "int(10) unsigned". MySQL manual: "Integer Types".
func limitOf(kind string) uint64 {
	bits, signed := 63, 1
	for word, n := range map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32} {
		if strings.HasPrefix(strings.ToLower(kind), word) {
			bits = n
		}
	}
	if bits == 63 || strings.Contains(strings.ToLower(kind), "unsigned") {
		signed = 0
	}
	return 1<<(bits-signed) - 1
}

// text writes a name as a string of UTF-8.
func text(name string) string { return "CONVERT(" + literal(name) + " USING utf8mb4)" }

// quote writes a name as an identifier.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
