package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// routeCommand prints where keys of a table are.
var routeCommand = command{
	name: "route", args: "DB.TABLE KEY...", summary: "the sub-tables of keys",
	about: `Shows the sub-table of each key; without a key, all of the table's. A whole number is one, anything else is text; put quotes
inside the argument for a text of digits: "'0042'". Of a key with several columns, give the values of all, key after key. No
server is asked. Exit status: 0 every key has a place, 1 one has none or the configuration is not valid, 2 wrong arguments.`,
	bind: func(set *flag.FlagSet) func([]string) int { return bindSchema(set).route },
}

func (f *schemaFlags) route(args []string) int {
	var table string
	if len(args) > 0 {
		table = args[0]
	}
	db, name, ok := strings.Cut(table, ".")
	if !ok || db == "" || name == "" {
		fmt.Fprintln(os.Stderr, "kingshard route: give a table as db.table, behind the flags")
		return 2
	}
	r, code := f.router()
	if r == nil {
		return code
	}
	t := r.Table(db, name)
	if t == nil {
		fmt.Fprintf(os.Stderr, "kingshard route: no rule is about %s.%s: it is whole on the default node %s\n", db, name, r.Default())
		return 1
	}
	keys := args[1:]
	if len(keys) == 0 || t.Kind != router.Sharded {
		printShards(t)
		return 0
	}
	if len(keys)%len(t.Keys) != 0 {
		fmt.Fprintf(os.Stderr, "kingshard route: a key of %s.%s has %d values (%s); %d are given\n", db, name, len(t.Keys), strings.Join(t.Keys, ", "), len(keys))
		return 2
	}
	return printPlaces(t, keys)
}

// printShards lists the sub-tables of a table.
func printShards(t *router.Table) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "shard\tnode\ttable")
	for k, s := range t.Shards {
		fmt.Fprintf(w, "%d\t%s\t%s.%s\n", k, s.Node, s.DB, s.Table)
	}
	_ = w.Flush()
}

// printPlaces lists the sub-table of each key.
func printPlaces(t *router.Table, keys []string) (code int) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "key\tshard\tnode\ttable")
	var failures []error
	for len(keys) > 0 {
		texts := keys[:len(t.Keys)]
		keys = keys[len(t.Keys):]
		var key []value.Value
		for _, text := range texts {
			key = append(key, keyValue(text))
		}
		// Columns are not known here; all text is placed as it is written.
		position, err := t.Place(key, make([]rule.Column, len(key)))
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", strings.Join(texts, ","), err))
			continue
		}
		s := t.Shards[position]
		fmt.Fprintf(w, "%s\t%d\t%s\t%s.%s\n", strings.Join(texts, ","), position, s.Node, s.DB, s.Table)
	}
	_ = w.Flush()
	if err := errors.Join(failures...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// keyValue reads a key as it would stand in a statement, quotes around text left out.
func keyValue(text string) value.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value.NewInt(n)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return value.NewUint(n)
	}
	if len(text) > 1 && text[0] == '\'' && text[len(text)-1] == '\'' {
		text = text[1 : len(text)-1]
	}
	return value.NewString(text)
}
