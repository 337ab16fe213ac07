package indexes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// table is where the records are.
const table = sqltext.ProxySchema + ".indexes"

// definition is the table of records: a row for each index that a proxy has seen in its configuration, and for each that DDL has given a table, which has
// its columns and how texts in them are placed.
const definition = "CREATE TABLE IF NOT EXISTS " + table + " (db VARBINARY(256) NOT NULL, name VARBINARY(256) NOT NULL, key_name VARBINARY(256) NOT NULL, state VARBINARY(16) NOT NULL, " +
	"shards INT UNSIGNED NOT NULL DEFAULT 0, after BLOB, done BIGINT UNSIGNED NOT NULL DEFAULT 0, total BIGINT UNSIGNED NOT NULL DEFAULT 0, faults BIGINT UNSIGNED, definition VARBINARY(64) NOT NULL DEFAULT '', " +
	"key_columns BLOB, strings VARBINARY(64) NOT NULL DEFAULT '', PRIMARY KEY (db, name, key_name)) ENGINE=InnoDB"

// askTimeout bounds one connection and what is asked on it.
const askTimeout = 5 * time.Second

// ErrNode is of a node that is not in the configuration any more.
var errNode = errors.New("the node is not in the configuration")

// dial returns a connection of the proxy's own to a node's primary, which ends with ctx.
func dial(ctx context.Context, n *backend.Node) (*backend.Conn, error) {
	if n == nil {
		return nil, errNode
	}
	dialing, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return n.Primary.Own(dialing)
}

// onTables runs f with a connection to a node's primary by the account that has the rights on clients' tables.
func onTables(ctx context.Context, n *backend.Node, f func(c *backend.Conn) error) error {
	if n == nil {
		return errNode
	}
	dialing, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c, err := n.Primary.DialContext(dialing, 0)
	return with(ctx, c, err, f)
}

// on runs f with a connection to a node's primary by the account that has the rights on the proxies' own tables.
func on(ctx context.Context, n *backend.Node, f func(c *backend.Conn) error) error {
	c, err := dial(ctx, n)
	return with(ctx, c, err, f)
}

// with runs f with a connection, if there is one, and closes it.
func with(ctx context.Context, c *backend.Conn, err error, f func(c *backend.Conn) error) error {
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.Net.SetDeadline(time.Now().Add(askTimeout))
	defer context.AfterFunc(ctx, func() { _ = c.Net.SetDeadline(time.Unix(1, 0)) })()
	return f(c)
}

// Codes of errors of servers. MySQL manual: "Server Error Message Reference".
const (
	erBadDB       = 1049
	erNoSuchTable = 1146
	erDupEntry    = 1062
	erLockWait    = 1205
)

// lacking reports whether an error is of a table that is not there.
func lacking(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused) && (refused.Code == erNoSuchTable || refused.Code == erBadDB)
}

// made makes the table of records, and f once more, where that finds it lacking.
func made(c *backend.Conn, f func() error) error {
	err := f()
	if !lacking(err) {
		return err
	}
	if err = c.Exec("CREATE DATABASE IF NOT EXISTS " + sqltext.ProxySchema); err != nil {
		// Who may not make it may use the one that is there.
		if err := c.Exec(definition); err != nil {
			return err
		}
	} else if err = c.Exec(definition); err != nil {
		return err
	}
	return f()
}

// id is what names an index in the table of records.
type id struct{ db, table, name string }

// idOf names an index of a table, on a server that compares names of tables as folds says.
func idOf(t *router.Table, name string, folds bool) id {
	one := id{t.DB, t.Name, strings.ToLower(name)}
	if folds {
		one.db, one.table = strings.ToLower(one.db), strings.ToLower(one.table)
	}
	return one
}

// row is the condition that finds the record.
func (i id) row() string {
	return " WHERE db = " + literal(i.db) + " AND name = " + literal(i.table) + " AND key_name = " + literal(i.name)
}

// row is the condition that finds the record of an index, on a server that compares names of tables as folds says.
func row(x *router.Index, folds bool) string { return idOf(x.Table, x.Name, folds).row() }

