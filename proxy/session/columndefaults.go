package session

import (
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/router"
)

// columnOf names a column.
type columnOf struct {
	table *router.Table
	name  string
}

// columnDefault is what is known of a column's default: that it is NULL, or not.
type columnDefault struct {
	null bool
	at   time.Time
}

// defaultIsNull reports whether rows that are inserted without a column have NULL in it.
func (p *Plans) defaultIsNull(t *router.Table, column string) (null bool, err error) {
	key := columnOf{t, column}
	if found, ok := p.defaults.Load(key); ok && time.Since(found.(columnDefault).at) < catalogAge {
		return found.(columnDefault).null, nil
	}
	shard := t.Shards[0]
	err = p.asking(shard, func(c *backend.Conn) error {
		// MariaDB writes defaults as they stand in SQL, MySQL their values.
		question := "SELECT COLUMN_DEFAULT IS NULL OR COLUMN_DEFAULT = 'NULL' AND VERSION() LIKE '%MariaDB%', EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = " + state.Quote(shard.DB) +
			" AND TABLE_NAME = " + state.Quote(shard.Table) + " AND COLUMN_NAME = " + state.Quote(column)
		return c.Rows(question, 2, func(row []string) {
			null = row[0] == "1" && !strings.Contains(strings.ToUpper(row[1]), "GENERATED")
		})
	})
	if err == nil {
		p.defaults.Store(key, columnDefault{null, time.Now()})
	}
	return null, err
}

// asking runs a question about a table with a connection to the primary of a shard's node.
func (p *Plans) asking(shard router.Shard, ask func(c *backend.Conn) error) error {
	conn, err := p.nodes[shard.Node].Primary.Get(backend.Intern("", 0, nil), time.Now().Add(catalogTimeout), nil)
	if err != nil {
		return err
	}
	err = ask(conn.Conn)
	if _, refused := err.(*mysql.SQLError); err == nil || refused {
		conn.Put()
	} else {
		conn.Taint()
	}
	return err
}
