package plan

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// LoadShape says which fields of a file's lines a LOAD DATA over several shards looks at.
type LoadShape struct {
	// Fields is the number of fields that the statement reads of a line.
	Fields int
	// Keys are the fields of the key columns, in order; none for a table that is whole on every node.
	Keys []int
	// Auto is the field of the AUTO_INCREMENT column, -1 without one.
	Auto int
	// Variables are the user variables that fields go to: a file leaves the last line's values in them.
	Variables []LoadVariable

	auto string // name of the AUTO_INCREMENT column
}

// LoadVariable is a field that goes to a user variable.
type LoadVariable struct {
	Field int
	Name  string
}

// loadPlan plans LOAD DATA.
func (b *builder) loadPlan() error {
	p, l := b.p, b.p.Statement.Load
	t := b.byTable[l.Table]
	p.Target = t
	if t.Table.Kind == router.Single || t.Table.Kind == router.Sharded && len(t.Table.Shards) == 1 {
		p.Many, p.Reason = ManyRefuse, "LOAD DATA into a table of several servers"
		return nil
	}
	if !l.Local {
		return Refuse("LOAD DATA into the sharded table %s reads a file of one server, and rows of it belong to others: use LOAD DATA LOCAL", l.Table.Name)
	}
	shape := &LoadShape{Auto: -1}
	if err := b.loadFields(shape); err != nil {
		return err
	}
	if err := b.loadSet(); err != nil {
		return err
	}
	if t.Table.Kind == router.Sharded {
		if err := b.loadKeys(shape); err != nil {
			return err
		}
	}
	p.Many, p.load = ManyLoad, shape
	return nil
}

// loadFields finds where the fields go.
func (b *builder) loadFields(shape *LoadShape) error {
	p, l := b.p, b.p.Statement.Load
	if l.Fields == nil {
		if p.Target.Columns == nil {
			return Refuse("LOAD DATA into the sharded table %s, whose columns are not known", l.Table.Name)
		}
		for _, d := range p.Target.Columns {
			l.Fields = append(l.Fields, sqlparse.LoadField{Name: d.Name})
		}
	}
	shape.Fields = len(l.Fields)
	if shape.Fields == 0 {
		return Refuse("LOAD DATA of no columns into the sharded table %s", l.Table.Name)
	}
	for k, f := range l.Fields {
		if f.Variable {
			shape.Variables = append(shape.Variables, LoadVariable{k, f.Name})
		}
	}
	return nil
}

// loadSet refuses values that a shard computes in another way than one server.
func (b *builder) loadSet() error {
	p, l := b.p, b.p.Statement.Load
	for _, a := range l.Set {
		if p.Target.keyOf(a.Column) >= 0 {
			return Refuse("the sharding key %s of %s must come from a field of the file as it is, not from SET", a.Column, l.Table.Name)
		}
		switch {
		case a.Expr.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify):
			return Refuse("LOAD DATA into the sharded table %s with a subquery in SET", l.Table.Name)
		case assigns(a.Expr):
			return Refuse("LOAD DATA into the sharded table %s with a variable that goes from line to line", l.Table.Name)
		case !stable(a.Expr) && p.Target.Table.Kind == router.Reference:
			return Refuse("a change of a table on every node by a function that is not the same on each")
		}
	}
	return nil
}

// assigns tells whether an expression gives a user variable a value.
func assigns(e *sqlparse.Expr) bool {
	found := false
	e.Walk(func(x *sqlparse.Expr) bool {
		found = found || x.Op == sqlparse.Variable && len(x.Args) > 0
		return !found
	})
	return found
}

// loadKeys finds the fields of the key and of the AUTO_INCREMENT column.
func (b *builder) loadKeys(shape *LoadShape) error {
	t, l := b.p.Target, b.p.Statement.Load
	at := func(column string) int {
		return slices.IndexFunc(l.Fields, func(f sqlparse.LoadField) bool { return !f.Variable && strings.EqualFold(f.Name, column) })
	}
	for _, key := range t.Table.Keys {
		k := at(key)
		if k < 0 {
			return Refuse("LOAD DATA must give the sharding key: column %s of %s is not among the fields of the file", key, l.Table.Name)
		}
		if t.column(key) == nil {
			return Refuse("LOAD DATA into the sharded table %s, whose columns are not known", l.Table.Name)
		}
		shape.Keys = append(shape.Keys, k)
	}
	for _, d := range t.Columns {
		if d.Flags&autoIncrementFlag == 0 {
			continue
		}
		k := at(d.Name)
		if k < 0 || slices.ContainsFunc(l.Set, func(a sqlparse.Assignment) bool { return strings.EqualFold(a.Column, d.Name) }) {
			return needsAuto(d.Name, l.Table.Name)
		}
		shape.Auto, shape.auto = k, d.Name
	}
	return nil
}

func needsAuto(column, table string) error {
	return Refuse("AUTO_INCREMENT column %s of the sharded table %s needs a value: each sub-table would count for itself", column, table)
}

// Load gives the shape of a LOAD DATA over several shards; nil for all other plans.
func (p *Plan) Load() *LoadShape { return p.load }

