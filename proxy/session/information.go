package session

import (
	"fmt"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
)

// informationTables are those of information_schema that speak of tables, with the columns that name them.
var informationTables = map[string][]string{
	"tables":                  {"TABLE_SCHEMA", "TABLE_NAME"},
	"columns":                 {"TABLE_SCHEMA", "TABLE_NAME"},
	"statistics":              {"TABLE_SCHEMA", "TABLE_NAME"},
	"key_column_usage":        {"TABLE_SCHEMA", "TABLE_NAME"},
	"table_constraints":       {"TABLE_SCHEMA", "TABLE_NAME"},
	"referential_constraints": {"CONSTRAINT_SCHEMA", "TABLE_NAME"},
	"partitions":              {"TABLE_SCHEMA", "TABLE_NAME"},
	"check_constraints":       {"CONSTRAINT_SCHEMA", "TABLE_NAME"},
}

// summed are the columns of TABLES that add up over the shards.
var summed = []string{"TABLE_ROWS", "DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE"}

// information runs a query on information_schema: on copies of its tables in which every sharded table is there once, under
// its logical name. handled is false for everything else.
func (s *Session) information(q *query, ex *boundExecution, text string, mode sqltext.Mode, db string) (handled, failed bool, err error) {
	st, err := sqlparse.Parse(text, mode, func(name string) bool { return informationTables[strings.ToLower(name)] != nil })
	if err != nil || st.Kind != sqlparse.SelectKind {
		return false, false, nil // the server's own answer, physical names and all
	}
	i := copying{s: s, q: q, ex: ex}
	for _, t := range st.Tables {
		own := strings.EqualFold(t.DB, "information_schema") || t.DB == "" && strings.EqualFold(db, "information_schema")
		if own && informationTables[strings.ToLower(t.Name)] != nil && !t.At.Empty() {
			i.tables = append(i.tables, t)
		}
	}
	if len(i.tables) == 0 {
		return false, false, nil
	}
	loans, err := s.borrow([]*backend.Node{s.schema.Default}, true)
	if err != nil {
		return true, true, err
	}
	if !s.publish(loans) {
		s.giveBack(loans)
		return true, true, interrupted()
	}
	f := finishing{s: s, q: q, ex: ex, node: s.schema.Default.Name, loans: loans, last: &loans[0]}
	f.prepare = func() error { return i.copy(&f, st) }
	failed, err = f.run()
	return true, failed, err
}

// copying is one query on information_schema under way.
type copying struct {
	s      *Session
	q      *query
	ex     *boundExecution
	tables []*sqlparse.Table
}

// copy makes the copies and the statement on them.
func (i *copying) copy(f *finishing, st *sqlparse.Statement) error {
	var text strings.Builder
	at := 0
	home := quoteName(i.s.schema.Plans.router().Tables()[0].DB)
	for k, t := range i.tables {
		name := fmt.Sprintf("ks_information_%d", k)
		table := home + "." + quoteName(name)
		if err := i.fill(f, table, strings.ToLower(t.Name)); err != nil {
			return err
		}
		text.WriteString(st.Text[at:t.At.Pos])
		text.WriteString(table)
		if t.Alias == "" {
			text.WriteString(" AS " + quoteName(t.Name))
		}
		at = t.At.End
		f.rename = append(f.rename, mysql.TableName{
			FromSchema: i.s.schema.Plans.router().Tables()[0].DB, FromTable: name, Schema: "information_schema", Table: strings.ToUpper(t.Name),
		})
	}
	text.WriteString(st.Text[at:])
	f.text = text.String()
	f.args = make([]int, len(st.Params))
	for k := range f.args {
		f.args[k] = k
	}
	return nil
}

