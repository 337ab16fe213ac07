package session

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// What an expression made of a user variable, the held connection alone knows. A statement for other connections, or for several, has that one asked for
// the values of the variables that its text names: they are brought to the others as the literals are that a SET gives. A value is good for the statement:
// the next one asks again, as the variable may have changed where it is held.

// broughtMax is how many bytes the values that a statement has brought may have together. Pools keep them for a while, as literals.
const broughtMax = 64 << 10

// bringVariables has the session know the values of the user variables that a statement for other connections than the held one reads.
func bringVariables(ls *leases, q *query) error {
	c := ls.client
	if !c.txn.Pins.Has(txn.PinUserVariable) || !c.txn.Holding() || !q.info.Has(sqltext.UserVarRead) {
		return nil
	}
	lost := false // what it gives them: a preparation gives nothing, and a finish keeps it
	if q.route != nil {
		_, finishes := q.route.Operator.(*plan.Finish)
		lost = !finishes && q.info.Has(sqltext.UserVarWrite)
	}
	switch {
	case lost:
		return errNotBrought(ls, "cannot read it and give variables values; SET it to a literal")
	case q.heldAloneTells(c):
		return errNotBrought(ls, heldTellsToo)
	}
	names, err := variablesOf(ls, q)
	if err != nil {
		return err
	}
	return bringValues(ls, q, names)
}

// heldTellsToo refuses what the question for a variable would change on its connection.
const heldTellsToo = "cannot read it together with FOUND_ROWS() or @@warning_count, which that knows, too; SELECT these first"

// errNotBrought refuses a statement for other connections than the held one.
func errNotBrought(ls *leases, why string) error {
	return newError(KSTransactionNodes, "a user variable has a value that only the connection to node "+ls.client.txn.Held().Instance.Node+
		" knows: a statement on other nodes or on several shards "+why)
}

// variablesOf lists the user variables that a statement's text names, and refuses those whose names the proxy does not write.
func variablesOf(ls *leases, q *query) ([]string, error) {
	m := ls.client.mode()
	if q.st != nil {
		m = q.st.mode
	}
	names, ok := sqltext.UserVariables(q.text, m)
	if !ok {
		return nil, errNotBrought(ls, "whose text is read in several ways cannot use it; SET it to a literal")
	}
	for _, name := range names {
		if !state.PlainText(name) || strings.HasSuffix(name, " ") {
			return nil, errNotBrought(ls, "cannot use one named "+name+": use ASCII letters and digits")
		}
	}
	return names, nil
}

// bringValues has the session know the values of user variables.
func bringValues(ls *leases, q *query, names []string) error {
	c, held := ls.client, ls.client.txn.Held()
	literals, err := valuesOf(names, broughtMax, ls.ask)
	switch {
	case err != nil:
		return err
	case len(literals) != len(names):
		return errNotBrought(ls, "can read values of "+strconv.Itoa(broughtMax)+" bytes at most from there; SELECT them, and send them as literals")
	}
	if q.st != nil && !q.st.mode.MariaDB && !q.st.typedAlike(names, literals) {
		return errNotBrought(ls, "that was prepared while it had a value of another type, to which MySQL goes on converting it, cannot read it; prepare it again")
	}
	for k, name := range names {
		c.state.Set(variableName(name), literals[k])
	}
	held.Key = c.state.Setting() // which has them already
	return nil
}

// valuesOf asks for the values of user variables, and returns literals of them: none where they have more than limit bytes together. The error is of the
// question, or of a value that no literal gives.
func valuesOf(names []string, limit int, ask func(sql string, row func([]mysql.ColumnDefinition41, []value.Cell)) error) (literals []string, err error) {
	var failure error
	err = ask(questionFor(names, limit), func(columns []mysql.ColumnDefinition41, cells []value.Cell) {
		for k := 0; k < len(cells) && failure == nil; k += variableColumns {
			var text string
			if text, failure = broughtLiteral(&columns[k], cells[k:k+variableColumns]); failure == nil {
				literals = append(literals, text)
			}
		}
	})
	if err == nil {
		err = failure
	}
	return literals, err
}

// goesElsewhere are the traits of statements that need what the session has on one connection, or add to it, and yet may run on another: what they read is
// brought there, and what they leave is brought back.
const goesElsewhere = sqltext.UserVarRead | sqltext.UserVarWrite | sqltext.FoundRows | sqltext.RowCount | sqltext.CalcFoundRows | sqltext.LastInsertIDSet

// bringElsewhere has a statement of one server find what it reads of the session, unless it goes to the held connection, and returns where it goes: to any
// connection then, if it is in no other way about what the session has on one.
func bringElsewhere(xs *exchanges, q *query, t txn.Target) (txn.Target, error) {
	c := xs.client
	if !c.txn.Holding() || q.info.Traits&stateful == 0 || q.info.Traits&stateful&^goesElsewhere != 0 || !stateless(q.info.Class) {
		return t, nil
	}
	if c.txn.Held().Instance.Node == t.Node.Name {
		if q.st == nil || !q.st.sharded || q.st.mode.MariaDB || q.info.Has(sqltext.UserVarWrite) {
			return t, nil
		}
		return t, bringVariables(xs.leases, q) // it may have to be prepared there
	}
	tells := q.heldAloneTells(c)
	if tells && q.st != nil {
		return t, errNotBrought(xs.leases, heldTellsToo)
	}
	var names []string
	if q.info.Traits&(sqltext.UserVarRead|sqltext.UserVarWrite) != 0 {
		var err error
		if names, err = variablesOf(xs.leases, q); err != nil {
			return t, err
		}
	}
	if len(names) > 0 && c.txn.Pins.Has(txn.PinUserVariable) {
		if err := bringValues(xs.leases, q, names); err != nil {
			return t, err
		}
	} else if tells {
		if err := xs.leases.ask("SELECT 1 LIMIT 1", func([]mysql.ColumnDefinition41, []value.Cell) {}); err != nil {
			return t, err
		}
	}
	if tells {
		if err := c.substitute(q); err != nil { // the question told
			return t, err
		}
	}
	q.info.Traits &^= sqltext.UserVarRead | sqltext.FoundRows | sqltext.RowCount
	t.Stateless = xs.routing.heldValue(q) == ""
	return t, nil
}

