package mysql

import (
	"bytes"
	"cmp"
	"strings"
)

// TableNames knows tables beyond those of a statement: a server's message may be about one that refers to them.
type TableNames interface {
	// Named gives the destination's name of a table of the source; ok is false for one that has the same there, or that it does not know.
	Named(node, schema, table string) (name TableName, ok bool)
	// Constraint gives the destination's name of a constraint of some table of the source's schema; ok is false for one that is no part's: see
	// [PartConstraint].
	Constraint(node, schema, own string) (name string, ok bool)
}

// RenameText puts the destination's names into a message of a server, an error's or a warning's with that code: those of tables, of
// columns, and of what has its name after a table: see [PartConstraint]. Values that the message quotes stay.
func RenameText(code uint16, text string, names []TableName) string {
	if len(names) == 0 {
		return text
	}
	from, to := quotedValue(code, text)
	r := renaming{names: names}
	r.copy(unescapePairs(text[:from]))
	r.out = append(r.out, text[from:to]...)
	r.copy(unescapePairs(text[to:]))
	return string(r.out)
}

// quotedValues are the messages that quote a value, which may be anything, by their codes: what stands in front of it, and what may stand
// behind it. MySQL and MariaDB manuals: "Server Error Message Reference", "MariaDB Error Codes".
var quotedValues = map[uint16]struct {
	before string
	behind []string
}{
	1062: {"Duplicate entry '", []string{"' for key "}},
	1586: {"Duplicate entry '", []string{"' for key "}},
	1105: {": '", []string{"'"}}, // of XPATH
	1139: {" error '", []string{"' from regexp", "'"}},
	1231: {"' can't be set to the value of '", []string{"'"}},
	1292: {" value: '", []string{"' for column ", "'"}},
	1298: {" time zone: '", []string{"'"}},
	1525: {" value: '", []string{"'"}},
	1557: {"', entry '", []string{"', key "}},
	1761: {"', record '", []string{"' would lead to "}},
	1762: {"', record '", []string{"' would lead to "}},
	1912: {"Incorrect value '", []string{"' for option "}},
	1916: {" when converting '", []string{"' to "}},
	1917: {"Truncated value '", []string{"' when converting to "}},
	1918: {" illegal value '", []string{"' when converting to "}},
	3140: {`Invalid JSON text: "`, []string{`" at position `}},
	3141: {`: "`, []string{`" at position `}},
	1366: {" value: '", []string{"' for column ", "'"}},
	1411: {" value: '", []string{"' for function ", "'"}},
	1367: {" '", []string{"' value found during parsing"}},
	1300: {" character string: '", []string{"'"}},
	1977: {"Cannot convert '", []string{"' character "}},
	3854: {"Cannot convert string '", []string{"' from "}},
	1526: {" value ", []string{""}},
	1644: {"", []string{""}}, // of SIGNAL: the client's own text
}

// quotedValue gives the place of the value that a message quotes; an empty one where it quotes none.
func quotedValue(code uint16, text string) (from, to int) {
	q, ok := quotedValues[code]
	if !ok {
		return 0, 0
	}
	k := strings.Index(text, q.before)
	if k < 0 {
		return 0, 0
	}
	from = k + len(q.before)
	for _, behind := range q.behind {
		if k = strings.LastIndex(text, behind); k >= from {
			return from, k
		}
	}
	return 0, 0
}

// renaming is one RenameText under way.
type renaming struct {
	names []TableName
	out   []byte
	// schema is that of the table named last with one: names behind it without one are of this schema.
	schema string
	// last is the table named last that the statement does not name.
	last *TableName
}

// copy adds a part of the message with other names.
func (r *renaming) copy(text string) {
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		if at == 0 || !isNameByte(text[at-1]) {
			if n := r.replace(text[at:], end-at); n > 0 {
				at += n
				continue
			}
		}
		end = max(end, at+1)
		r.out = append(r.out, text[at:end]...)
		at = end
	}
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// replace adds the destination's name for the one that text begins with, and tells its length; 0 without one. Its first word has that length.
func (r *renaming) replace(text string, word int) int {
	best := -1
	schema := r.qualifier()
	for k := range r.names {
		n := &r.names[k]
		if n.FromTable == n.Table && n.FromSchema == n.Schema || !strings.HasPrefix(text, n.FromTable) || !endsName(text[len(n.FromTable):]) ||
			schema != "" && !strings.EqualFold(schema, n.FromSchema) {
			continue
		}
		if best < 0 || len(n.FromTable) > len(r.names[best].FromTable) || r.qualified(n.FromSchema) > 0 && r.qualified(r.names[best].FromSchema) == 0 {
			best = k
		}
	}
	if best >= 0 {
		if schema != "" {
			r.schema = schema
		}
		r.table(&r.names[best])
		return len(r.names[best].FromTable)
	}
	if word == 0 {
		return 0
	}
	if r.constraint(text[:word]) {
		return word
	}
	for k := range r.names {
		if shown, ok := r.names[k].Columns[text[:word]]; ok {
			return word + r.column(shown, text[word:])
		}
	}
	for k := range r.names {
		n := &r.names[k]
		if n.Others == nil {
			continue
		}
		table := madeAfter(text[:word])
		if other, ok := n.Others.Named(n.Node, cmp.Or(schema, r.schema, n.FromSchema), table); ok {
			if schema != "" {
				r.schema = schema
			}
			r.table(&other)
			r.last = &other
			return len(table)
		}
		break
	}
	return 0
}

