package admin

import (
	"strings"

	"kingshard/config"
)

var queryRulesTable = table{
	name: "query_rules", about: "Rules of what is done with statements, in their order", like: "rule",
	columns: append(append(numbers("id"), texts("rule", "action", "next", "dry_run", "users", "sources", "databases", "tables", "classes", "digest", "pattern")...),
		numbers("hits", "throttled", "mirrored", "mirror_failed", "mirror_dropped")...),
	rows: func(v *view) (rows [][]any) {
		for k, r := range v.snap.Rules.Rules() {
			var q config.QueryRule
			if k < len(v.snap.Config.QueryRules) {
				q = v.snap.Config.QueryRules[k]
			}
			rows = append(rows, []any{
				k + 1, r.Name, r.Action(), r.Next, r.DryRun, orNil(strings.Join(q.Users, ", ")), orNil(q.Sources), orNil(strings.Join(q.Databases, ", ")),
				orNil(strings.Join(q.Tables, ", ")), orNil(strings.Join(q.Classes, ", ")), orNil(q.Digest), orNil(q.Pattern), r.Hits(), r.Throttled(), r.Mirrored.Sent.Load(),
				r.Mirrored.Failed.Load(), r.Mirrored.Dropped.Load(),
			})
		}
		return rows
	},
}
