package session

import (
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// ownGrants has SHOW GRANTS FOR the client's own account speak of the one that the proxy has on the server, as SHOW GRANTS does: the
// server knows no other.
func (ri *rights) ownGrants(q *query) {
	if q.info.Class != sqltext.Show || !sqltext.Mentions(q.text, "grants") {
		return
	}
	g, ok := sqltext.ParseShowGrants(q.text, ri.client.mode())
	if !ok || g.Account.End == 0 || !g.Self && (g.User != ri.client.entry.Name() || g.Host != "%" && !strings.EqualFold(g.Host, ri.client.entry.Host())) {
		return
	}
	q.text = q.text[:g.Account.Pos] + "CURRENT_USER()" + q.text[g.Account.End:]
	q.info.Traits &^= sqltext.CurrentUser // that of the server is meant
}

// hidePasswords has SHOW GRANTS of servers that show passwords in it go without them.
func (c *client) hidePasswords(q *query) {
	if !sqltext.Mentions(q.text, "grants") || !grantsShowPasswords(c.mode()) {
		return
	}
	g := new(grantRows)
	if g.layout.Format = value.TextRow; c.entry.Command() == mysql.ComStmtExecute {
		g.layout.Format = value.BinaryRow
	}
	q.rows = g
}

// grantRows takes passwords out of the rows of SHOW GRANTS. It is a mysql.RowChanger.
type grantRows struct {
	layout value.Layout
	row    value.Row
}

// Column learns a column.
func (g *grantRows) Column(def *mysql.ColumnDefinition41) {
	g.layout.Types = append(g.layout.Types, value.TypeOf(def))
	g.layout.Visible++
	g.row.Cells = append(g.row.Cells, nil)
}

// Row changes one row.
func (g *grantRows) Row(b, row []byte) ([]byte, error) {
	g.row.Raw = row
	if err := g.layout.Split(&g.row); err != nil {
		return b, err
	}
	for k, cell := range g.row.Cells {
		if cell != nil {
			g.row.Cells[k] = value.Cell(withoutPassword(string(cell)))
		}
	}
	return g.layout.AppendVisible(b, g.row.Cells), nil
}

// withoutPassword cuts how the account is identified out of a line of SHOW GRANTS: GRANT ... TO `u`@`h` IDENTIFIED BY PASSWORD '*...'
// REQUIRE ... WITH ....
func withoutPassword(line string) string {
	from, to := -1, len(line)
	quote := byte(0)
	for k := range len(line) {
		switch c := line[k]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '`' || c == '"':
			quote = c
		case from < 0 && strings.HasPrefix(line[k:], " IDENTIFIED "):
			from = k
		case from >= 0 && (strings.HasPrefix(line[k:], " REQUIRE ") || strings.HasPrefix(line[k:], " WITH ")):
			to = k
			return line[:from] + line[to:]
		}
	}
	if from < 0 {
		return line
	}
	return line[:from]
}