// fill makes a copy of one table: of each sharded table's shards on the node one stays, under the logical name.
func (i *copying) fill(f *finishing, table, name string) error {
	if err := i.s.run(f.last.Pooled, "DROP TEMPORARY TABLE IF EXISTS "+table); err != nil {
		return err
	}
	order := ""
	if name == "tables" {
		order = " ORDER BY TABLE_SCHEMA, TABLE_NAME" // as servers list them where nothing else is asked for
	}
	if err := i.s.run(f.last.Pooled, "CREATE TEMPORARY TABLE "+table+" AS SELECT * FROM information_schema."+strings.ToUpper(name)+order); err != nil {
		return err
	}
	f.made = append(f.made, table)
	columns := informationTables[name]
	for _, t := range i.s.schema.Plans.router().Tables() {
		keep := ""
		var others []string
		for _, shard := range t.Shards {
			switch {
			case shard.Node != f.node:
			case keep == "":
				keep = shard.Table
			case shard.Table != keep:
				others = append(others, stringLiteral(shard.Table))
			}
		}
		if keep == "" {
			continue
		}
		where := " WHERE " + columns[0] + " = " + stringLiteral(t.DB) + " AND " + columns[1]
		if len(others) > 0 {
			list := " IN (" + strings.Join(others, ", ") + ")"
			if name == "tables" {
				if err := i.sum(f, table, where, keep, list); err != nil {
					return err
				}
			}
			if err := i.exec(f, "DELETE FROM "+table+where+list); err != nil {
				return err
			}
		}
		if keep != t.Name {
			if err := i.exec(f, "UPDATE "+table+" SET "+columns[1]+" = "+stringLiteral(t.Name)+where+" = "+stringLiteral(keep)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sum adds the sizes of the other shards to those of the one that stays.
func (i *copying) sum(f *finishing, table, where, keep, others string) error {
	sums := make([]string, len(summed))
	for k, column := range summed {
		sums[k] = "COALESCE(SUM(" + column + "), 0)"
	}
	var add []string
	err := f.last.Conn.Rows("SELECT "+strings.Join(sums, ", ")+" FROM "+table+where+others, len(sums), func(row []string) {
		for k, v := range row {
			add = append(add, summed[k]+" = "+summed[k]+" + "+v)
		}
	})
	if err != nil || len(add) == 0 {
		return err
	}
	return i.exec(f, "UPDATE "+table+" SET "+strings.Join(add, ", ")+where+" = "+stringLiteral(keep))
}

// exec runs a statement on a copy. Old servers lack some of the columns: then nothing is to be done.
func (i *copying) exec(f *finishing, sql string) error {
	err := i.s.run(f.last.Pooled, sql)
	if e, ok := err.(*mysql.SQLError); ok && e.Code == 1054 {
		return nil
	}
	return err
}

func stringLiteral(v string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(v, "'", "''"), `\`, `\\`) + "'"
}

// showTables answers SHOW [FULL] TABLES and SHOW TABLE STATUS by a query on information_schema.
func (s *Session) showTables(q *query) (handled, failed bool, err error) {
	sh, ok := sqlparse.ParseShowTables(q.text, s.mode())
	if !ok {
		return false, false, nil
	}
	db := sh.DB
	if db == "" {
		db = s.state.db
	}
	if db == "" {
		return true, true, mysql.NewSQLError(mysql.ERNoDB, "No database selected")
	}
	var text strings.Builder
	column := "Tables_in_" + db
	if sh.Like != "" {
		column += " (" + sh.LikeText + ")"
	}
	if sh.Status {
		text.WriteString("SELECT TABLE_NAME AS `Name`, ENGINE AS `Engine`, VERSION AS `Version`, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, " +
			"AVG_ROW_LENGTH AS `Avg_row_length`, DATA_LENGTH AS `Data_length`, MAX_DATA_LENGTH AS `Max_data_length`, INDEX_LENGTH AS `Index_length`, " +
			"DATA_FREE AS `Data_free`, AUTO_INCREMENT AS `Auto_increment`, CREATE_TIME AS `Create_time`, UPDATE_TIME AS `Update_time`, " +
			"CHECK_TIME AS `Check_time`, TABLE_COLLATION AS `Collation`, CHECKSUM AS `Checksum`, CREATE_OPTIONS AS `Create_options`, TABLE_COMMENT AS `Comment`")
	} else {
		// As a string, not as a name: it may have the client's value in it, which traces show of names.
		alias := strings.ReplaceAll(column, "'", "''")
		if !s.mode().NoBackslashEscapes {
			alias = strings.ReplaceAll(alias, `\`, `\\`)
		}
		text.WriteString("SELECT TABLE_NAME AS '" + alias + "'")
		if sh.Full {
			text.WriteString(", TABLE_TYPE AS `Table_type`")
		}
	}
	text.WriteString(" FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + stringLiteral(db))
	if sh.Like != "" {
		text.WriteString(" AND TABLE_NAME LIKE " + sh.Like)
	}
	if sh.Where != "" {
		if sh.Status {
			text.WriteString(" HAVING " + sh.Where)
		} else {
			text.WriteString(" HAVING " + sh.Where)
		}
	}
	text.WriteString(" ORDER BY TABLE_NAME")
	return s.information(q, nil, text.String(), s.mode(), db)
}
