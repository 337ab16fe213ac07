package session

import (
	"regexp"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/plan"
)

// shownNames puts the logical names of tables into the rows that a server shows of one of their shards: the column that names the
// table, and the text that makes it. It is a mysql.RowChanger.
type shownNames struct {
	names  map[string]string // logical ones by physical
	table  *router.Table     // the one that is shown, and its shard
	shard  router.Shard
	mode   sqltext.Mode
	layout value.Layout
	whole  []int  // columns that are a name
	key    int    // that of an index; -1 without one
	text   int    // that of the statement that makes the table; -1 without one
	next   uint64 // the table's AUTO_INCREMENT; 0: as the server shows it
	row    value.Row
}

// shownNamesOf gives what changes the rows of a statement that a shard answers; nil where they need none.
func (ro *routing) shownNamesOf(sh *sqlparse.Show, shard router.Shard, m sqltext.Mode) mysql.RowChanger {
	if sh == nil || sh.What == sqlparse.ShowColumns {
		return nil
	}
	n := &shownNames{names: map[string]string{}, mode: m, shard: shard, text: -1, key: -1}
	for _, t := range ro.client.schema.Plans.router().Tables() {
		for _, other := range t.Shards {
			if other == shard {
				n.table, n.next = t, ro.nextID(t)
			}
			if other.Node == shard.Node && other.DB == shard.DB && other.Table != t.Name {
				n.names[other.Table] = t.Name
			}
		}
	}
	if len(n.names) == 0 && n.next == 0 {
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
	case "Key_name":
		n.key = k
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
	if n.key >= 0 && n.table != nil {
		if name, changed := plan.ConstraintOf(n.table, n.shard, string(n.row.Cells[n.key])); changed {
			n.row.Cells[n.key] = value.Cell(name)
		}
	}
	if n.text >= 0 && n.row.Cells[n.text] != nil {
		n.row.Cells[n.text] = value.Cell(n.definition(string(n.row.Cells[n.text])))
	}
	return n.layout.AppendVisible(b, n.row.Cells), nil
}

// definition changes the names in the text that makes a table: those of tables, of constraints, and of indexes that have the name of one.
func (n *shownNames) definition(text string) string {
	var b strings.Builder
	at, depth, before, last := 0, 0, "", ""
	counts := n.next > 0 && countsIDs.MatchString(text)
	l := sqltext.NewLexer(text, n.mode)
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			break
		}
		from, to := t.Pos, t.End
		if depth == 0 && counts && strings.EqualFold(before, "ENGINE=") {
			b.WriteString(text[at:to])
			if n.next > 1 {
				b.WriteString(counterOption + strconv.FormatUint(n.next, 10))
			}
			at = to
			if own, found := strings.CutPrefix(text[to:], counterOption); found { // as the server shows that of the shard, if it is not 1
				at = len(text) - len(strings.TrimLeft(own, "0123456789"))
			}
		}
		switch word := text[from:to]; {
		case word == "(":
			depth++
		case word == ")":
			depth--
		}
		if before += text[from:to]; !strings.HasPrefix("ENGINE=", strings.ToUpper(before)) {
			before = ""
		}
		behind := last
		last = text[from:to]
		switch t.Kind {
		case sqltext.KindQuotedIdent:
			from, to = from+1, to-1
		case sqltext.KindWord:
		default:
			continue
		}
		name, ok := n.names[text[from:to]]
		if behind == "KEY" || behind == "CONSTRAINT" {
			name, ok = n.constraint(text[from:to])
		}
		if ok {
			b.WriteString(text[at:from] + name)
			at = to
		}
	}
	return b.String() + text[at:]
}

// counterOption is how servers write the option of a table's counter, and countsIDs finds the column.
const counterOption = " AUTO_INCREMENT="

var countsIDs = regexp.MustCompile(` AUTO_INCREMENT[ ,\n]`)

// constraint gives the name that takes the place of one of a constraint or an index, as it is quoted.
func (n *shownNames) constraint(own string) (name string, changed bool) {
	if n.table == nil {
		return own, false
	}
	name, changed = plan.ConstraintOf(n.table, n.shard, strings.ReplaceAll(own, "``", "`"))
	return strings.ReplaceAll(name, "`", "``"), changed
}
