package session

import (
	"bytes"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
	"kingshard/router"
)

// comFieldList lists a table's columns, or those that match a pattern. MySQL manual: "COM_FIELD_LIST".
func (s *Session) comFieldList(arg []byte) error {
	end := bytes.IndexByte(arg, 0)
	if end < 0 {
		return malformed()
	}
	if s.client.schema.Plans != nil {
		if t := s.client.schema.Plans.router().Table(s.client.state.DB(), string(arg[:end])); t != nil {
			return s.exchanges.several().shards.shardFieldList(t, arg[end:])
		}
	}
	return s.exchanges.forwardCommand(txn.Target{Node: s.client.schema.Default, Reads: true, Stateless: true}, mysql.ComFieldList, arg, mysql.ShapeRows)
}

// shardFieldList answers COM_FIELD_LIST of a table with a rule from one of its shards. rest is the argument behind the table's name.
func (sh *shards) shardFieldList(t *router.Table, rest []byte) error {
	shard := sh.describing(t)
	p, err := sh.leases.acquire(txn.Target{Node: sh.client.schema.Nodes[shard.Node], Reads: true, Stateless: true})
	if err != nil {
		return err
	}
	have, there := sh.client.state.Setting(), sh.client.state.SettingIn(shard.DB)
	if err := p.Conn.Apply(have, there); err != nil {
		return sh.leases.afterFailure(p, err)
	}
	names := []mysql.TableName{{FromSchema: shard.DB, FromTable: shard.Table, Schema: t.DB, Table: t.Name, Node: shard.Node}}
	p.Conn.Command(mysql.ComFieldList, shard.Table+string(rest))
	sent := sh.client.conn.Sequence()
	q := query{info: sqltext.Info{Class: sqltext.Show}, rename: names, rows: listedFields(names)}
	if err := sh.exchanges.oneResponse(p, &q, mysql.ShapeRows); err != nil {
		return sh.exchanges.broken(p, err, sent)
	}
	if err := p.Conn.Apply(there, have); err != nil {
		sh.leases.drop(p)
		return &endError{process.EndBackendLost, err}
	}
	sh.leases.release(p)
	return nil
}

// describing gives the shard that tells of a table's columns: one on the node where the session holds a connection, else on the default one,
// else the first.
func (sh *shards) describing(t *router.Table) router.Shard {
	wanted := []string{sh.client.schema.Default.Name}
	if sh.client.txn.Holding() {
		wanted = []string{sh.client.txn.Held().Instance.Node, wanted[0]}
	}
	for _, node := range wanted {
		if k := slices.IndexFunc(t.Shards, func(shard router.Shard) bool { return shard.Node == node }); k >= 0 {
			return t.Shards[k]
		}
	}
	return t.Shards[0]
}

// listedFields puts the logical names of a table into the definitions that COM_FIELD_LIST lists, each with a default value behind it. It is
// a mysql.RowChanger.
type listedFields []mysql.TableName

// Column is for mysql.RowChanger.
func (listedFields) Column(*mysql.ColumnDefinition41) {}

// Row is for mysql.RowChanger.
func (f listedFields) Row(b, row []byte) ([]byte, error) {
	var d mysql.ColumnDefinition41
	if err := d.Decode(row); err != nil {
		return b, err
	}
	c := mysql.NewCursor(row)
	for range 7 { // six names, and the fields of fixed length
		c.LenencBytes()
	}
	d.Rename(f)
	return append(d.AppendTo(b), c.Rest()...), nil
}
