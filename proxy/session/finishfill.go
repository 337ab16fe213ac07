package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// fill makes the scratch tables and collects their rows.
func (f *finishing) fill() (err error) {
	var back func(error) error
	defer func() {
		if back != nil {
			err = back(err)
		}
	}()
	if f.ex != nil && f.plan.Mode != f.s.client.mode() {
		return preparedOtherwise()
	}
	if err := f.describe(); err != nil {
		return err
	}
	scratches := f.route.Scratch
	if f.aside && f.route.Describe == nil {
		for _, s := range f.route.Rest {
			if s.Ref.Parsed.At.Empty() {
				return refuse("where the text names the table " + s.Ref.Parsed.Name + " is not clear: write the name in backticks")
			}
		}
		scratches = append(slices.Clone(scratches), f.route.Rest...)
	}
	order := f.reduce(scratches)
	if err := order.fits(); err != nil {
		return err
	}
	for k := range scratches {
		scratch, err := order.next()
		if err != nil {
			return err
		}
		name := "ks_scratch_" + strconv.Itoa(k)
		mode := f.plan.Mode
		db, ok := sqltext.QuoteIdent(scratch.Ref.Table.DB, mode)
		if !ok {
			return unreadableName()
		}
		table := db + "." + name
		f.names[scratch.Ref] = name
		list, target := nameList(scratch.Columns, mode), ""
		if target = " (" + list + ")"; list == "" {
			list, target = "*", ""
		}
		run := f.exec
		if k == 0 {
			run = f.begin
		}
		if err := run("DROP TEMPORARY TABLE IF EXISTS " + table); err != nil {
			return err
		}
		like := "SELECT " + list + " FROM " + scratch.Model
		if scratch.Plain != nil {
			like = "SELECT " + list + " FROM " + table + "_model"
			if err := f.model(scratch, table+"_model"); err != nil {
				return named(err, renames(f.plan, scratch.Ref.Table.Shards))
			}
			f.made = append(f.made, table+"_model")
		}
		if scratch.Like != nil {
			var err error
			if like, err = f.literals(scratch.Like); err != nil {
				return err
			}
		}
		f.s.effects.reachOn(f.last, like)
		if err := f.exec("CREATE TEMPORARY TABLE " + table + keysOf(scratch, mode) + " IGNORE AS " + like + " LIMIT 0"); err != nil {
			return named(err, renames(f.plan, scratch.Ref.Table.Shards))
		}
		f.made = append(f.made, table)
		documents := f.documents(scratch)
		if len(documents) > 0 && back == nil {
			// Rows that the table has are not checked again: under IGNORE those that fail would be left out.
			if back, err = f.s.shards.setAside(f.last.Pooled, "check_constraint_checks", "0"); err != nil {
				return err
			}
		}
		if err := f.complete(table, scratch.Invisible, documents); err != nil {
			return err
		}
		into := "INSERT IGNORE INTO " + table + target + " "
		before := f.limits.bytes
		queries, reduced, err := order.queries(scratch)
		if err != nil {
			return named(err, renames(f.plan, scratch.Ref.Table.Shards))
		}
		for i := range queries {
			query := queries[i]
			if reduced && f.ex != nil { // the text is of this execution alone, and not to be prepared
				if query.Text, err = f.literals(&query); err != nil {
					return err
				}
				if query.Moved != "" {
					moved := query
					moved.Text = query.Moved
					if query.Moved, err = f.literals(&moved); err != nil {
						return err
					}
				}
				query.Args = nil
			}
			err := f.gathers(into, &query, scratch)
			f.noteLarge(scratch, f.limits.bytes-before)
			if err != nil {
				return named(err, renames(f.plan, query.Shards))
			}
		}
		order.there[scratch.Ref] = table
		if err := f.copies(scratch, name); err != nil {
			return err
		}
	}
	return nil
}

// copies makes the copies of a scratch table, which is full.
func (f *finishing) copies(scratch *plan.Scratch, name string) (err error) {
	if scratch.Copies < 1 {
		return nil
	}
	restore, err := f.s.shards.setAside(f.last.Pooled, "time_zone", utc) // or TIMESTAMPs may go as local times
	if err != nil {
		return err
	}
	defer func() { err = restore(err) }()
	db, _ := sqltext.QuoteIdent(scratch.Ref.Table.DB, f.plan.Mode)
	target, list := "", "*"
	if len(scratch.Columns) > 0 {
		list = nameList(scratch.Columns, f.plan.Mode)
		target = " (" + list + ")"
	}
	for k := 1; k <= scratch.Copies; k++ {
		table := db + "." + plan.CopyName(name, k)
		if err := f.exec("DROP TEMPORARY TABLE IF EXISTS " + table); err != nil {
			return err
		}
		if err := f.exec("CREATE TEMPORARY TABLE " + table + " LIKE " + db + "." + name); err != nil {
			return err
		}
		f.made, f.copied[scratch.Ref] = append(f.made, table), k
		if err := f.exec("INSERT IGNORE INTO " + table + target + " SELECT " + list + " FROM " + db + "." + name); err != nil {
			return err
		}
	}
	return nil
}

// keysOf writes the keys of a scratch table, "" for none.
func keysOf(scratch *plan.Scratch, mode sqltext.Mode) string {
	var list []string
	if len(scratch.Key) > 0 {
		list = append(list, "PRIMARY KEY ("+nameList(scratch.Key, mode)+")")
	}
	for _, columns := range scratch.Indexes {
		list = append(list, "KEY ("+nameList(columns, mode)+")")
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// named gives an error of a server the names that the client knows.
func named(err error, names []mysql.TableName) error {
	var sqlErr *mysql.SQLError
	if !errors.As(err, &sqlErr) {
		return err
	}
	e := *sqlErr
	mysql.RenameError(&e, names)
	return &e
}

// nameList writes the names of columns, with which the plan was made, as identifiers with commas between them.
func nameList(names []string, mode sqltext.Mode) string {
	var b strings.Builder
	for k, name := range names {
		if k > 0 {
			b.WriteString(", ")
		}
		text, _ := sqltext.QuoteIdent(name, mode)
		b.WriteString(text)
	}
	return b.String()
}

// describe asks for the columns of the result where the final statement's own are others.
func (f *finishing) describe() error {
	query := f.route.Describe
	if query == nil {
		return nil
	}
	if err := f.s.shards.sendTo(f.last, query.Text, query.Args, f.ex); err != nil {
		return err
	}
	names := renames(f.plan, query.Shards)
	var err error
	f.definitions, err = f.last.Conn.ReadColumns()
	f.last.Ended(err)
	if err != nil {
		return named(err, names)
	}
	for k := range f.definitions {
		f.definitions[k].Rename(names)
	}
	return nil
}
