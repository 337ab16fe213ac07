package session

import (
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// Where servers do not tell case, tables with rules that are one table there are refused, and no others.
func TestTablesThatCaseTellsApart(t *testing.T) {
	rule := func(table string) config.Shard {
		return config.Shard{DB: "d", Table: table, Key: config.Columns{"id"}, Nodes: []string{"n1"}, Type: "hash", Locations: []int{2}}
	}
	for _, folds := range []bool{false, true} {
		cfg := config.Default()
		cfg.Nodes = []config.Node{{Name: "n1", User: "u", Master: "127.0.0.1:1"}}
		nodes, err := backend.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer nodes["n1"].Close()
		p, err := NewPlans(config.Schema{User: "u", Nodes: []string{"n1"}, Default: "n1", Shard: []config.Shard{rule("Orders"), rule("orders"), rule("users")}}, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range p.exact.Tables() {
			p.columns[table] = tableColumns{visible: []mysql.ColumnDefinition41{{Name: "id", Type: mysql.TypeLongLong}}, at: time.Now().Add(time.Hour)}
		}
		nodes["n1"].Primary.SetInfo(&backend.Info{LowerCaseTables: folds})
		for text, together := range map[string]bool{
			"SELECT id FROM users WHERE id = 1": false, "SELECT id FROM orders WHERE id = 1": true, "SELECT id FROM Orders": true,
			"SELECT u.id FROM users u JOIN orders o ON u.id = o.id WHERE u.id = 1": true,
		} {
			_, err := p.get(text, "d", sqltext.Mode{ServerVersion: 80000})
			if refused := err != nil; refused != (folds && together) || refused && !plan.IsRefusal(err) {
				t.Errorf("case does not count: %t: %s: %v", folds, text, err)
			}
		}
	}
}
