package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
)

// benchPlans are plans of a table of 400 columns over 8 shards whose columns are known.
func benchPlans(b testing.TB) *Plans {
	b.Helper()
	p, err := NewPlans(config.Schema{
		User: "u", Nodes: []string{"n1", "n2"}, Default: "n1",
		Shard: []config.Shard{{DB: "d", Table: "t", Key: config.Columns{"id"}, Nodes: []string{"n1", "n2"}, Type: "hash", Locations: []int{4, 4}}},
	}, map[string]*backend.Node{"n1": {Name: "n1", Primary: &backend.Instance{}}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	columns := []mysql.ColumnDefinition41{{Name: "id", Type: mysql.TypeLongLong}}
	for k := range 400 {
		columns = append(columns, mysql.ColumnDefinition41{Name: fmt.Sprintf("column_number_%03d", k), Type: mysql.TypeLong})
	}
	p.columns[p.exact.Tables()[0]] = tableColumns{visible: columns, at: time.Now().Add(time.Hour)}
	return p
}

// benchTexts are the statements whose planning is measured, with %d for a number that changes.
func benchTexts() map[string]string {
	var wide strings.Builder
	wide.WriteString("SELECT ")
	for k := range 400 {
		fmt.Fprintf(&wide, "t.column_number_%03d AS the_column_number_%03d, ", k, k)
	}
	wide.WriteString("t.id FROM t WHERE t.id = %d")
	return map[string]string{
		"point":  "SELECT column_number_001 FROM t WHERE id = %d",
		"insert": "INSERT INTO t (id, column_number_001, column_number_002, column_number_003) VALUES (%d, 5, 'abcdefghijklmnop', 'qrstuvwxyz')",
		"wide":   wide.String(),
	}
}

// hitTexts are benchTexts and statements whose lists have one plan whatever their length.
func hitTexts() map[string]string {
	texts := benchTexts()
	texts["100 rows"] = rowsText(99)
	texts["list"] = "SELECT column_number_001 FROM t WHERE column_number_002 IN (1, 2, 3, 4, 5, 6, 7, 8) AND id = %d"
	for _, size := range []int{1, 17, 170} {
		list := strings.Repeat("-1234567, ", size*100) + "1) AND id = %d"
		texts[fmt.Sprintf("list=%dk", size)] = "SELECT column_number_001 FROM t WHERE column_number_002 IN (" + list
	}
	texts["quoted"] = "SELECT `t`.`id`" + strings.Repeat(", `t`.`column_number_001` AS `entity_attribute_0`", 350) + " FROM `t` WHERE `t`.`id` = %d"
	return texts
}

// rowsText is an INSERT with so many rows behind the first.
func rowsText(more int) string {
	return benchTexts()["insert"] + strings.Repeat(", (5, 6, 'abcdefghijklmnop', 'qrstuvwxyz')", more/8) + strings.Repeat(", (6, 6, 'abcdefghijklmnop', 'qrstuvwxyz')", more-more/8)
}

// BenchmarkPlanHit is the way of a text to its shards when the plan is there: digest, comparison, values, route; in place of the digest
// its outline where the text has a template.
func BenchmarkPlanHit(b *testing.B) {
	m := sqltext.Mode{ServerVersion: 80400}
	for name, form := range hitTexts() {
		var templates sqltext.Templates
		_, template := templates.Classify(fmt.Sprintf(form, 7), m)
		b.Run(name, func(b *testing.B) { benchPlanHit(b, form, nil) })
		if template != nil {
			b.Run(name+" by template", func(b *testing.B) { benchPlanHit(b, form, template) })
		}
	}
}

func benchPlanHit(b *testing.B, form string, template *sqltext.Template) {
	p, l, m := benchPlans(b), new(lookup), sqltext.Mode{ServerVersion: 80400}
	var texts [16]query
	for k := range texts {
		text := fmt.Sprintf(form, k*1000+7)
		texts[k] = query{text: text, info: sqltext.Classify(text, m)}
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(texts[0].text)))
	for k := 0; b.Loop(); k++ {
		plan, known, err := p.find(l, &texts[k%16], template, "d", m)
		if err != nil || !known || plan == nil {
			b.Fatal(plan, known, err)
		}
		if r, err := l.execution.Route(); err != nil || r.One == nil && len(r.Queries) < 2 {
			b.Fatal(err)
		}
	}
}

// benchSession is a session that has benchPlans, and no connections.
func benchSession(b testing.TB) *Session {
	p := benchPlans(b)
	s := assemble()
	s.client.schema = &Schema{Plans: p, Nodes: map[string]*backend.Node{"n1": p.first, "n2": {}}, Default: p.first}
	s.client.account, s.client.shared = new(account.Account), new(Shared)
	s.client.state.Resolve(&backend.Info{Number: 80400})
	s.client.state.SetDB("d")
	return s
}

// BenchmarkShardedStatement is all that a session does with a text on sharded tables from its class to the bytes for the server,
// when the plan is there.
func BenchmarkShardedStatement(b *testing.B) {
	for name, form := range hitTexts() {
		b.Run(name, func(b *testing.B) {
			s, text := benchSession(b), fmt.Sprintf(form, 7)
			p, m := s.client.schema.Plans, s.client.mode()
			var q query
			var packet []byte
			b.ReportAllocs()
			for b.Loop() {
				q = query{text: text, info: sqltext.Classify(text, m)}
				if name == "100 rows" { // which is sent by writeMany
					l := s.client.lookup()
					if _, known, err := p.find(l, &q, nil, "d", m); err != nil || !known {
						b.Fatal(known, err)
					}
					r, err := l.execution.Route()
					if err != nil {
						b.Fatal(err)
					}
					for k := range r.Queries {
						packet = append(packet[:0], r.Queries[k].Text...)
					}
				} else {
					if handled, failed, err := s.sharded(&q); handled || failed || err != nil || q.node == nil || len(q.rename) != 1 {
						b.Fatal(handled, failed, err)
					}
					packet = append(packet[:0], q.text...)
				}
				s.client.releaseTask()
			}
		})
	}
}

// BenchmarkPlanMiss is the same when the text has to be read and planned.
func BenchmarkPlanMiss(b *testing.B) {
	texts := benchTexts()
	texts["100 rows"] = rowsText(99)
	for name, form := range texts {
		b.Run(name, func(b *testing.B) {
			p, m := benchPlans(b), sqltext.Mode{ServerVersion: 80400}
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				clear(p.plans)
				plan, err := p.get(fmt.Sprintf(form, k), "d", m)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := plan.Route(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
