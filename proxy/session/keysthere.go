package session

import (
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/router"
	"kingshard/router/plan"
)

// keysThere asks the nodes what constraints and indexes the physical tables of a definition have: those that were made beside the proxy, or by
// an earlier one, may have other names than it would give them.
func (ds *definitions) keysThere(t *router.Table) (map[router.Shard]plan.Keys, error) {
	there := map[router.Shard]plan.Keys{}
	for _, name := range t.Nodes {
		node := ds.client.snap.Nodes[name]
		if node == nil {
			continue // the definition will not get there either
		}
		conn, err := node.Primary.Get(ds.client.state.Setting(), time.Now().Add(catalogTimeout), nil)
		if err != nil {
			return nil, backendError(err)
		}
		if err := keysOn(conn.Conn, t, name, there); err != nil {
			if _, refused := err.(*mysql.SQLError); !refused {
				conn.Taint()
				return nil, backendError(err)
			}
			conn.Put()
			return nil, err
		}
		conn.Put()
	}
	return there, nil
}

// keysOn asks one node about its shards of a table.
func keysOn(c *backend.Conn, t *router.Table, node string, there map[router.Shard]plan.Keys) error {
	shards := map[[2]string]router.Shard{}
	tables := map[string][]string{} // by database
	for _, s := range t.Shards {
		if s.Node == node {
			shards[[2]string{strings.ToLower(s.DB), strings.ToLower(s.Table)}] = s
			tables[s.DB] = append(tables[s.DB], hexText(s.Table))
		}
	}
	var places []string
	for db, names := range tables {
		places = append(places, "TABLE_SCHEMA = "+hexText(db)+" AND TABLE_NAME IN ("+strings.Join(names, ", ")+")")
	}
	where := "(" + strings.Join(places, " OR ") + ")"
	for _, of := range [...]struct {
		index bool
		text  string
	}{
		{false, "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_TYPE IN ('FOREIGN KEY', 'CHECK') AND "},
		{true, "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS WHERE "},
	} {
		err := c.Rows(of.text+where+noLimit, 3, func(row []string) {
			s, ok := shards[[2]string{strings.ToLower(row[0]), strings.ToLower(row[1])}]
			if !ok {
				return
			}
			keys := there[s]
			keys.Add(t, s, row[2], of.index)
			there[s] = keys
		})
		if err != nil {
			return err
		}
	}
	return nil
}
