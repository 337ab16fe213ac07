package admin

import (
	"errors"
	"fmt"
	"time"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/sequence"
	"kingshard/router"
)

var sequenceCommand = command{
	verb: "sequence", usage: "KS SEQUENCE [db.]table SET n [FORCE]", rights: account.Operate,
	about: "Has the ids that are drawn for a table begin at n, from every proxy's next block on; never lower than they stand without FORCE, nor than the largest in the shards",
	run: func(c *call) (*answer, error) {
		name, err := c.tableName()
		if err != nil {
			return nil, err
		}
		if !c.r.Word("set") {
			return nil, c.r.Expected("SET")
		}
		next, ok := c.r.Number()
		if !ok {
			return nil, c.r.Expected("the next id")
		}
		forced := c.r.Word("force")
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return &answer{}, c.a.setSequence(c.who, name, next, forced)
	},
}

// sequenceTimeout bounds a change of a sequence.
const sequenceTimeout = 10 * time.Second

// setSequence has the ids of a table begin at next.
func (a *Admin) setSequence(w change.Who, name string, next uint64, forced bool) error {
	detail := fmt.Sprintf("%s = %d", name, next)
	if forced {
		detail += " force"
	}
	return a.Trail.Act(w, account.Operate, "set sequence", detail, func() error {
		tables := a.ruled(name)
		switch {
		case len(tables) == 0:
			return change.Failed("no rule has the table %s: SHOW KS RULES lists them", name)
		case len(tables) > 1:
			return change.Failed("several tables are called %s: give the database too", name)
		case tables[0].Kind != router.Sharded || len(tables[0].Shards) < 2:
			return change.Failed("the table %s has one sub-table, whose server counts its ids", name)
		case next < 1 || next > 1<<63-1:
			return change.Failed("an id is from 1 to 9223372036854775807")
		}
		t := a.shared.Snapshot.Load().SequenceTable(tables[0])
		err := a.shared.Sequences.Of(t).Set(t, next, forced, time.Now().Add(sequenceTimeout))
		if errors.Is(err, sequence.ErrBelow) {
			return change.Failed("the ids of %s are beyond %d already: FORCE lowers them, but not below the largest that the shards have", name, next)
		}
		if errors.Is(err, sequence.ErrSnowflake) {
			return change.Failed("the ids of %s are snowflakes, which follow the clock: the rule says so", name)
		}
		if refused := new(mysql.SQLError); err != nil && !errors.As(err, &refused) {
			return change.Failed("%v", err)
		}
		return err
	})
}
