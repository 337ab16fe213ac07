package session

import (
	"fmt"
	"time"

	"kingshard/mysql"
	"kingshard/router"
	"kingshard/router/plan"
)

// defaultsFollowed refuses a definition that leaves the collation of a key to a default which the rule of its table does not
// follow: each node that makes sub-tables is asked what the default is.
func (ds *definitions) defaultsFollowed(p *plan.Plan, r *plan.Route) error {
	if len(r.Operator.(*plan.Each).Unnamed) == 0 {
		return nil
	}
	asked := map[[2]string]bool{} // node and database
	for _, query := range r.Queries {
		for _, shard := range query.Shards {
			if place := [2]string{shard.Node, shard.DB}; !asked[place] {
				asked[place] = true
				if err := ds.defaultFollowed(p, shard); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// defaultFollowed refuses the definition where one shard's node has a default that the rule does not follow.
func (ds *definitions) defaultFollowed(p *plan.Plan, shard router.Shard) error {
	node := ds.client.snap.Nodes[shard.Node]
	if node == nil {
		return nil // the definition will not get there either
	}
	conn, err := node.Primary.Get(ds.client.state.Setting(), time.Now().Add(catalogTimeout), nil)
	if err != nil {
		return backendError(err)
	}
	for _, u := range p.Operator.(*plan.Each).Unnamed {
		if !isWord(u.Charset) {
			continue // no server has a character set of that name
		}
		collation := ""
		if err = conn.Conn.Rows(defaultCollation(p, u, shard), 1, func(row []string) { collation = row[0] }); err != nil {
			break
		}
		if collation == "" || collation == "NULL" {
			continue // no text, or the server will say what is wrong: a database or a table that is not there
		}
		if err := u.Misfit(p.Target, collation); err != nil {
			conn.Put()
			return planError(err)
		}
	}
	if _, refused := err.(*mysql.SQLError); err != nil && !refused {
		conn.Taint()
		return backendError(err)
	}
	conn.Put() // what the server refuses to tell, as of an unknown character set, it refuses to define
	return nil
}

// defaultCollation asks for the collation that a column gets whose definition names none.
func defaultCollation(p *plan.Plan, u plan.Unnamed, shard router.Shard) string {
	switch {
	case u.Like:
		like := likeOf(p, shard)
		return fmt.Sprintf("SELECT collation_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s AND column_name = %s",
			hexText(like.DB), hexText(like.Table), hexText(u.Column))
	case u.Charset != "":
		return "SELECT COLLATION(CONVERT('' USING " + u.Charset + "))"
	case u.OfTable:
		return fmt.Sprintf("SELECT table_collation FROM information_schema.tables WHERE table_schema = %s AND table_name = %s", hexText(shard.DB), hexText(shard.Table))
	}
	return "SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = " + hexText(shard.DB)
}

// likeOf is the physical table whose definition CREATE TABLE ... LIKE takes for a shard of its target.
func likeOf(p *plan.Plan, shard router.Shard) (like router.Shard) {
	for _, r := range p.Refs {
		for k, s := range r.Table.Shards {
			if r != p.Target && s.Node == shard.Node && (r.Table.Kind != router.Sharded || p.Target.Table.Shards[k] == shard) {
				return s
			}
		}
	}
	return like
}

// isWord reports whether a name has but letters, digits and underscores, if anything.
func isWord(name string) bool {
	for k := range len(name) {
		if c := name[k]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// hexText writes a name as a string in any SQL mode.
func hexText(name string) string { return fmt.Sprintf("CONVERT(X'%x' USING utf8)", name) }
