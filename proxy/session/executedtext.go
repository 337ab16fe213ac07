package session

import (
	"encoding/hex"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// unfold makes the EXECUTE of a text that the proxy keeps, and EXECUTE IMMEDIATE of one that it would keep, the statement that is carried out, with
// the values in it: what follows sees no more of EXECUTE. Any other statement stays as it is.
func (s *Session) unfold(q *query) error {
	kept, using, err := s.stmts.executes(q)
	if kept == nil || err != nil {
		return err
	}
	switch {
	case len(using) != kept.params:
		return errExecuteArguments
	case kept.reading != readingOf(&s.client):
		return newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule in another database, sql_mode or character set than that of its PREPARE: prepare it again")
	}
	values, err := s.stmts.valuesOf(using)
	if err != nil {
		return err
	}
	if !s.client.mode().MariaDB && !kept.takes(values) {
		return newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule, with a value of another type than its parameter had first, to which MySQL may convert it: prepare it again")
	}
	text, err := kept.with(values)
	if err != nil {
		return err
	}
	info, attributes := sqltext.Classify(text, s.client.mode()), q.attributes
	q.begin(text, &info)
	q.attributes = attributes
	s.client.observed.Class = info.Class
	return s.rights.allow(q)
}

// executes returns the text that an EXECUTE is of, if the proxy keeps it, and the values of its parameters as they are written.
func (ss *stmts) executes(q *query) (kept *keptText, using []string, err error) {
	m := ss.client.mode()
	if ex, ok := sqltext.ParseExecute(q.text, m); ok {
		return ss.client.textStmts[ex.Name].kept, ex.Using, nil
	}
	using, ok := sqltext.ParseExecuteImmediate(q.text, m)
	if !ok {
		return nil, nil, nil
	}
	if kept, err = ss.keptOf(q); kept != nil || err != nil {
		ss.freeOfTexts() // it may be held for what computed the text
	}
	return kept, using, err
}

// valuesOf has a server tell what the values of EXECUTE are, on a connection with the session's user variables. MySQL manual: "EXECUTE Statement",
// "User-Defined Variables".
func (ss *stmts) valuesOf(using []string) ([]argument, error) {
	if len(using) == 0 {
		return nil, nil
	}
	if err := ss.exchanges.leases.learnCharset(); err != nil {
		return nil, err
	}
	connection, _, _ := strings.Cut(strings.Trim(ss.client.state.Value("collation_connection"), "'"), "_")
	if ss.rights.asciiCharset() == "" {
		return nil, newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule, with values, while character_set_client or collation_connection is of a set like gbk or utf16")
	}
	var columns []string
	for _, expr := range using {
		if !plainValue(expr, ss.client.mode()) {
			return nil, newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule USING "+expr+": SET a user variable to it")
		}
		columns = append(columns, expr, "HEX(CONVERT("+expr+" USING "+connection+"))")
	}
	var args []argument
	var failure error
	err := ss.exchanges.leases.ask("SELECT "+strings.Join(columns, ", ")+" LIMIT 1", func(columns []mysql.ColumnDefinition41, cells []value.Cell) {
		for k := 0; k+1 < len(cells) && failure == nil; k += 2 {
			var a argument
			a, failure = ss.argument(&columns[k], cells[k], cells[k+1])
			args = append(args, a)
		}
	})
	if err != nil {
		return nil, err
	}
	return args, failure
}

// plainValue reports whether to compute an expression leaves nothing behind, as it is made of user variables and literals.
func plainValue(expr string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(expr, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		switch t.Kind {
		case sqltext.KindUserVar, sqltext.KindString, sqltext.KindNumber:
		case sqltext.KindOp:
			if expr[t.Pos:t.End] == ":=" {
				return false
			}
		case sqltext.KindWord:
			switch strings.ToLower(expr[t.Pos:t.End]) {
			case "null", "true", "false":
			default:
				return false
			}
		default:
			return false
		}
	}
	return !l.Doubt()
}

// argument reads a value by its type. text is it as a text of the connection's character set, in hexadecimal digits: parameters that are texts come
// to the statement in that.
func (ss *stmts) argument(d *mysql.ColumnDefinition41, cell, text value.Cell) (a argument, err error) {
	if cell == nil {
		return a, nil
	}
	s := string(cell)
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong:
		if a.unsigned = d.Flags&mysql.UnsignedFlag != 0; a.unsigned {
			n, err := strconv.ParseUint(s, 10, 64)
			a.value = value.NewUint(n)
			return a, err
		}
		n, err := strconv.ParseInt(s, 10, 64)
		a.value = value.NewInt(n)
		return a, err
	case mysql.TypeDecimal, mysql.TypeNewDecimal:
		a.value = value.NewDecimal(s)
		return a, nil
	case mysql.TypeFloat, mysql.TypeDouble:
		f, err := strconv.ParseFloat(s, 64)
		a.value = value.NewFloat(f)
		return a, err
	}
	if d.Charset == binaryCollation {
		a.value = value.NewBytes(s)
		return a, nil
	}
	b, err := hex.DecodeString(string(text))
	if err != nil {
		return a, err
	}
	client, connection := ss.client.state.Value("character_set_client"), ss.client.state.Value("collation_connection")
	if charset, _, _ := strings.Cut(strings.Trim(connection, "'"), "_"); charset != strings.Trim(client, "'") && !sqltext.IsASCII(string(b)) {
		return a, newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule, with a value beyond ASCII, while character_set_client is not the set of collation_connection: SET NAMES")
	}
	a.value = value.NewString(string(b))
	return a, nil
}

// takes reports whether values are of the kinds that the first ones were, and notes the kinds of those that are the first.
func (k *keptText) takes(args []argument) bool {
	if k.kinds == nil {
		k.kinds = make([]value.Kind, k.params)
	}
	for n, a := range args {
		kind := a.value.Kind()
		if kind == value.Uint {
			kind = value.Int
		}
		switch first := &k.kinds[n]; {
		case kind == value.Null:
		case *first == value.Null:
			*first = kind
		case kind != *first:
			return false
		}
	}
	return true
}

// with returns the text with values in the places of its parameters: as literals, which mean what parameters do.
func (k *keptText) with(args []argument) (string, error) {
	var edits []edit
	for n, p := range paramPlaces(k.text, k.reading.mode) {
		text, err := args[n].literal(p, k.reading.mode)
		if err != nil {
			return "", err
		}
		edits = append(edits, edit{p.pos, p.end, text})
	}
	return withEdits(k.text, edits), nil
}
