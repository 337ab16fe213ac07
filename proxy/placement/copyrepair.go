package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql"
)

// keylessRowsMax is how many rows a copy may have that is repaired without a primary key: as a whole.
const keylessRowsMax = 10_000

// differing is how a copy differs from the model in a part.
type differing struct {
	CopyPart
	missing, extra, other []key
}

// differ finds the rows by which a copy differs from the model.
func (c *copyCheck) differ(one *oneCopy, at span, rows uint64) (d differing, err error) {
	d.CopyPart = CopyPart{Shard: one.shard, Part: c.part, Rows: rows}
	model := c.copies[c.model]
	if c.keys == nil {
		return d, c.differKeyless(one, &d)
	}
	has := map[string]string{}
	if err := c.rowsOf(model, at, func(k key, row string) { has[strings.Join(k, ",")] = row }); err != nil {
		return d, err
	}
	err = c.rowsOf(one, at, func(k key, row string) {
		text := strings.Join(k, ",")
		switch want, ok := has[text]; {
		case !ok:
			d.extra = append(d.extra, k)
		case want != row:
			d.other = append(d.other, k)
		}
		delete(has, text)
	})
	if err != nil {
		return d, err
	}
	for text := range has {
		d.missing = append(d.missing, strings.Split(text, ","))
	}
	slices.SortFunc(d.missing, slices.Compare)
	for _, kind := range []struct {
		name string
		keys []key
		n    *uint64
	}{{"missing", d.missing, &d.Missing}, {"extra", d.extra, &d.Extra}, {"other", d.other, &d.Other}} {
		*kind.n = uint64(len(kind.keys))
		for _, k := range kind.keys[:min(len(kind.keys), keysMax)] {
			d.Keys = append(d.Keys, kind.name+" "+shown(c.keys, k))
		}
	}
	return d, nil
}

// rowsOf gives the keys and checksums of the rows of a part.
func (c *copyCheck) rowsOf(one *oneCopy, at span, each func(k key, row string)) error {
	return one.rows("SELECT "+written(c.keys)+", "+one.is.row()+" FROM "+quoted(one.shard)+c.where(at)+" ORDER BY "+names(c.keys)+share, len(c.keys)+1, func(row []string) {
		n := len(c.keys)
		each(slices.Clone(row[:n]), row[n])
	})
}

// differKeyless counts rows of a table without a primary key, of which there may be several alike.
func (c *copyCheck) differKeyless(one *oneCopy, d *differing) error {
	n := map[string]int{}
	for sign, from := range map[int]*oneCopy{1: c.copies[c.model], -1: one} {
		err := c.rows(from, "SELECT "+from.is.row()+" AS ks_row, COUNT(*) FROM "+quoted(from.shard)+" GROUP BY ks_row", 2, func(row []string) {
			var times int
			_, _ = fmt.Sscan(row[1], &times)
			if n[row[0]] += sign * times; n[row[0]] == 0 {
				delete(n, row[0])
			}
		})
		if err != nil {
			return err
		}
	}
	for _, times := range n {
		d.Missing += uint64(max(times, 0))
		d.Extra += uint64(max(-times, 0))
	}
	return nil
}

// mayRepair refuses a repair of copies that would do more than that.
func (c *copyCheck) mayRepair() error {
	if !c.repair {
		return nil
	}
	for k, one := range c.copies {
		if k == c.model {
			continue
		}
		triggers := ""
		where := "event_object_schema = " + literal(one.shard.DB) + " AND event_object_table = " + literal(one.shard.Table)
		if err := one.asking.rows("SELECT trigger_name FROM information_schema.triggers WHERE "+where, 1, func(row []string) { triggers = row[0] }); err != nil {
			return err
		}
		if triggers != "" {
			return fmt.Errorf("%s on node %s has the trigger %s, which a repair would fire: drop it as long as the repair takes", name(one.shard), one.shard.Node, triggers)
		}
		where = "unique_constraint_schema = " + literal(one.shard.DB) + " AND referenced_table_name = " + literal(one.shard.Table)
		sql := "SELECT constraint_schema, table_name FROM information_schema.referential_constraints WHERE " + where + " AND delete_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT')"
		if err := one.asking.rows(sql, 2, func(row []string) { one.cascades = row[0] + "." + row[1] }); err != nil {
			return err
		}
	}
	if c.keys == nil {
		for _, one := range c.copies {
			many := false
			if err := one.asking.rows(fmt.Sprintf("SELECT 1 FROM %s LIMIT 1 OFFSET %d", quoted(one.shard), keylessRowsMax), 1, func([]string) { many = true }); err != nil {
				return err
			}
			if many {
				return fmt.Errorf("it has no primary key by which rows are told apart, and more than %d rows: give it one by ALTER TABLE, or copy it with mysqldump while nobody changes it", keylessRowsMax)
			}
		}
	}
	return nil
}

// errLater says that a part is to be repaired behind others.
var errLater = errors.New("a row of another part has a value that must be there once")

