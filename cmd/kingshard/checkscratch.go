package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
)

// scratchDatabases lists the databases of the tables whose rows may be collected on a node, as it is the scratch node of their schema.
func scratchDatabases(cfg *config.Config, node string) (names []string) {
	for _, sc := range cfg.SchemaList {
		if sc.Scratch != node {
			continue
		}
		for _, rule := range sc.Shard {
			if !slices.Contains(names, rule.DB) {
				names = append(names, rule.DB)
			}
		}
	}
	slices.Sort(names)
	return names
}

// missingScratch lists what keeps statements from ending on a scratch node, as "kingshard lacks CREATE TEMPORARY TABLES on shop".
func missingScratch(i *backend.Instance, user *login, databases []string, timeout time.Duration) (missing []string, err error) {
	if len(databases) == 0 || i.Role != backend.Primary {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c, err := i.DialContext(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	c.Net.SetDeadline(deadline)
	there := map[string]bool{}
	if err := c.Rows("SHOW DATABASES", 1, func(row []string) { there[row[0]] = true }); err != nil {
		return nil, err
	}
	for _, db := range databases {
		if len(user.grants.Lacks(db, "CREATE TEMPORARY TABLES")) > 0 {
			missing = append(missing, user.name+" lacks CREATE TEMPORARY TABLES on "+db)
		} else if folded := c.Info.LowerCaseTables; !there[db] && (!folded || !there[strings.ToLower(db)]) {
			missing = append(missing, "the database "+db+" is not there: statements on its tables end on their own nodes")
		}
	}
	return missing, nil
}