// takeVariablesBack gives the held connection the values that a statement on p, another one, has given user variables. What the statement has found is
// settled ahead of the question.
func takeVariablesBack(ls *leases, p backend.Pooled, q *query) error {
	c := ls.client
	names, err := variablesOf(ls, q)
	if err != nil {
		return err
	}
	if c.state.InDoubt() {
		if err := errors.Join(c.state.Found.Settle(p.Conn, false), c.state.SettleInsertID(p.Conn, false)); err != nil {
			return err
		}
	}
	literals, err := valuesOf(names, int(c.snap.Config.MaxAllowedPacket)/3, p.Conn.RawRows)
	if err != nil {
		return err
	}
	if len(literals) != len(names) {
		return errNotTaken
	}
	var list []string
	for k, name := range names {
		if v := variableName(name); len(literals[k]) <= broughtMax {
			c.state.Set(v, literals[k])
		} else {
			c.state.Unset(v)
			p.Conn.Marked = true // it has a value that its key does not tell
		}
		list = append(list, variableName(name)+"="+literals[k])
	}
	held := c.txn.Held()
	if err := c.observed.Run(held, c.state.DB(), "SET "+strings.Join(list, ",")); err != nil {
		return err
	}
	held.Key = c.state.Setting()
	p.Key = held.Key
	return nil
}

// errNotTaken says that a statement has given a user variable a value that no literal gives.
var errNotTaken = errors.New("a value of a user variable cannot be brought to another connection")

// variableColumns is how many columns questionFor has for each variable.
const variableColumns = 4

// questionFor asks for the values of user variables: each as it is, by which its type is known, and its character set, its collation and its bytes. It
// finds no row if they have more than limit bytes together.
func questionFor(names []string, limit int) string {
	var columns, lengths []string
	for _, name := range names {
		v := variableName(name)
		columns = append(columns, v, "CHARSET("+v+")", "COLLATION("+v+")", "HEX(CONCAT("+v+"))")
		lengths = append(lengths, "COALESCE(LENGTH("+v+"),0)")
	}
	return "SELECT " + strings.Join(columns, ",") + " FROM DUAL WHERE " + strings.Join(lengths, "+") + "<=" + strconv.Itoa(limit) + " LIMIT 1"
}

// broughtLiteral writes the value of a user variable so that one which is set to it has the same value and type. cells are those that questionFor has for
// it, d defines the first one. MySQL manual: "User-Defined Variables".
func broughtLiteral(d *mysql.ColumnDefinition41, cells []value.Cell) (string, error) {
	text, charset, collation := asciiOf(cells[0]), asciiOf(cells[1]), asciiOf(cells[2])
	null := cells[0] == nil
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeNewDecimal, mysql.TypeDouble:
		if null {
			return nullOf(d), nil
		}
	case mysql.TypeGeometry:
		b, err := hex.DecodeString(asciiOf(cells[3]))
		if null || err != nil || len(b) < 4 {
			return "ST_GeomFromText(NULL)", err
		}
		return "ST_GeomFromWKB(" + string(appendHex(nil, b[4:])) + "," + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 10) + ")", nil
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeTinyBlob, mysql.TypeBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		b, err := hex.DecodeString(asciiOf(cells[3]))
		switch {
		case err != nil || charset == "" || collation == "":
			return "", newError(KSTransactionNodes, "the value of a user variable cannot be read on its connection: SET it to a literal")
		case null && charset == "binary":
			return "CAST(NULL AS BINARY)", nil
		case null:
			return "CONVERT(NULL USING " + charset + ") COLLATE " + collation, nil
		case charset == "binary":
			return string(appendHex([]byte("_binary "), b)), nil
		}
		return string(appendHex([]byte("_"+charset+" "), b)) + " COLLATE " + collation, nil
	}
	switch d.Type {
	case mysql.TypeNewDecimal:
		if !strings.Contains(text, ".") {
			text += "."
		}
	case mysql.TypeDouble:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return "", newError(KSTransactionNodes, "the value of a user variable is no number that can be written: SET it to a literal")
		}
		text = strconv.FormatFloat(f, 'e', -1, 64)
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong:
		if text = "CAST(" + text + " AS SIGNED)"; d.Flags&mysql.UnsignedFlag != 0 {
			text = strings.TrimSuffix(text, "SIGNED)") + "UNSIGNED)"
		}
	default:
		return "", newError(KSTransactionNodes, "a user variable has a value of a type that cannot be brought to other connections: SET it to a literal")
	}
	return text, nil
}

// asciiOf reads a text of ASCII alone, in whatever character set results are.
func asciiOf(c value.Cell) string { return strings.ReplaceAll(string(c), "\x00", "") }
