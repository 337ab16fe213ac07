package session

import (
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"
)

// shownNames puts the logical names of tables into the rows that a server shows of one of their shards: the column that names the
// table, and the text that makes it. It is a mysql.RowChanger.
type shownNames struct {
	names  map[string]string // logical ones by physical
	mode   sqltext.Mode
	layout value.Layout
	whole  []int // columns that are a name
	text   int   // that of the statement that makes the table; -1 without one
	row    value.Row
}

// shownNamesOf gives what changes the rows of a statement that a shard answers; nil where they need none.
func (ro *routing) shownNamesOf(sh *sqlparse.Show, shard router.Shard, m sqltext.Mode) mysql.RowChanger {
	if sh == nil || sh.What == sqlparse.ShowColumns {
		return nil
	}
	n := &shownNames{names: map[string]string{}, mode: m, text: -1}
	for _, t := range ro.client.schema.Plans.router().Tables() {
		for _, other := range t.Shards {
			if other.Node == shard.Node && other.DB == shard.DB && other.Table != t.Name {
				n.names[other.Table] = t.Name
			}
		}
	}
	if len(n.names) == 0 {
		return nil
	}
	if ro.client.entry.Command() == mysql.ComStmtExecute {
		n.layout.Format = value.BinaryRow
	} else {
		n.layout.Format = value.TextRow
	}
	return n
}

// Column learns a column.
func (n *shownNames) Column(def *mysql.ColumnDefinition41) {
	k := len(n.layout.Types)
	n.layout.Types = append(n.layout.Types, value.TypeOf(def))
	n.layout.Visible++
	n.row.Cells = append(n.row.Cells, nil)
	switch string(def.Name) {
	case "Table", "View":
		n.whole = append(n.whole, k)
	case "Create Table", "Create View":
		n.text = k
	}
}

// Row changes one row.
func (n *shownNames) Row(b, row []byte) ([]byte, error) {
	n.row.Raw = row
	if err := n.layout.Split(&n.row); err != nil {
		return b, err
	}
	for _, k := range n.whole {
		if name, ok := n.names[string(n.row.Cells[k])]; ok {
			n.row.Cells[k] = value.Cell(name)
		}
	}
	if n.text >= 0 && n.row.Cells[n.text] != nil {
		n.row.Cells[n.text] = value.Cell(n.definition(string(n.row.Cells[n.text])))
	}
	return n.layout.AppendVisible(b, n.row.Cells), nil
}

// definition changes the names in the text that makes a table: those of tables, and those that the server gave to constraints after
// the table's.
func (n *shownNames) definition(text string) string {
	var b strings.Builder
	at := 0
	l := sqltext.NewLexer(text, n.mode)
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			break
		}
		from, to := t.Pos, t.End
		switch t.Kind {
		case sqltext.KindQuotedIdent:
			from, to = from+1, to-1
		case sqltext.KindWord:
		default:
			continue
		}
		if name, ok := n.logical(text[from:to]); ok {
			b.WriteString(text[at:from] + name)
			at = to
		}
	}
	return b.String() + text[at:]
}

// logical gives the name that takes the place of one in a definition.
func (n *shownNames) logical(word string) (string, bool) {
	if name, ok := n.names[word]; ok {
		return name, true
	}
	for _, made := range [...]string{"_ibfk_", "_chk_"} {
		if k := strings.LastIndex(word, made); k > 0 {
			name, ok := n.names[word[:k]]
			return name + word[k:], ok
		}
	}
	return "", false
}
