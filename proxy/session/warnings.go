package session

import (
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/collation"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
)

// noWarnings forgets the warnings of the statement before, as one does that the session answers itself; MariaDB goes on showing
// them after a statement without tables.
func (c *client) noWarnings() {
	if c.txn.LastOnHeld = false; c.mode().MariaDB {
		return
	}
	c.state.Diagnostics.Forget()
}

// fetchWarnings keeps what the last statement left in the diagnostics area before its connection goes to others.
func (c *client) fetchWarnings(p backend.Pooled, names []mysql.TableName) error {
	d := &c.state.Diagnostics
	d.Clear()
	err := c.addWarnings(p, names)
	d.WarningCount = max(d.WarningCount, len(d.Warnings)) // an error does not tell how many came with it
	return err
}

// addWarnings adds what the last statement on a connection left to the session's warnings, with the names that the client
// knows.
func (c *client) addWarnings(p backend.Pooled, names []mysql.TableName) error {
	span := c.observed.OwnSpan(p.Instance, c.state.DB(), "SHOW WARNINGS")
	more, err := state.ReadWarnings(p.Conn, names)
	observe.EndSpan(span, err)
	c.state.Diagnostics.Add(more)
	return err
}

// keepWarnings keeps what MariaDB goes on showing of the statement before, ahead of one that leaves it as it is and behind which the held connection
// is not asked for it any more.
func keepWarnings(c *client) {
	if !c.mode().MariaDB || !c.heldTells() || c.state.Diagnostics.WarningCount == 0 {
		return
	}
	if c.fetchWarnings(c.txn.Held(), c.txn.LastNames()) != nil {
		c.state.Diagnostics.Forget() // it is lost with that connection, as the next statement there will find
	}
	c.txn.LastOnHeld = false
}

// heldTells reports whether the held connection's diagnostics area tells what the client's last statement left, or one before that.
func (c *client) heldTells() bool {
	return c.txn.Holding() && c.txn.LastOnHeld && (!c.txn.Conn().Info.MariaDB || c.txn.Conn().Diagnosed == c.id)
}

// show answers SHOW PROCESSLIST, SHOW WARNINGS and SHOW ERRORS. The latter go to the held connection when the statement
// before ran there: its diagnostics are complete.
func (se settings) show(q *query) (handled bool, err error) {
	sh, ok := sqltext.ParseShow(q.text, se.client.mode())
	if !ok && q.info.Class != sqltext.ShowProcesslist && !se.client.heldTells() {
		return true, refuse("SHOW WARNINGS or SHOW ERRORS in a form that is not known, behind a statement of which no connection of the session's knows")
	}
	if !ok {
		return false, nil
	}
	if sh.What == sqltext.Processlist {
		se.client.writeProcesslist(sh.Full)
		return true, nil
	}
	if se.client.heldTells() {
		if len(se.client.txn.LastNames()) == 0 && se.client.entry.Command() != mysql.ComStmtExecute || sh.What == sqltext.CountWarnings || sh.What == sqltext.CountErrors {
			return false, nil
		}
		if err := se.client.fetchWarnings(se.client.txn.Held(), se.client.txn.LastNames()); err != nil {
			return true, se.leases.lost(se.client.txn.Held(), err)
		}
	}
	switch sh.What {
	case sqltext.CountWarnings:
		se.client.state.Found.Found(1)
		se.client.writeTable(countDefinition("@@session.warning_count"), [][]string{{strconv.Itoa(se.client.state.Diagnostics.WarningCount)}})
	case sqltext.CountErrors:
		se.client.state.Found.Found(1)
		se.client.writeTable(countDefinition("@@session.error_count"), [][]string{{strconv.Itoa(se.client.state.Diagnostics.ErrorCount)}})
	default:
		se.client.writeTable(warningDefinitions(&se.client.state, se.client.mode().MariaDB), se.client.state.Diagnostics.Shown(sh))
	}
	return true, nil
}

// countDefinition describes what SHOW COUNT(*) WARNINGS and its like show, as servers do.
func countDefinition(name string) []mysql.ColumnDefinition41 {
	return []mysql.ColumnDefinition41{{Catalog: "def", Name: name, Charset: binaryCollation, Length: 21, Type: mysql.TypeLongLong, Flags: mysql.UnsignedFlag | mysql.BinaryFlag}}
}

// warningDefinitions describes what SHOW WARNINGS shows, as servers do: texts of 7 and 512 characters, in the client's character set.
func warningDefinitions(st *state.State, mariaDB bool) []mysql.ColumnDefinition41 {
	id, decimals, digits := uint16(utf8mb4General), uint8(31), uint32(5)
	if mariaDB {
		decimals, digits = 39, 4
	}
	name := strings.Trim(st.Value("collation_connection"), "'")
	charset, _, _ := strings.Cut(name, "_")
	width := uint32(4)
	if n := collation.IDOf(name); n != 0 && charset == strings.Trim(st.Value("character_set_results"), "'") {
		if id = n; charset == "latin1" || charset == "ascii" || charset == "binary" {
			width = 1
		}
	}
	text := func(name string, length uint32) mysql.ColumnDefinition41 {
		return mysql.ColumnDefinition41{Catalog: "def", Name: name, Charset: id, Length: length * width, Type: mysql.TypeVarString, Flags: mysql.NotNullFlag, Decimals: decimals}
	}
	return []mysql.ColumnDefinition41{
		text("Level", 7), {Catalog: "def", Name: "Code", Charset: binaryCollation, Length: digits, Type: mysql.TypeLong, Flags: mysql.NotNullFlag | mysql.UnsignedFlag | mysql.BinaryFlag},
		text("Message", 512),
	}
}
