package placement

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// answerMax is how long a server may take for one answer about definitions.
const answerMax = 30 * time.Second

// Finding is something that is not as it should be.
type Finding struct {
	Node, Table string // Table is a sub-table with its database, or "" for all of the node's
	What        string
}

// asking is a connection of its own to a node's primary.
type asking struct {
	*backend.Conn
	stop func() bool
}

// ask connects to a node's primary; when ctx ends, so does what the connection waits for.
func ask(ctx context.Context, n *backend.Node) (*asking, error) {
	if n == nil {
		return nil, fmt.Errorf("the node is not in the configuration")
	}
	return askInstance(ctx, n.Primary)
}

// askInstance connects to one of a node's instances, as ask does.
func askInstance(ctx context.Context, i *backend.Instance) (*asking, error) {
	dialing, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	c, err := i.DialContext(dialing, 0)
	if err != nil {
		return nil, err
	}
	a := &asking{Conn: c}
	a.stop = context.AfterFunc(ctx, func() { _ = c.Net.SetDeadline(time.Unix(1, 0)) })
	if err := a.exec("SET time_zone = '+00:00', sql_mode = ''"); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *asking) close() {
	a.stop()
	a.Close()
}

func (a *asking) exec(sql string) error {
	if err := a.Net.SetDeadline(time.Now().Add(answerMax)); err != nil {
		return err
	}
	return a.Exec(sql)
}

func (a *asking) rows(sql string, columns int, row func([]string)) error {
	if err := a.Net.SetDeadline(time.Now().Add(answerMax)); err != nil {
		return err
	}
	return a.Rows(sql, columns, row)
}

// onNode are the shards of a table on a node.
func onNode(t *router.Table, node string) []router.Shard {
	return slices.DeleteFunc(slices.Clone(t.Shards), func(s router.Shard) bool { return s.Node != node })
}

// name is a sub-table with its database.
func name(s router.Shard) string { return s.DB + "." + s.Table }

func quoted(s router.Shard) string { return quote(s.DB) + "." + quote(s.Table) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// literal writes a name of a table or a database as a string in SQL.
func literal(name string) string {
	return "CONVERT(X'" + fmt.Sprintf("%x", name) + "' USING utf8)"
}
