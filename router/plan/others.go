package plan

import (
	"strings"

	"kingshard/mysql"
	"kingshard/router"
)

// others knows the tables with a rule that a statement does not name.
type others struct{ *router.Router }

// Others knows the tables with a rule that the statement does not name, but a server's message may.
func (p *Plan) Others() mysql.TableNames { return others{p.router} }

// Named implements mysql.TableNames: it returns the logical name of a sub-table.
func (o others) Named(node, schema, table string) (name mysql.TableName, ok bool) {
	shard, t, ok := o.Router.Named(node, schema, table)
	if !ok {
		return name, false
	}
	return mysql.TableName{FromSchema: shard.DB, FromTable: shard.Table, Schema: t.DB, Table: t.Name, Node: node}, true
}

// Constraint implements mysql.TableNames: it returns the logical name of a constraint of a sub-table.
func (o others) Constraint(node, schema, own string) (name string, ok bool) {
	for _, t := range o.Tables() {
		for _, s := range t.Shards {
			if s.Node != node || !strings.EqualFold(s.DB, schema) {
				continue
			}
			if name, ok = mysql.TableConstraint(own, t.Name, s.Table); ok {
				return name, true
			}
		}
	}
	return own, false
}
