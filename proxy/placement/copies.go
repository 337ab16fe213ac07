package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/router"
)

// CopyPart is what is found of one copy of a reference table: in a part of it that differs, or of all of it.
type CopyPart struct {
	router.Shard
	// Part is the number of the part, from 1, in the order of the primary key; 0 stands for all of the copy.
	Part int
	Rows uint64
	// Checksum is of all of the copy. It is that of the same rows, whatever their order and the server; "" of a part.
	Checksum string
	// Missing, Extra and Other count the rows of the model that the copy lacks, those that it has and the model has not, and those of the same key that are others.
	Missing, Extra, Other uint64
	// Keys are the first of them, as missing, extra and other say.
	Keys []string
	// Repaired says that they were made as the model's are.
	Repaired bool
	// Err is why it could not be read or repaired.
	Err error
}

// Differs reports whether the copy is not as the model.
func (p *CopyPart) Differs() bool {
	return p.Missing+p.Extra+p.Other > 0 && !p.Repaired || p.Err != nil
}

const (
	// partRows is how many rows of one copy make up a part, and partRowsMax how many another one may have there.
	partRows    = 1000
	partRowsMax = 8 * partRows
	// looks is how often a part is read without locks before it is read with them, and pause how long is waited at first.
	looks     = 2
	lookPause = 20 * time.Millisecond
	// lockTries is how often locks are asked for that others hold, for lockWait each time.
	lockTries = 3
	lockWait  = 5 * time.Second
)

// copyCheck is a check of a reference table under way.
type copyCheck struct {
	table *router.Table
	nodes map[string]*backend.Node
	// copies are in the order of the nodes' names, in which changes lock rows, too; model is the place of the one that others are compared with.
	copies []*oneCopy
	model  int
	repair bool
	keys   []copyColumn
	part   int
	each   func(CopyPart)
	// later are parts to be repaired behind the others: a row of another one had a unique value.
	later []span
}

// oneCopy is a copy with a connection to its server.
type oneCopy struct {
	*asking
	shard router.Shard
	is    *copyTable
	sum   CopyPart
	sums  [3]uint64 // of all parts: two that rows change by themselves, and one that they add to
	left  bool      // a part differs that was not repaired
	// cascades is a table whose rows a server would change if rows of the copy were deleted.
	cascades string
}

// span is a part of the table by the primary key: behind from, up to to, of which nil is no limit. Others belong to it, too.
type span struct {
	from, to key
	others   []span
}

// Copies compares the copies of a reference table, which may be changed meanwhile: part by part in the order of the primary key, without locks first; a part that differs is read
// again, and at last with all copies' rows locked for as long as that takes. Of parts that differ then, and at the end of all copies, each is told. The model is the copy on a node,
// "" for the first one; with repair the other ones' rows are made as those are, each part in one transaction on each node, with the rows of all copies locked. It
// changes nothing without. It reads from primaries, pauses for as long as it reads, holds the keys of one part at a time, and ends early when ctx does.
func Copies(ctx context.Context, t *router.Table, nodes map[string]*backend.Node, model string, repair bool, each func(CopyPart)) error {
	if t.Kind != router.Reference {
		return errors.New("it is no reference table")
	}
	c := &copyCheck{table: t, nodes: nodes, repair: repair, each: each}
	defer c.close()
	if err := c.open(ctx, model); err != nil {
		return err
	}
	if err := c.compare(ctx); err != nil {
		return err
	}
	for _, one := range c.copies {
		one.sum.Checksum = fmt.Sprintf("%016x%016x%x", one.sums[0], one.sums[1], one.sums[2])
		each(one.sum)
	}
	return nil
}

// open connects to the nodes and looks at what the copies are made of.
func (c *copyCheck) open(ctx context.Context, model string) error {
	shards := slices.SortedFunc(slices.Values(c.table.Shards), func(a, b router.Shard) int { return strings.Compare(a.Node, b.Node) })
	c.model = 0
	found := model == ""
	for k, s := range shards {
		a, err := ask(ctx, c.nodes[s.Node])
		if err != nil {
			return fmt.Errorf("node %s: %w", s.Node, err)
		}
		one := &oneCopy{asking: a, shard: s, sum: CopyPart{Shard: s}}
		c.copies = append(c.copies, one)
		for _, sql := range []string{
			"SET NAMES utf8mb4", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET SESSION innodb_lock_wait_timeout = " + strconv.Itoa(int(lockWait.Seconds())),
			"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'",
		} {
			if err := a.exec(sql); err != nil {
				return fmt.Errorf("node %s: %w", s.Node, err)
			}
		}
		if one.is, err = a.copyOf(s); err != nil {
			return fmt.Errorf("node %s: %w", s.Node, err)
		}
		if len(one.is.columns) == 0 {
			return fmt.Errorf("node %s has no table %s", s.Node, name(s))
		}
		if !one.is.same(c.copies[0].is) {
			return fmt.Errorf("%s on node %s has other columns than on node %s: KS CHECK TABLE %s.%s tells which", name(s), s.Node, shards[0].Node, c.table.DB, c.table.Name)
		}
		if s.Node == model {
			c.model, found = k, true
		}
	}
	if !found {
		return fmt.Errorf("node %s has no copy of it", model)
	}
	c.keys = c.copies[c.model].is.keys()
	return c.mayRepair()
}