// mend makes a part of a copy as the model's is, and commits that. Its rows are locked on all nodes.
func (c *copyCheck) mend(ctx context.Context, one *oneCopy, at span, d *differing) error {
	if c.keys == nil {
		return c.mendKeyless(ctx, one)
	}
	if err := c.remove(one, d.extra); err != nil {
		return err
	}
	add := slices.Clone(d.missing)
	var columns []copyColumn
	for _, col := range one.is.columns {
		if !col.generated {
			columns = append(columns, col)
		}
	}
	for batch := range slices.Chunk(d.other, rowsAtOnce) {
		err := c.copyRows(ctx, batch, columns, func(values []string) error {
			set := make([]string, len(columns))
			var k key
			for i, col := range columns {
				set[i] = quote(col.name) + " = " + values[i]
			}
			for _, col := range c.keys {
				i := slices.IndexFunc(columns, func(x copyColumn) bool { return x.name == col.name })
				k = append(k, quote(col.name)+" = "+values[i])
			}
			return one.exec("UPDATE " + quoted(one.shard) + " SET " + strings.Join(set, ", ") + " WHERE " + strings.Join(k, " AND "))
		})
		var refused *mysql.SQLError
		switch {
		case errors.As(err, &refused) && refused.Code == mysql.ERDupEntry:
			// Rows that exchange a unique value: none of them may be there while another one gets it.
			if err := c.remove(one, batch); err != nil {
				return err
			}
			add = append(add, batch...)
		case err != nil:
			return err
		}
	}
	for batch := range slices.Chunk(add, rowsAtOnce) {
		in := insertion{one: one, columns: columns}
		err := c.copyRows(ctx, batch, columns, in.add)
		if err == nil {
			err = in.send()
		}
		var refused *mysql.SQLError
		if errors.As(err, &refused) && refused.Code == mysql.ERDupEntry {
			return fmt.Errorf("%w: %w", errLater, err)
		}
		if err != nil {
			return err
		}
	}
	now, err := c.sumUp(one, at, share)
	if err != nil {
		return err
	}
	want, err := c.sumUp(c.copies[c.model], at, share)
	if err == nil && now != want {
		err = errors.New("the server makes other rows of the model's values")
	}
	if err != nil {
		return err
	}
	return one.exec("COMMIT")
}

// rowsAtOnce is how many rows are asked for and written at a time.
const rowsAtOnce = 50

// remove deletes rows.
func (c *copyCheck) remove(one *oneCopy, keys []key) error {
	if len(keys) > 0 && one.cascades != "" {
		return fmt.Errorf("rows would have to be deleted, and with them those of %s, whose foreign key says so: delete or insert these rows by hand", one.cascades)
	}
	for batch := range slices.Chunk(keys, rowsAtOnce) {
		list := make([]string, len(batch))
		for i, k := range batch {
			list[i] = at(c.keys, k)
		}
		if err := one.exec("DELETE FROM " + quoted(one.shard) + " WHERE " + strings.Join(list, " OR ")); err != nil {
			return err
		}
	}
	return nil
}

// copyRows reads rows of the model by their keys and gives the values of columns, as literals.
func (c *copyCheck) copyRows(ctx context.Context, keys []key, columns []copyColumn, row func(values []string) error) error {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = at(c.keys, k)
	}
	return c.values(ctx, " WHERE "+strings.Join(list, " OR "), columns, row)
}

// values gives the rows of the model that meet a condition.
func (c *copyCheck) values(ctx context.Context, where string, columns []copyColumn, row func(values []string) error) error {
	model := c.copies[c.model]
	var rows [][]string
	list := make([]string, len(columns))
	for i, col := range columns {
		// A text that is no NULL begins with a mark.
		list[i] = "IFNULL(CONCAT('=', " + col.written() + "), '')"
	}
	if err := model.rows("SELECT "+strings.Join(list, ", ")+" FROM "+quoted(model.shard)+where+share, len(columns), func(cells []string) { rows = append(rows, slices.Clone(cells)) }); err != nil {
		return err
	}
	for _, cells := range rows {
		for i, col := range columns {
			text, is := strings.CutPrefix(cells[i], "=")
			if cells[i] = "NULL"; is {
				cells[i] = col.literal(text)
			}
		}
		if err := row(cells); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// mendKeyless makes a small copy without a primary key anew.
func (c *copyCheck) mendKeyless(ctx context.Context, one *oneCopy) error {
	if one.cascades != "" {
		return fmt.Errorf("its rows would have to be deleted, and with them those of %s, whose foreign key says so", one.cascades)
	}
	if err := one.exec("DELETE FROM " + quoted(one.shard)); err != nil {
		return err
	}
	var columns []copyColumn
	for _, col := range one.is.columns {
		if !col.generated {
			columns = append(columns, col)
		}
	}
	in := insertion{one: one, columns: columns}
	if err := c.values(ctx, "", columns, in.add); err != nil {
		return err
	}
	if err := in.send(); err != nil {
		return err
	}
	return one.exec("COMMIT")
}

// insertion inserts rows, several by one statement as long as that is short.
type insertion struct {
	one     *oneCopy
	columns []copyColumn
	text    strings.Builder
}

// insertMax is how long the text of an insertion gets, in bytes, unless one row is longer.
const insertMax = 256 << 10

func (in *insertion) add(values []string) error {
	if in.text.Len() > 0 {
		in.text.WriteString(", ")
	}
	in.text.WriteString("(" + strings.Join(values, ", ") + ")")
	if in.text.Len() < insertMax {
		return nil
	}
	return in.send()
}

func (in *insertion) send() error {
	if in.text.Len() == 0 {
		return nil
	}
	defer in.text.Reset()
	return in.one.exec("INSERT INTO " + quoted(in.one.shard) + " (" + names(in.columns) + ") VALUES " + in.text.String())
}
