package indexes

import (
	"errors"
	"fmt"
	"strings"

	"kingshard/mysql"
	"kingshard/router"
)

// Duplicate says that two rows have the same values in the columns of a unique index.
type Duplicate struct {
	Index *router.Index
	// Values are those of the index, Entry the same as servers have them in error 1062; One and Other the sharding keys of the rows.
	Values, Entry, One, Other string
}

// Error names the values and the rows.
func (d *Duplicate) Error() string {
	return fmt.Sprintf("the rows with %s and with %s of %s.%s both have %s, of which the index %s is to have each value once", d.One, d.Other, d.Index.Table.DB, d.Index.Table.Name, d.Values, d.Index.Name)
}

// wanted is the entry that rows have to have.
type wanted struct {
	*line
	place router.Shard
	rows  string // how many rows have the combination; "" of a unique index
}

// combination is what an entry is of.
func (l *line) combination() string {
	return strings.Join(l.columns, ",") + ";" + strings.Join(l.keys, ",")
}

// condition is met by the entry as it has to be.
func (w *wanted) condition(f *shape) string {
	text := equal(f.columns, w.columns) + " AND " + equal(f.keys, w.keys)
	if w.rows != "" {
		text += " AND " + quote(router.RowsColumn) + " = " + w.rows
	}
	return text
}

// entries are those that rows of a sub-table have to have, by where.
func (j *job) entries(c *link, f *shape, s router.Shard, lines []line) (map[router.Shard][]*wanted, error) {
	byPlace := map[router.Shard][]*wanted{}
	var all []*wanted
	seen := map[string]bool{}
	for k := range lines {
		l := &lines[k]
		if l.null {
			continue
		}
		if !j.x.Unique {
			combination := l.combination()
			if seen[combination] || j.counted[combination] {
				continue
			}
			seen[combination] = true
		}
		place, err := f.placeOf(j.x, l)
		if err != nil {
			return nil, err
		}
		one := &wanted{line: l, place: place}
		all, byPlace[place] = append(all, one), append(byPlace[place], one)
	}
	if j.x.Unique || len(all) == 0 {
		return byPlace, nil
	}
	var b strings.Builder
	for k, one := range all {
		if k > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT " + itoa(k) + ", COUNT(*) FROM " + quoted(s) + " WHERE " + equal(f.columns, one.columns) + " AND " + equal(f.keys, one.keys))
	}
	err := c.Rows(b.String(), 2, func(row []string) { all[atoi(row[0])].rows = row[1] })
	return byPlace, err
}

// mend writes the entries that are lacking, and returns those that another row has the values of.
func (j *job) mend(c *link, f *shape, table router.Shard, lacking []*wanted) (*Duplicate, error) {
	for _, one := range lacking {
		names, values := list(append(append([]string{}, f.columns...), f.keys...)), strings.Join(append(append([]string{}, one.columns...), one.keys...), ", ")
		text := "INSERT INTO " + quoted(table) + " (" + names + ") VALUES (" + values + ")"
		if !j.x.Unique {
			text = "INSERT INTO " + quoted(table) + " (" + names + ", " + quote(router.RowsColumn) + ") VALUES (" + values + ", " + one.rows + ") ON DUPLICATE KEY UPDATE " + quote(router.RowsColumn) + " = " + one.rows
		}
		err := c.run(text)
		var refused *mysql.SQLError
		if !errors.As(err, &refused) || refused.Code != erDupEntry {
			if err != nil {
				return nil, err
			}
			continue
		}
		other, err := j.holder(c, f, table, one)
		if err != nil {
			return nil, err
		}
		there, err := j.there(f, other)
		if err != nil {
			return nil, err
		}
		if there {
			return &Duplicate{Index: j.x, Values: shown(f.columns, one.columns), Entry: entryOf(one.columns), One: shown(f.keys, other.keys), Other: shown(f.keys, one.keys)}, nil
		}
		// The entry is of a row that is gone.
		var sets []string
		for k, name := range append(append([]string{}, f.columns...), f.keys...) {
			sets = append(sets, quote(name)+" = "+append(append([]string{}, one.columns...), one.keys...)[k])
		}
		if err := c.run("UPDATE " + quoted(table) + " SET " + strings.Join(sets, ", ") + " WHERE " + equal(f.columns, one.columns)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// holder reads the entry that has the values of another one.
func (j *job) holder(c *link, f *shape, table router.Shard, of *wanted) (*line, error) {
	entries := *f
	entries.order = nil
	entries.definitions = f.definitions[len(f.order):]
	var found *line
	lines, err := entries.where(c, table, equal(f.columns, of.columns))
	if err == nil && len(lines) > 0 {
		found = &lines[0]
	}
	if err == nil && found == nil {
		err = fmt.Errorf("an entry of %s with %s is there and is not", table, shown(f.columns, of.columns))
	}
	return found, err
}

// there reports whether a row of an entry is there.
func (j *job) there(f *shape, entry *line) (bool, error) {
	s, err := f.ownerOf(j.x, entry)
	if err != nil {
		return false, nil // no row has such a key
	}
	c, err := j.links.begun(s.Node)
	if err != nil {
		return false, err
	}
	gone, err := c.lacking(quoted(s), []string{equal(f.columns, entry.columns) + " AND " + equal(f.keys, entry.keys)})
	return len(gone) == 0, err
}