// wholeMax is how long a server may take for a copy that is read at once.
const wholeMax = 10 * time.Minute

// rows runs a query about a part.
func (c *copyCheck) rows(one *oneCopy, sql string, columns int, row func([]string)) error {
	if c.keys != nil {
		return one.asking.rows(sql, columns, row)
	}
	if err := one.Net.SetDeadline(time.Now().Add(wholeMax)); err != nil {
		return err
	}
	return one.Rows(sql, columns, row)
}

func (c *copyCheck) close() {
	for _, one := range c.copies {
		one.close()
	}
}

// compare goes through the table.
func (c *copyCheck) compare(ctx context.Context) error {
	if c.keys == nil {
		c.part++
		return c.look(ctx, span{}, false)
	}
	var at span
	for last := false; !last; at.from = at.to {
		began := time.Now()
		c.part++
		var err error
		if at.to, err = c.bound(c.copies[c.model], at.from); err != nil {
			return err
		}
		if at.to, err = c.narrow(at); err != nil {
			return err
		}
		last = at.to == nil
		if err := c.look(ctx, at, false); err != nil {
			return err
		}
		if last {
			break
		}
		select {
		case <-time.After(min(time.Since(began), time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// Together, as rows of several parts may have exchanged a unique value.
	for together := range slices.Chunk(c.later, laterMax) {
		c.part++
		at := together[0]
		at.others = together[1:]
		if err := c.look(ctx, at, true); err != nil {
			return err
		}
	}
	return nil
}

// laterMax is how many parts that were put off are repaired together.
const laterMax = 16

// bound returns the key of the last row of a part behind from, as a copy has it; nil for one that has all that is left.
func (c *copyCheck) bound(one *oneCopy, from key) (to key, err error) {
	sql := "SELECT " + written(c.keys) + " FROM " + quoted(one.shard)
	if from != nil {
		sql += " WHERE " + after(c.keys, from)
	}
	sql += " ORDER BY " + names(c.keys) + " LIMIT 1 OFFSET " + strconv.Itoa(partRows-1)
	err = one.rows(sql, len(c.keys), func(row []string) { to = slices.Clone(row) })
	return to, err
}

// narrow ends a part earlier of which another copy has many more rows than the model.
func (c *copyCheck) narrow(at span) (key, error) {
	for {
		most, rows := c.copies[c.model], uint64(partRowsMax)
		for _, one := range c.copies {
			n := uint64(0)
			sql := "SELECT COUNT(*) FROM (SELECT 1 FROM " + quoted(one.shard) + c.where(at) + " LIMIT " + strconv.Itoa(partRowsMax+1) + ") AS ks_rows"
			if err := one.rows(sql, 1, func(row []string) { n, _ = strconv.ParseUint(row[0], 10, 64) }); err != nil {
				return nil, err
			}
			if n > rows {
				most, rows = one, n
			}
		}
		if rows <= partRowsMax {
			return at.to, nil
		}
		to, err := c.bound(most, at.from)
		if err != nil || to == nil {
			return to, err
		}
		at.to = to
	}
}

// where is the condition of a part's rows.
func (c *copyCheck) where(at span) string {
	var list []string
	for _, one := range append([]span{at}, at.others...) {
		switch {
		case one.from == nil && one.to == nil:
			return ""
		case one.from == nil:
			list = append(list, upTo(c.keys, one.to))
		case one.to == nil:
			list = append(list, after(c.keys, one.from))
		default:
			list = append(list, "("+after(c.keys, one.from)+" AND "+upTo(c.keys, one.to)+")")
		}
	}
	return " WHERE " + strings.Join(list, " OR ")
}

// partSum is what a copy has in a part.
type partSum struct {
	rows uint64
	sums [3]uint64
}

// share locks the rows that are read against changes until the transaction ends.
const share = " LOCK IN SHARE MODE"

// sumUp asks a copy for its sums in a part.
func (c *copyCheck) sumUp(one *oneCopy, at span, lock string) (s partSum, err error) {
	sql := "SELECT " + one.is.sums() + quoted(one.shard) + c.where(at)
	if c.keys != nil {
		sql += " LIMIT 18446744073709551615" // so that the server computes each row's checksum once
	}
	unknown := ""
	err = c.rows(one, sql+lock+") AS ks_rows", 4, func(row []string) {
		s.rows, _ = strconv.ParseUint(row[0], 10, 64)
		for k, text := range []string{row[1][:min(16, len(row[1]))], row[1][min(16, len(row[1])):]} {
			s.sums[k], _ = strconv.ParseUint(text, 16, 64)
		}
		s.sums[2], _ = strconv.ParseUint(row[2], 10, 64)
		unknown = row[3]
	})
	if err == nil && unknown != "0" {
		err = fmt.Errorf("%s rows have values that are too long for a checksum: raise max_allowed_packet", unknown)
	}
	return s, err
}

// look compares a part, and tells of copies that differ in it. again says that it was put off once.
func (c *copyCheck) look(ctx context.Context, at span, again bool) error {
	pause := lookPause
	for range looks {
		sums, err := c.sumsOf(at)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(sums, func(s partSum) bool { return s != sums[0] }) {
			if !again {
				c.add(sums)
			}
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause *= 4
	}
	return c.lookLocked(ctx, at, again)
}

// sumsOf asks all copies, one beside the other.
func (c *copyCheck) sumsOf(at span) ([]partSum, error) {
	sums, errs := make([]partSum, len(c.copies)), make([]error, len(c.copies))
	var asked sync.WaitGroup
	for k, one := range c.copies {
		asked.Go(func() {
			if sums[k], errs[k] = c.sumUp(one, at, ""); errs[k] != nil {
				errs[k] = fmt.Errorf("node %s: %w", one.shard.Node, errs[k])
			}
		})
	}
	asked.Wait()
	return sums, errors.Join(errs...)
}

// add adds a part's sums to those of the whole copies.
func (c *copyCheck) add(sums []partSum) {
	for k, one := range c.copies {
		one.sum.Rows += sums[k].rows
		one.sums[0] ^= sums[k].sums[0]
		one.sums[1] ^= sums[k].sums[1]
		one.sums[2] += sums[k].sums[2]
	}
}

// lookLocked compares a part whose rows are locked on all nodes, one after the other in the order in which changes lock them, too: so neither waits for the
// other in a circle, and what a change has done on the first one only has been done on all.
func (c *copyCheck) lookLocked(ctx context.Context, at span, again bool) error {
	for try := 1; ; try++ {
		err := c.underLocks(ctx, at, again)
		var refused *mysql.SQLError
		if !errors.As(err, &refused) || refused.Code != mysql.ERLockDeadlock && refused.Code != erLockWaitTimeout || try == lockTries {
			return err
		}
	}
}

// erLockWaitTimeout is the code of a lock that was not had in time. MySQL manual: "Server Error Message Reference".
const erLockWaitTimeout = 1205

func (c *copyCheck) underLocks(ctx context.Context, at span, again bool) (err error) {
	defer func() {
		for _, one := range c.copies {
			if ended := one.exec("ROLLBACK"); err == nil && ended != nil {
				err = ended
			}
		}
	}()
	sums := make([]partSum, len(c.copies))
	for k, one := range c.copies {
		if err := one.exec("BEGIN"); err != nil {
			return fmt.Errorf("node %s: %w", one.shard.Node, err)
		}
		lock := share
		if c.repair && k != c.model {
			lock = " FOR UPDATE"
		}
		if sums[k], err = c.sumUp(one, at, lock); err != nil {
			return fmt.Errorf("node %s: %w", one.shard.Node, err)
		}
	}
	for k, one := range c.copies {
		if sums[k] == sums[c.model] {
			continue
		}
		part, err := c.differ(one, at, sums[k].rows)
		if err != nil {
			return fmt.Errorf("node %s: %w", one.shard.Node, err)
		}
		if c.repair {
			err = c.mend(ctx, one, at, &part)
			if errors.Is(err, errLater) && !again {
				if err := one.exec("ROLLBACK"); err != nil {
					return err
				}
				if !slices.ContainsFunc(c.later, func(s span) bool { return slices.Equal(s.from, at.from) }) {
					c.later = append(c.later, at)
				}
				continue
			}
			if part.Repaired, part.Err = err == nil, err; err != nil {
				if err := one.exec("ROLLBACK"); err != nil {
					return err
				}
			}
		}
		one.note(&part.CopyPart)
		c.each(part.CopyPart)
		if part.Repaired {
			if again {
				one.swap(sums[k], sums[c.model])
			}
			sums[k] = sums[c.model]
		}
	}
	if !again {
		c.add(sums)
	}
	return nil
}

// note adds what was found of a part to what is known of the whole copy.
func (one *oneCopy) note(part *CopyPart) {
	one.sum.Missing += part.Missing
	one.sum.Extra += part.Extra
	one.sum.Other += part.Other
	one.left = one.left || !part.Repaired
	one.sum.Repaired = !one.left
}

// swap takes the sums of a part that is not any more out of those of the copy, and others in.
func (one *oneCopy) swap(old, now partSum) {
	one.sum.Rows += now.rows - old.rows
	one.sums[0] ^= old.sums[0] ^ now.sums[0]
	one.sums[1] ^= old.sums[1] ^ now.sums[1]
	one.sums[2] += now.sums[2] - old.sums[2]
}