// constraint adds the name that a table has for a constraint of one of its parts; false where a word is no end of such a name.
func (r *renaming) constraint(word string) bool {
	if !strings.Contains(word, tagMark) {
		return false
	}
	// The whole name tells whether it is packed; the word is but its end where others than letters are in it.
	begin := bytes.LastIndexAny(r.out, "`'") + 1
	name, ok := r.constraintNamed(string(r.out[begin:]) + word)
	if ok {
		r.out = append(r.out[:begin], name...)
	}
	return ok
}

// constraintNamed looks for the table that has a constraint: the one named last, those of the statement, then any.
func (r *renaming) constraintNamed(own string) (name string, ok bool) {
	if r.last != nil {
		if name, ok = TableConstraint(own, r.last.Table, r.last.FromTable); ok {
			return name, true
		}
	}
	for k := range r.names {
		if name, ok = TableConstraint(own, r.names[k].Table, r.names[k].FromTable); ok {
			return name, true
		}
	}
	for k := range r.names {
		if n := &r.names[k]; n.Others != nil {
			return n.Others.Constraint(n.Node, n.FromSchema, own)
		}
	}
	return own, false
}

// table adds a table's name, and changes that of the schema in front of it.
func (r *renaming) table(n *TableName) {
	if k := r.qualified(n.FromSchema); k > 0 && n.FromSchema != n.Schema {
		tail := string(r.out[len(r.out)-k+len(n.FromSchema):])
		r.out = append(append(r.out[:len(r.out)-k], n.Schema...), tail...)
	}
	r.out = append(r.out, n.Table...)
}

// qualifier gives the name that is the end of what is there with a point behind it, such as a schema's; "" without one.
func (r *renaming) qualifier() string {
	if rest, ok := bytes.CutSuffix(r.out, []byte("`.`")); ok {
		return string(rest[bytes.LastIndexByte(rest, '`')+1:])
	}
	rest, ok := bytes.CutSuffix(r.out, []byte("."))
	if !ok {
		return ""
	}
	from := len(rest)
	for from > 0 && isNameByte(rest[from-1]) {
		from--
	}
	return string(rest[from:])
}

// qualified tells whether a schema's name and a point are the end of what is there, and how long that end is.
func (r *renaming) qualified(schema string) int {
	for _, point := range [...]string{"`.`", "."} {
		k := len(schema) + len(point)
		if len(r.out) >= k && string(r.out[len(r.out)-k:]) == schema+point && (len(r.out) == k || !isNameByte(r.out[len(r.out)-k-1])) {
			return k
		}
	}
	return 0
}

// column adds what the destination knows a column as: a name, or the expression that it has the value of, which no table qualifies. It
// tells how much of what follows is gone with the name.
func (r *renaming) column(shown, rest string) int {
	name := shown != ""
	for k := range len(shown) {
		name = name && isNameByte(shown[k])
	}
	if name {
		r.out = append(r.out, shown...)
		return 0
	}
	quoted := len(r.out) > 0 && r.out[len(r.out)-1] == '`'
	end := len(r.out)
	for end > 0 && (isNameByte(r.out[end-1]) || r.out[end-1] == '.' || quoted && r.out[end-1] == '`') {
		end--
	}
	r.out = append(r.out[:end], shown...)
	if quoted && strings.HasPrefix(rest, "`") {
		return 1
	}
	return 0
}

// endsName tells whether a name can end before a text: there is no more of it, or what servers add for things that they name after a table.
func endsName(rest string) bool {
	return rest == "" || !isNameByte(rest[0]) || strings.HasPrefix(rest, "_ibfk_") || strings.HasPrefix(rest, "_chk_")
}

// madeAfter gives the table that a server named a constraint after.
func madeAfter(name string) string {
	for _, made := range [...]string{"_ibfk_", "_chk_"} {
		if k := strings.LastIndex(name, made); k > 0 {
			return name[:k]
		}
	}
	return name
}
