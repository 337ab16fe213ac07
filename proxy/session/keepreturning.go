package session

import (
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
)

// rowsReturned are what RETURNING gives of rows that a statement inserts, replaces or changes one by one: each is read as it is behind its change, as no
// UPDATE of MariaDB's gives rows. MariaDB Knowledge Base: "INSERT...RETURNING".
type rowsReturned struct {
	list    string // what the client wants of each row; "" without RETURNING
	columns []mysql.ColumnDefinition41
	rows    [][]value.Cell
}

// cutReturning takes RETURNING off the text.
func (in *inserting) cutReturning() {
	change, list := sqlparse.Returning(in.text, in.client.mode())
	if in.rows != nil {
		in.tail = in.tail[:len(in.tail)-(len(in.text)-len(change))]
	}
	in.text, in.returned.list = change, list
}

// returnRow reads what the client wants of the row with a primary key.
func (in *inserting) returnRow(primary []string) error {
	if in.returned.list == "" {
		return nil
	}
	r, err := in.run("SELECT " + in.returned.list + " FROM " + in.name(in.table()) + " WHERE " + in.where(in.plan.Target.PrimaryKey(), primary))
	if err != nil {
		return err
	}
	if len(r.rows) != 1 {
		return in.refused("RETURNING of a row that is not found by the primary key that the statement gives it, of a change of")
	}
	in.returned.columns, in.returned.rows = r.columns, append(in.returned.rows, r.rows...)
	return nil
}

// returnNew reads what the client wants of a row that has the primary key that the statement gives it.
func (in *inserting) returnNew(row int) error {
	if in.returned.list == "" {
		return nil
	}
	in.next = in.ids.first
	id := in.id(row)
	var primary []string
	for _, c := range in.plan.Target.PrimaryKey() {
		v, err := in.value(c, row, id)
		if err != nil {
			return err
		}
		primary = append(primary, v)
	}
	return in.returnRow(primary)
}

// returnAll makes the rows part of the answer: with their columns also where there are none.
func (in *inserting) returnAll() error {
	if in.returned.list == "" {
		return nil
	}
	if in.returned.columns == nil {
		r, err := in.run("SELECT " + in.returned.list + " FROM " + in.name(in.table()) + " LIMIT 0")
		if err != nil {
			return err
		}
		in.returned.columns = r.columns
	}
	in.main.columns, in.main.rows = in.returned.columns, in.returned.rows
	return nil
}
