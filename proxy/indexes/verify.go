package indexes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kingshard/router"
)

// Found is what a verification found of an index.
type Found struct {
	Rows, Entries uint64
	// Lacking are rows without their entry, or of a combination whose entry counts others than there are; Stale are entries without a row; Twice are
	// rows with a value that another row has.
	Lacking, Stale, Twice uint64
	// Examples are the first few of them.
	Examples []string
}

// examplesMax is how many are told of.
const examplesMax = 5

func (f *Found) add(n *uint64, text string) {
	*n++
	if len(f.Examples) < examplesMax {
		f.Examples = append(f.Examples, text)
	}
}

// Verify compares the rows of a table with the entries of an index that is built, each batch without locks, and what does not agree once more with them.
// With repair it writes entries that are lacking and deletes those without a row.
func (s *States) Verify(ctx context.Context, x *router.Index, o Options, repair bool) (*Found, error) {
	j, err := s.begin(ctx, x, o)
	if err != nil {
		return nil, err
	}
	defer j.end()
	if state := s.Record(x).State; state != Built {
		return nil, fmt.Errorf("the index %s of %s.%s is %s: KS INDEX BUILD first", x.Name, x.Table.DB, x.Table.Name, state)
	}
	found := &Found{}
	for _, shard := range x.Table.Shards {
		if err := j.verifyRows(shard, found, repair); err != nil {
			return found, err
		}
	}
	for _, shard := range x.Lookup.Shards {
		if err := j.verifyEntries(shard, found, repair); err != nil {
			return found, err
		}
	}
	return found, j.verified(found, repair)
}

// verified stores what was found and is left.
func (j *job) verified(found *Found, repaired bool) error {
	faults := found.Twice
	if !repaired {
		faults += found.Lacking + found.Stale
	}
	_ = j.meta.Net.SetDeadline(time.Now().Add(askTimeout))
	err := j.meta.Exec(fmt.Sprintf("UPDATE %s SET faults = %d%s AND state = 'built'", table, faults, row(j.x, folds(j.o.Nodes[j.x.Table.Nodes[0]]))))
	if err != nil {
		return err
	}
	return j.s.Ask(j.links.ctx, j.x.Table, j.o.Nodes)
}

// verifyRows looks for the entries of the rows of a sub-table.
func (j *job) verifyRows(s router.Shard, found *Found, repair bool) error {
	c, f, err := j.open(s)
	if err != nil || f == nil {
		return err
	}
	var after []string
	for {
		lines, err := f.read(c, s, after, batchRows)
		if err != nil {
			return err
		}
		byPlace, err := j.entries(c, f, s, lines)
		if err != nil {
			return err
		}
		suspects, _, err := j.compare(f, byPlace, false)
		if err != nil {
			return err
		}
		for _, one := range suspects {
			if err := j.verifyRow(f, s, one.line, found, repair); err != nil {
				return err
			}
		}
		if c, err = j.links.to(s.Node); err != nil {
			return err
		}
		found.Rows += uint64(len(lines))
		if len(lines) < batchRows {
			return nil
		}
		after = lines[len(lines)-1].order
		if err := j.links.ctx.Err(); err != nil {
			return err
		}
	}
}