// LoadShard gives the position of the shard of a line, by its key as the file has it; auto is the AUTO_INCREMENT column's
// field where there is one. utf8 tells whether the file is in UTF-8. Errors are refusals.
func (p *Plan) LoadShard(key []value.Value, auto value.Value, utf8 bool) (int, error) {
	t := p.Target
	if p.load.Auto >= 0 && !positive(auto) {
		return 0, needsAuto(p.load.auto, t.Parsed.Name)
	}
	for k, v := range key {
		if why := misfit(t.column(t.Table.Keys[k]), v, utf8); why != "" {
			return 0, Refuse("the sharding key %s of %s %s", t.Table.Keys[k], t.Parsed.Name, why)
		}
	}
	position, _, err := t.Table.Place(key, t.key)
	if errors.Is(err, rule.ErrNoShard) || errors.Is(err, rule.ErrConvert) {
		return 0, Refuse("%s: %v", t.Parsed.Name, err)
	}
	return position, err
}

// positive tells whether a text is a whole number above zero, so that no server counts in its place.
func positive(v value.Value) bool {
	digits := strings.TrimLeft(v.Text(), "0")
	for k := range len(digits) {
		if digits[k] < '0' || digits[k] > '9' {
			return false
		}
	}
	return !v.IsNull() && digits != ""
}

// misfit tells why a column may store another value than the file has: LOAD DATA LOCAL cuts values to their column with no
// more than a warning, and the row would be on the wrong shard. "" where it stores the value or refuses it.
func misfit(d *mysql.ColumnDefinition41, v value.Value, inUTF8 bool) string {
	if v.IsNull() {
		return "must not be NULL"
	}
	text := v.Text()
	switch classOf(d) {
	case rule.Integer, rule.Unsigned:
		if !withinInteger(d, text) {
			return "does not fit its column"
		}
	case rule.Decimal:
		whole, _, _ := strings.Cut(text, ".")
		if len(strings.TrimLeft(strings.TrimLeft(whole, "+-"), "0")) > decimalWhole(d) {
			return "does not fit its column"
		}
	case rule.CharBinary, rule.CharCI:
		if !ascii(text) && (!inUTF8 || !utf8.ValidString(text)) {
			return "has characters beyond ASCII in a file that is not in UTF-8"
		}
		if utf8.RuneCountInString(text) > int(d.Length)/bytesPerChar(d.Charset) {
			return "is longer than its column"
		}
	case rule.Bytes:
		if len(text) > int(d.Length) {
			return "is longer than its column"
		}
	}
	return ""
}

func ascii(text string) bool {
	for k := range len(text) {
		if text[k] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// integerBits are the sizes of integer types.
var integerBits = map[mysql.ColumnType]uint{mysql.TypeTiny: 8, mysql.TypeShort: 16, mysql.TypeInt24: 24, mysql.TypeLong: 32}

// withinInteger tells whether a whole number is within the column's range. What is no number, or beyond 64 bits, is left
// to the rule to refuse.
func withinInteger(d *mysql.ColumnDefinition41, text string) bool {
	bits, small := integerBits[d.Type]
	if !small {
		return true
	}
	digits := strings.TrimLeft(strings.Trim(text, " "), "+")
	negative := strings.HasPrefix(digits, "-")
	digits = strings.TrimLeft(strings.TrimPrefix(digits, "-"), "0")
	most := uint64(1)<<bits - 1
	if d.Flags&mysql.UnsignedFlag == 0 {
		most = 1<<(bits-1) - 1
		if negative {
			most++
		}
	}
	var n uint64
	for k := range len(digits) {
		if digits[k] < '0' || digits[k] > '9' {
			break // a point, which the rule looks at
		}
		if n = n*10 + uint64(digits[k]-'0'); n > most {
			return false
		}
	}
	return true
}

// decimalWhole is how many digits a DECIMAL column has ahead of the point.
func decimalWhole(d *mysql.ColumnDefinition41) int {
	n := int(d.Length) - int(d.Decimals)
	if d.Decimals > 0 {
		n-- // the point
	}
	if d.Flags&mysql.UnsignedFlag == 0 {
		n-- // the sign
	}
	return n
}

// bytesPerChar is the most bytes of a character under a collation, by its id.
func bytesPerChar(collation uint16) int {
	id := collation
	if id >= 1024 && id < 2048 {
		id -= 1024 // MariaDB's NO PAD collations
	}
	switch {
	case id == 45 || id == 46 || id >= 224 && id <= 247 || id >= 248 && id <= 250 || id >= 255 && id <= 323, // utf8mb4, gb18030
		id == 54 || id == 55 || id == 56 || id == 62 || id >= 101 && id <= 124, // utf16
		id == 60 || id == 61 || id >= 160 && id <= 183,                         // utf32
		id >= 2304: // MariaDB's UCA 14.0.0, utf8mb4 and wider
		return 4
	case id == 33 || id == 76 || id == 83 || id >= 192 && id <= 223, id >= 2048, // utf8mb3
		id == 12 || id == 91 || id == 97 || id == 98: // ujis, eucjpms
		return 3
	case id == 1 || id == 84 || id == 13 || id == 88 || id == 19 || id == 85 || id == 24 || id == 86 || id == 28 || id == 87 || id == 95 || id == 96,
		id == 35 || id == 90 || id >= 128 && id <= 159: // ucs2
		return 2
	}
	return 1
}

// loads are the shards that the lines go to, with the statement of each.
func (e *Execution) loads() Route {
	t := e.plan.Target.Table
	r := Route{Many: ManyLoad, Positions: rule.All(len(t.Shards))}
	for _, at := range r.Positions {
		e.stand(at)
		r.Queries = append(r.Queries, *e.whole(t.Shards[at].Node))
	}
	return r
}
