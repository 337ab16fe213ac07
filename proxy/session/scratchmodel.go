package session

import (
	"regexp"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// model makes the model of a scratch table where the statement ends: an empty temporary table like the one that is on another node only.
func (f *finishing) model(scratch *plan.Scratch, table string) error {
	inside, err := definitionOf(f.s.shards, txn.Find(f.loans, scratch.Plain.Node).Pooled, *scratch.Plain)
	if err != nil {
		return err
	}
	return inOneMode(f.s.shards, f.last.Pooled, func() error {
		if err := f.exec("DROP TEMPORARY TABLE IF EXISTS " + table); err != nil {
			return err
		}
		return f.exec("CREATE TEMPORARY TABLE " + table + " " + inside)
	})
}

// definitionOf asks a connection to the node of a table for its columns and indexes.
func definitionOf(sh *shards, p backend.Pooled, of router.Shard) (inside string, err error) {
	shown := ""
	err = inOneMode(sh, p, func() error {
		return p.Conn.Rows("SHOW CREATE TABLE "+plainName(of.DB, of.Table), 2, func(row []string) { shown = row[1] })
	})
	if err != nil {
		return "", err
	}
	inside, ok := withoutConstraints(shown)
	if !ok {
		return "", newError(KSRefusedSharding, "the tables of the statement are on several nodes: "+of.Table+" is on "+of.Node+", and no table that could be collected")
	}
	return inside, nil
}

// inOneMode has definitions of tables be told and read in one way on a connection, whatever the session has set.
func inOneMode(sh *shards, p backend.Pooled, do func() error) (err error) {
	var back []func(error) error
	defer func() {
		for _, restore := range slices.Backward(back) {
			err = restore(err)
		}
	}()
	for _, v := range [...]variableValue{{"sql_mode", "''"}, {"character_set_results", "NULL"}, {"character_set_client", "'utf8mb4'"}} {
		restore, err := sh.setAside(p, v.name, v.value)
		if err != nil {
			return err
		}
		back = append(back, restore)
	}
	return do()
}

// defaultCharset is what the columns have that say nothing of their characters.
var defaultCharset = regexp.MustCompile(`^\).*?( DEFAULT CHARSET=\w+(?: COLLATE=\w+)?)`)

// withoutConstraints gives the columns and indexes of what SHOW CREATE TABLE shows, each of which has a line, as a temporary table may have them. ok is false
// for what is no table. MySQL manual: "CREATE TEMPORARY TABLE Statement".
func withoutConstraints(shown string) (inside string, ok bool) {
	if !strings.HasPrefix(shown, "CREATE TABLE ") {
		return "", false
	}
	var list []string
	for line := range strings.Lines(shown) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "  `"), strings.HasPrefix(line, "  KEY "), strings.HasPrefix(line, "  PRIMARY KEY "), strings.HasPrefix(line, "  UNIQUE KEY "):
			list = append(list, strings.TrimSuffix(line, ","))
		case strings.HasPrefix(line, ")"):
			charset := ""
			if m := defaultCharset.FindStringSubmatch(line); m != nil {
				charset = m[1]
			}
			return "(\n" + strings.Join(list, ",\n") + "\n)" + charset, len(list) > 0
		}
	}
	return "", false
}

// plainName writes the name of a physical table in backticks, whatever the client's mode is.
func plainName(db, table string) string {
	d, _ := sqltext.QuoteIdent(db, sqltext.Mode{})
	t, _ := sqltext.QuoteIdent(table, sqltext.Mode{})
	return d + "." + t
}
