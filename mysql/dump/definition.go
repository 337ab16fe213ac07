package dump

import (
	"errors"
	"fmt"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// definition is CREATE TABLE as it is read.
type definition struct {
	mode    sqltext.Mode
	table   *Table
	charset charset // of the database, then of the table
	assumed string  // the character set that nothing says

	columns []column
	keys    []key
	// versioned says that the server keeps old rows, with two invisible columns if the definition has none.
	versioned, ownPeriod bool
	ends                 []string // the columns of periods
}

// column is what CREATE TABLE says of a column.
type column struct {
	def       mysql.ColumnDefinition41
	invisible bool
	// period says that it is the begin or the end of one, so that it cannot be NULL.
	period                bool
	notNull               bool
	primary, unique, auto bool
	// defaults says that it has a DEFAULT other than NULL, now that this is the moment.
	defaults, now bool
	onUpdate      bool
	refers        bool // by REFERENCES
}

// key is an index of a definition.
type key struct {
	primary, unique bool
	// columns are the names, "" for an expression; prefix says that one is the beginning of a column.
	columns []string
	prefix  bool
	hashed  bool // of values as a whole, which MariaDB keeps hashes of
}

// read takes the definition from behind the table's name on, and gives the table its columns.
func (d *definition) read(p *tokens) error {
	body, ok := p.group()
	switch {
	case !ok && p.end():
		return errUnended
	case !ok:
		return errors.New("CREATE TABLE ... LIKE, or of a query")
	}
	options := *p
	set := options.charset(d.mode)
	switch {
	case set != (charset{}):
		d.charset = set
	case d.charset == (charset{}):
		d.charset = charsetOf("utf8mb4", d.mode)
		d.assumed = d.charset.collation
	}
	for ; !p.end(); p.k++ {
		switch {
		case p.is("select"), p.is("like"):
			return errors.New("CREATE TABLE of a query")
		case p.is("system") && strings.EqualFold(p.peek(1), "versioning"):
			d.versioned = true
		}
	}
	said := d.assumed != ""
	d.assumed = ""
	for _, e := range body.elements() {
		if err := d.element(&e, said); err != nil {
			p.k, p.list = 0, e.list[min(e.k, len(e.list)):] // where it is
			return err
		}
	}
	if len(d.columns) == 0 {
		return errors.New("no columns")
	}
	for _, name := range d.ends {
		if c := d.column(name); c != nil {
			c.period = true
		}
	}
	d.flags()
	d.finish()
	return nil
}

// element takes a column or a key. guessed says that the table's character set is not said.
func (d *definition) element(p *tokens, guessed bool) error {
	if p.end() {
		return errors.New("nothing between two commas")
	}
	if p.list[p.k].Kind == sqltext.KindWord {
		if is, err := d.constraint(p); is {
			return err
		}
	}
	name, ok := p.name()
	if !ok {
		return fmt.Errorf("neither a column nor a key: %s", beginning(p.sql[p.at():]))
	}
	c := column{def: mysql.ColumnDefinition41{Catalog: "def", Schema: d.table.DB, Table: d.table.Name, OrgTable: d.table.Name, Name: name, OrgName: name}}
	t, err := d.columnType(p)
	if err != nil {
		return fmt.Errorf("the column %s: %w", name, err)
	}
	if err := d.attributes(p, &c, &t); err != nil {
		return fmt.Errorf("the column %s: %w", name, err)
	}
	if t.texts && !t.said && guessed {
		d.assumed = d.charset.collation
	}
	if err := t.define(&c, d); err != nil {
		return fmt.Errorf("the column %s: %w", name, err)
	}
	d.columns = append(d.columns, c)
	return nil
}

// constraint takes a key or a condition. is is false for what is neither.
func (d *definition) constraint(p *tokens) (is bool, err error) {
	if p.take("constraint") {
		is = true
		if !p.is("primary") && !p.is("unique") && !p.is("foreign") && !p.is("check") {
			p.name()
		}
	}
	var k key
	switch {
	case p.take("check"):
		return true, nil
	case p.is("period") && strings.EqualFold(p.peek(1), "for"):
		p.k += 2
		p.name()
		d.ends = append(d.ends, p.keyParts(&k)...)
		return true, nil
	case p.take("primary"):
		k.primary, k.unique = true, true
	case p.take("unique"):
		k.unique = true
	case p.take("fulltext"), p.take("spatial"), p.is("vector") && (strings.EqualFold(p.peek(1), "key") || strings.EqualFold(p.peek(1), "index")):
		p.take("vector")
	case p.take("foreign"):
		p.take("key")
		p.ifExists()
		if p.peek(0) != "(" {
			p.name()
		}
		k.columns = p.keyParts(&k)
		if !d.begins(k.columns) {
			d.keys = append(d.keys, k) // servers make one
		}
		return true, nil
	case p.is("key"), p.is("index"):
	default:
		return is, nil
	}
	if !p.take("key") {
		p.take("index")
	}
	p.ifExists()
	if p.peek(0) != "(" && !p.is("using") {
		p.name()
	}
	if p.take("using") {
		p.word()
	}
	if k.columns = p.keyParts(&k); len(k.columns) == 0 {
		return true, errors.New("a key without columns")
	}
	k.hashed = p.take("using") && p.take("hash")
	d.keys = append(d.keys, k)
	return true, nil
}

// begins tells whether a key begins with columns.
func (d *definition) begins(columns []string) bool {
	for _, k := range d.keys {
		if len(k.columns) < len(columns) {
			continue
		}
		same := true
		for n, name := range columns {
			same = same && strings.EqualFold(k.columns[n], name)
		}
		if same {
			return true
		}
	}
	return false
}

// keyParts takes the columns of a key.
func (p *tokens) keyParts(k *key) (columns []string) {
	g, ok := p.group()
	if !ok {
		return nil
	}
	for _, part := range g.elements() {
		name, ok := "", false
		if part.peek(0) != "(" {
			name, ok = part.name()
		}
		if ok && part.peek(0) == "(" {
			k.prefix = true
		}
		columns = append(columns, name)
	}
	return columns
}

// attributes takes what follows the type of a column.
func (d *definition) attributes(p *tokens, c *column, t *columnType) error {
	for !p.end() {
		switch word := strings.ToLower(p.peek(0)); word {
		case "unsigned":
			t.unsigned = true
			p.k++
		case "zerofill":
			t.unsigned, t.zerofill = true, true
			p.k++
		case "not":
			p.k++
			if p.take("null") {
				c.notNull = true
			}
		case "null":
			p.k++
		case "primary":
			p.k++
			p.take("key")
			c.primary = true
		case "key":
			p.k++
			c.primary = true
		case "unique":
			p.k++
			p.take("key")
			c.unique = true
		case "auto_increment":
			p.k++
			c.auto = true
		case "default":
			p.k++
			c.defaults = true
			p.expression(c)
		case "on":
			p.k++
			if p.take("update") {
				c.onUpdate = true
				p.word()
				p.group()
			}
		case "character", "charset":
			p.k++
			p.take("set")
			t.charset, t.said = charsetOf(p.value(), d.mode), true
			if t.collate != "" {
				t.charset = t.charset.collated(t.collate)
			}
		case "collate":
			p.k++
			t.collate = p.value()
			if t.charset == (charset{}) {
				t.charset = d.charset
			}
			t.charset, t.said = t.charset.collated(t.collate), true
		case "binary":
			p.k++
			t.bin = true
		case "ascii":
			p.k++
			t.charset, t.said = charsetOf("latin1", d.mode), true
		case "unicode":
			p.k++
			t.charset, t.said = charsetOf("ucs2", d.mode), true
		case "generated":
			p.k++
			p.take("always")
		case "as":
			p.k++
			if p.take("row") { // START or END of a period
				p.k++
				d.ends = append(d.ends, c.def.Name)
				d.ownPeriod = true
				continue
			}
			p.group()
		case "invisible":
			p.k++
			c.invisible = true
		case "comment", "column_format", "storage", "srid", "engine_attribute", "secondary_engine_attribute":
			p.k++
			p.value()
		case "references":
			p.k = len(p.list)
			c.refers = true
		case "constraint":
			p.k++
			if !p.is("check") {
				p.name()
			}
		case "check", "compressed":
			t.compressed = t.compressed || word == "compressed"
			p.k++
			p.group()
			if p.takeOp("=") {
				p.k++
			}
		case "signed", "visible", "virtual", "stored", "persistent", "with", "without", "system", "versioning", "enforced", "ref_system_id":
			p.k++
			if p.takeOp("=") {
				p.k++
			}
		default:
			return fmt.Errorf("%s is not understood", beginning(p.peek(0)))
		}
	}
	return nil
}

// expression takes that of DEFAULT.
func (p *tokens) expression(c *column) {
	if p.is("null") {
		p.k++
		c.defaults = false
		return
	}
	if strings.EqualFold(p.peek(0), "current_timestamp") || strings.EqualFold(p.peek(0), "now") || strings.EqualFold(p.peek(0), "localtimestamp") {
		c.now = true
	}
	if _, ok := p.group(); ok {
		return
	}
	if p.peek(0) == "-" || p.peek(0) == "+" {
		p.k++
	}
	introduced := strings.HasPrefix(p.peek(0), "_")
	p.k++
	for p.takeOp(".") { // a sequence, or a function, with its database
		p.k++
	}
	if introduced && !p.end() && (p.list[p.k].Kind == sqltext.KindString || p.list[p.k].Kind == sqltext.KindHex) {
		p.k++
	}
	p.group()
}

// finish tells apart columns that * does not stand for.
func (d *definition) finish() {
	for k := range d.columns {
		c := &d.columns[k]
		if c.invisible {
			d.table.Invisible = append(d.table.Invisible, c.def)
		} else {
			d.table.Columns = append(d.table.Columns, c.def)
		}
	}
	if d.versioned && !d.ownPeriod {
		for _, name := range []string{"row_start", "row_end"} {
			d.table.Invisible = append(d.table.Invisible, d.rowTime(name))
		}
	}
}