// verifyRow looks again for the entry of a row, which cannot change meanwhile.
func (j *job) verifyRow(f *shape, s router.Shard, l *line, found *Found, repair bool) error {
	var lacking []*wanted
	var twice *Duplicate
	err := j.links.atomically(s.Node, func() error {
		lacking, twice = nil, nil
		c, err := j.links.begun(s.Node)
		if err != nil {
			return err
		}
		lines, err := f.where(c, s, equal(f.order, l.order))
		if err != nil {
			return err
		}
		clear(j.counted)
		byPlace, err := j.entries(c, f, s, lines)
		if err != nil {
			return err
		}
		for table := range byPlace {
			if _, err := j.links.begun(table.Node); err != nil {
				return err
			}
		}
		lacking, twice, err = j.compare(f, byPlace, repair)
		if err == nil && !repair && len(lacking) > 0 && j.x.Unique {
			twice, err = j.other(f, lacking[0])
		}
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case twice != nil:
		found.add(&found.Twice, twice.Error())
	case len(lacking) > 0:
		found.add(&found.Lacking, "the row with "+shown(f.keys, l.keys)+" has not its entry with "+shown(f.columns, l.columns))
	}
	return nil
}

// other finds the row that has the entry of a row's value.
func (j *job) other(f *shape, one *wanted) (*Duplicate, error) {
	c, err := j.links.begun(one.place.Node)
	if err != nil {
		return nil, err
	}
	absent, err := c.lacking(quoted(one.place), []string{equal(f.columns, one.columns)})
	if err != nil || len(absent) > 0 {
		return nil, err
	}
	other, err := j.holder(c, f, one.place, one)
	if err != nil {
		return nil, err
	}
	there, err := j.there(f, other)
	if err != nil || !there {
		return nil, err
	}
	return &Duplicate{Index: j.x, Values: shown(f.columns, one.columns), One: shown(f.keys, other.keys), Other: shown(f.keys, one.keys)}, nil
}

// verifyEntries looks for the rows of the entries of a table that keeps the index.
func (j *job) verifyEntries(s router.Shard, found *Found, repair bool) error {
	c, err := j.links.to(s.Node)
	if err != nil {
		return err
	}
	d, err := Describe(c.Conn, s)
	if err == nil && len(d.Columns) == 0 {
		err = fmt.Errorf("%s, which keeps the index %s, is not there", s, j.x.Name)
	}
	if err != nil {
		return err
	}
	f, err := shapeOf(c, j.x, s, d)
	if err != nil {
		return err
	}
	var after []string
	for {
		if c, err = j.links.to(s.Node); err != nil {
			return err
		}
		lines, err := f.read(c, s, after, batchRows)
		if err != nil {
			return err
		}
		suspects, err := j.stale(f, s, lines)
		if err != nil {
			return err
		}
		for _, l := range suspects {
			if err := j.verifyEntry(f, s, l, found, repair); err != nil {
				return err
			}
		}
		found.Entries += uint64(len(lines))
		if len(lines) < batchRows {
			return nil
		}
		after = lines[len(lines)-1].order
		if err := j.links.ctx.Err(); err != nil {
			return err
		}
	}
}

// misplaced reports whether an entry is in another table than it is looked for in.
func (j *job) misplaced(f *shape, s router.Shard, l *line) bool {
	place, err := f.placeOf(j.x, l)
	return err != nil || place != s
}

// stale returns the entries without a row, with a key that no row has, or where nobody looks for them.
func (j *job) stale(f *shape, s router.Shard, lines []line) (stale []*line, err error) {
	byOwner := map[router.Shard][]*line{}
	for k := range lines {
		if owner, err := f.ownerOf(j.x, &lines[k]); err != nil || j.misplaced(f, s, &lines[k]) {
			stale = append(stale, &lines[k])
		} else {
			byOwner[owner] = append(byOwner[owner], &lines[k])
		}
	}
	for owner, all := range byOwner {
		c, err := j.links.to(owner.Node)
		if err != nil {
			return nil, err
		}
		conditions := make([]string, len(all))
		for k, l := range all {
			conditions[k] = equal(f.columns, l.columns) + " AND " + equal(f.keys, l.keys)
		}
		numbers, err := c.lacking(quoted(owner), conditions)
		if err != nil {
			return nil, err
		}
		for _, k := range numbers {
			stale = append(stale, all[k])
		}
	}
	return stale, nil
}

// verifyEntry looks again for the row of an entry, which cannot come meanwhile.
func (j *job) verifyEntry(f *shape, s router.Shard, l *line, found *Found, repair bool) error {
	last, gone := s.Node, false
	if owner, err := f.ownerOf(j.x, l); err == nil {
		last = owner.Node
	}
	err := j.links.atomically(last, func() error {
		gone = false
		there, err := j.there(f, l)
		if err != nil || there && !j.misplaced(f, s, l) {
			return err
		}
		c, err := j.links.begun(s.Node)
		if err != nil {
			return err
		}
		entry := equal(f.columns, l.columns) + " AND " + equal(f.keys, l.keys)
		absent, err := c.lacking(quoted(s), []string{entry})
		if gone = len(absent) == 0; err != nil || !gone || !repair {
			return err
		}
		return c.run("DELETE FROM " + quoted(s) + " WHERE " + entry)
	})
	if err == nil && gone {
		found.add(&found.Stale, "the entry with "+shown(slices.Concat(f.columns, f.keys), slices.Concat(l.columns, l.keys))+" in "+s.String()+" has no row, or is not looked for there")
	}
	return err
}