// storedRecord is a record with what it was made for.
type storedRecord struct {
	Record
	definition string
}

// definitionOf tells apart indexes of one name whose tables cannot stand for each other. One that is missing by intent has none, as it has no tables.
func definitionOf(x *router.Index, s State) string {
	if s == Missing {
		return ""
	}
	sum := sha256.Sum256([]byte(x.Definition))
	return hex.EncodeToString(sum[:])
}

// folds reports whether a node's servers compare names of tables without regard to case.
func folds(n *backend.Node) bool {
	info := n.Primary.Info()
	return info != nil && info.LowerCaseTables
}

// read reads all records of a server, and the keys that DDL has given tables.
func read(c *backend.Conn) (records map[id]storedRecord, given map[id]Key, err error) {
	records, given = map[id]storedRecord{}, map[id]Key{}
	err = c.Rows("SELECT db, name, key_name, state, shards, IFNULL(after, ''), done, total, IFNULL(faults, ''), definition, IFNULL(key_columns, ''), strings FROM "+table, 12, func(row []string) {
		r := storedRecord{Record{State: stateNamed(row[3]), After: row[5], Verified: row[8] != ""}, row[9]}
		r.Shards, _ = strconv.Atoi(row[4])
		r.Done, _ = strconv.ParseUint(row[6], 10, 64)
		r.Total, _ = strconv.ParseUint(row[7], 10, 64)
		r.Faults, _ = strconv.ParseUint(row[8], 10, 64)
		records[id{row[0], row[1], row[2]}] = r
		k := Key{Name: row[2], Strings: row[11]}
		if json.Unmarshal([]byte(row[10]), &k.Columns) == nil {
			given[id{row[0], row[1], row[2]}] = k
		}
	})
	return records, given, err
}

// keysIn returns the keys that DDL has given a table and that are kept, by their names.
func keysIn(records map[id]storedRecord, given map[id]Key, t *router.Table, folds bool) (keys []Key) {
	of := idOf(t, "", folds)
	for one, k := range given {
		if state := records[one].State; one.db == of.db && one.table == of.table && (state == Building || state == Built) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

// write stores the record of an index.
func write(c *backend.Conn, x *router.Index, folds bool, r Record) error {
	key := ""
	if x.Given {
		columns, _ := json.Marshal(x.Columns) // of texts, which cannot fail
		key = ", key_columns = " + literal(string(columns)) + ", strings = " + literal(x.Strings)
	}
	return c.Exec(fmt.Sprintf("UPDATE %s SET state = '%s', shards = %d, after = %s, done = %d, total = %d, faults = NULL, definition = '%s'%s%s",
		table, r.State, r.Shards, literal(r.After), r.Done, r.Total, definitionOf(x, r.State), key, row(x, folds)))
}

// demote has an index be missing, if it is not.
func demote(c *backend.Conn, i id) error {
	err := c.Exec("UPDATE " + table + " SET state = 'missing', shards = 0, after = '', faults = NULL" + i.row() + " AND state <> 'missing'")
	if lacking(err) {
		return nil
	}
	return err
}

// add stores a first record, unless another proxy did.
func add(c *backend.Conn, x *router.Index, folds bool, state State) error {
	i := idOf(x.Table, x.Name, folds)
	return c.Exec(fmt.Sprintf("INSERT IGNORE INTO %s (db, name, key_name, state, definition) VALUES (%s, %s, %s, '%s', '%s')", table, literal(i.db), literal(i.table), literal(i.name), state, definitionOf(x, state)))
}

// literal writes bytes in a way that no sql_mode or character set reads otherwise.
func literal(text string) string {
	if text == "" {
		return "''"
	}
	return "X'" + hex.EncodeToString([]byte(text)) + "'"
}

// text writes a name as a string of characters.
func text(name string) string { return "CONVERT(" + literal(name) + " USING utf8)" }

// quote writes a name as an identifier.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoted(s router.Shard) string { return quote(s.DB) + "." + quote(s.Table) }
