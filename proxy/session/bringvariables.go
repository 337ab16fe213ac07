package session

import (
	"encoding/hex"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
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
	held := c.txn.Held()
	refuse := func(why string) error {
		return newError(KSTransactionNodes, "a user variable has a value that only the connection to node "+held.Instance.Node+
			" knows: a statement on other nodes or on several shards "+why)
	}
	switch {
	case q.info.Has(sqltext.UserVarWrite):
		return refuse("cannot read it and give variables values; SET it to a literal")
	case q.heldAloneTells(c):
		return refuse("cannot read it together with FOUND_ROWS() or @@warning_count, which that knows, too; SELECT these first")
	}
	m := c.mode()
	if q.st != nil {
		m = q.st.mode
	}
	names, ok := sqltext.UserVariables(q.text, m)
	if !ok {
		return refuse("whose text is read in several ways cannot read it; SET it to a literal")
	}
	for _, name := range names {
		if !state.PlainText(name) || strings.HasSuffix(name, " ") {
			return refuse("cannot read one named " + name + ": use ASCII letters and digits")
		}
	}
	var literals []string
	var failure error
	err := ls.ask(questionFor(names), func(columns []mysql.ColumnDefinition41, cells []value.Cell) {
		for k := 0; k < len(cells) && failure == nil; k += variableColumns {
			var text string
			if text, failure = broughtLiteral(&columns[k], cells[k:k+variableColumns]); failure == nil {
				literals = append(literals, text)
			}
		}
	})
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case len(literals) != len(names):
		return refuse("can read values of " + strconv.Itoa(broughtMax) + " bytes at most from there; SELECT them, and send them as literals")
	}
	if q.st != nil && !m.MariaDB && !q.st.typedAlike(names, literals) {
		return refuse("that was prepared while it had a value of another type, to which MySQL goes on converting it, cannot read it; prepare it again")
	}
	for k, name := range names {
		c.state.Set(variableName(name), literals[k])
	}
	held.Key = c.state.Setting() // which has them already
	return nil
}

// bringElsewhere has the session know the values of the user variables that a statement of one server reads, unless that is on the held connection, and
// returns where it goes: to any connection then, if it is in no other way about what the session has on one.
func bringElsewhere(xs *exchanges, q *query, t txn.Target) (txn.Target, error) {
	c := xs.client
	if !c.txn.Holding() || q.info.Traits&stateful != sqltext.UserVarRead || !stateless(q.info.Class) {
		return t, nil
	}
	if c.txn.Held().Instance.Node == t.Node.Name {
		if q.st == nil || !q.st.sharded || q.st.mode.MariaDB {
			return t, nil
		}
		return t, bringVariables(xs.leases, q) // it may have to be prepared there
	}
	if err := bringVariables(xs.leases, q); err != nil {
		return t, err
	}
	q.info.Traits &^= sqltext.UserVarRead
	return xs.routing.route(q), nil
}

// variableColumns is how many columns questionFor has for each variable.
const variableColumns = 4

// questionFor asks for the values of user variables: each as it is, by which its type is known, and its character set, its collation and its bytes. It
// finds no row if they are too long.
func questionFor(names []string) string {
	var columns, lengths []string
	for _, name := range names {
		v := variableName(name)
		columns = append(columns, v, "CHARSET("+v+")", "COLLATION("+v+")", "HEX(CONCAT("+v+"))")
		lengths = append(lengths, "COALESCE(LENGTH("+v+"),0)")
	}
	return "SELECT " + strings.Join(columns, ",") + " FROM DUAL WHERE " + strings.Join(lengths, "+") + "<=" + strconv.Itoa(broughtMax) + " LIMIT 1"
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
