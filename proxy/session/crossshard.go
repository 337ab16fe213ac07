package session

import (
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// crossShard has cross_shard decide about a statement whose rows are brought together from several shards: an error refuses it. The warning is what the client
// is to hear of one that runs; nil without one. A query rule that says something decides alone, as an exception from what is said of users and tables; of
// these the strictest does.
func crossShard(c *client, q *query, p *plan.Plan) (*state.Warning, error) {
	says, by := c.account.CrossShard, "user "+c.account.User
	if r := q.verdict.CrossShard; r != nil {
		says, by = r.CrossShard, "query rule "+r.Name
	} else {
		for _, ref := range p.Refs {
			if slices.Index(config.CrossShards, ref.Table.CrossShard) > slices.Index(config.CrossShards, says) {
				says, by = ref.Table.CrossShard, "table "+ref.Table.Name
			}
		}
	}
	switch says {
	case config.CrossShardWarn:
		c.observed.Counters.CrossWarned.Add(1)
		return &state.Warning{Level: "Warning", Code: KSCrossShard, Message: "rows of several shards are brought together: " + p.Reason + ". cross_shard of " + by + " is warn"}, nil
	case config.CrossShardDeny:
		c.observed.Counters.CrossDenied.Add(1)
		return nil, newError(KSCrossShard, "rows of several shards would be brought together: "+p.Reason+". cross_shard of "+by+" is deny: "+narrower(p))
	}
	return nil, nil
}

// narrower says what lets a statement do without rows of several shards in one place.
func narrower(p *plan.Plan) string {
	var keys []string
	for _, ref := range p.Refs {
		if len(ref.Table.Keys) == 0 {
			continue
		}
		if key := ref.Parsed.Label() + "." + strings.Join(ref.Table.Keys, ", "); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return "give the sharding key (" + strings.Join(keys, "; ") + "), or have each shard answer for its own rows"
}

// warning returns a patch that has the OK packets of the answer count the proxy's own warning, too, if there is one.
func (f *finishing) warning(patch func(*mysql.OKPacket)) func(*mysql.OKPacket) {
	if f.warned == nil {
		return patch
	}
	return func(ok *mysql.OKPacket) {
		if patch(ok); ok.Warnings < 65535 {
			ok.Warnings++
		}
	}
}
