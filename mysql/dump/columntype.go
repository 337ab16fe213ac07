package dump

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// Column flags. MySQL manual: "Column Definition Flags".
const (
	primaryFlag     uint16 = 2
	uniqueFlag      uint16 = 4
	multipleFlag    uint16 = 8
	blobFlag        uint16 = 16
	autoFlag        uint16 = 512
	timestampFlag   uint16 = 1024
	noDefaultFlag   uint16 = 4096
	onUpdateNowFlag uint16 = 8192
	partOfKeyFlag   uint16 = 16384
)

// binaryID is the collation of what is no text.
const binaryID = 63

// notFixed is the number of decimals of what has any.
const notFixed = 31

// columnType is the type of a column as it is read.
type columnType struct {
	kind               mysql.ColumnType
	length             uint32
	decimals           uint8
	flags              uint16
	texts              bool // it has a collation, and but for BLOB and TEXT its length is in characters
	unsigned, zerofill bool

	charset charset
	said    bool // the charset is the column's own
	collate string
	bin     bool

	integer     bool
	width       int  // of an integer, that is given; -1 for none
	exact       bool // DECIMAL
	whole, part int  // its digits, all and those behind the point
	serial      bool
	compressed  bool
	address     bool // one of MariaDB's types that are written as texts
}

// integers are the types with how many digits they show, signed and not.
var integers = map[string]struct {
	kind             mysql.ColumnType
	signed, unsigned uint32
}{
	"tinyint": {mysql.TypeTiny, 4, 3}, "int1": {mysql.TypeTiny, 4, 3}, "smallint": {mysql.TypeShort, 6, 5}, "int2": {mysql.TypeShort, 6, 5},
	"mediumint": {mysql.TypeInt24, 9, 8}, "int3": {mysql.TypeInt24, 9, 8}, "middleint": {mysql.TypeInt24, 9, 8}, "int": {mysql.TypeLong, 11, 10}, "integer": {mysql.TypeLong, 11, 10},
	"int4": {mysql.TypeLong, 11, 10}, "bigint": {mysql.TypeLongLong, 20, 20}, "int8": {mysql.TypeLongLong, 20, 20},
}

// longTexts are the sizes in bytes of TEXT and BLOB types.
var longTexts = map[string]uint32{"tiny": 255, "": 65535, "medium": 16777215, "long": 4294967295}

// geometries are the spatial types.
var geometries = map[string]bool{"geometry": true, "point": true, "linestring": true, "polygon": true, "multipoint": true, "multilinestring": true,
	"multipolygon": true, "geometrycollection": true, "geomcollection": true}

// columnType takes a type.
func (d *definition) columnType(p *tokens) (t columnType, err error) {
	t.width = -1
	word := p.word()
	if word == "national" {
		t.charset, t.said = charsetOf("utf8mb3", d.mode), true
		word = p.word()
	}
	if i, ok := integers[word]; ok {
		t.kind, t.integer = i.kind, true
		t.width, _ = p.numbers()
		return t, nil
	}
	switch word {
	case "bool", "boolean":
		t.kind, t.integer, t.width = mysql.TypeTiny, true, 1
	case "serial":
		t.kind, t.integer, t.unsigned, t.serial = mysql.TypeLongLong, true, true, true
	case "decimal", "numeric", "dec", "fixed":
		t.kind, t.exact = mysql.TypeNewDecimal, true
		if t.whole, t.part = p.numbers(); t.whole <= 0 {
			t.whole = 10
		}
		t.part = max(t.part, 0)
	case "float", "double", "real", "float4", "float8":
		t.kind, t.length, t.decimals = mysql.TypeDouble, 22, notFixed
		if word == "double" {
			p.take("precision")
		}
		n, m := p.numbers()
		if word == "float" && n <= 24 || word == "float4" {
			t.kind, t.length = mysql.TypeFloat, 12
		}
		if m >= 0 {
			t.length, t.decimals = uint32(n), uint8(m)
			if word == "float" {
				t.kind = mysql.TypeFloat
			}
		}
	case "bit":
		n, _ := p.numbers()
		t.kind, t.length, t.flags = mysql.TypeBit, uint32(max(n, 1)), mysql.UnsignedFlag
	case "date":
		t.kind, t.length, t.flags = mysql.TypeDate, 10, mysql.BinaryFlag
	case "time", "datetime", "timestamp":
		n, _ := p.numbers()
		t.kind, t.length = map[string]mysql.ColumnType{"time": mysql.TypeTime, "datetime": mysql.TypeDatetime, "timestamp": mysql.TypeTimestamp}[word], 19
		if word == "time" {
			t.length = 10
		}
		if t.flags = mysql.BinaryFlag; n > 0 {
			t.length, t.decimals = t.length+1+uint32(n), uint8(n)
		}
	case "year":
		p.numbers()
		t.kind, t.length, t.flags = mysql.TypeYear, 4, mysql.UnsignedFlag|mysql.ZerofillFlag
	case "char", "character", "nchar":
		varying := p.take("varying")
		t.text(p, varying)
		if word == "nchar" {
			t.charset, t.said = charsetOf("utf8mb3", d.mode), true
		}
	case "varchar", "varcharacter", "nvarchar":
		t.text(p, true)
		if word == "nvarchar" {
			t.charset, t.said = charsetOf("utf8mb3", d.mode), true
		}
	case "binary", "varbinary":
		t.text(p, word == "varbinary")
		t.charset, t.said = charset{"binary", "binary"}, true
	case "json":
		d.json(&t)
	case "enum", "set":
		g, _ := p.group()
		err = t.choices(&g, word)
	case "vector":
		return t, d.vector(p, &t)
	case "inet4", "inet6", "uuid":
		return t, d.address(word, &t)
	case "long":
		t.long("medium", false)
		if p.take("varbinary") {
			t.charset, t.said = charset{"binary", "binary"}, true
		} else if p.take("char") || p.take("character") {
			p.take("varying")
		} else {
			p.take("varchar")
		}
	default:
		if geometries[word] {
			t.kind, t.length, t.flags = mysql.TypeGeometry, 4294967295, mysql.BinaryFlag|blobFlag
			return t, nil
		}
		for _, end := range []string{"text", "blob"} {
			size, ok := strings.CutSuffix(word, end)
			if _, known := longTexts[size]; !ok || !known {
				continue
			}
			if n, _ := p.numbers(); n > 0 {
				size = d.sizeFor(n, end == "blob")
			}
			t.long(size, end == "blob")
			return t, nil
		}
		return t, fmt.Errorf("the type %q is not known", word)
	}
	return t, err
}

// text takes the length of CHAR and VARCHAR.
func (t *columnType) text(p *tokens, varying bool) {
	n, _ := p.numbers()
	if n < 0 {
		n = 1
	}
	t.kind, t.length, t.texts = mysql.TypeString, uint32(n), true
	if varying {
		t.kind = mysql.TypeVarString
	}
}

// long is TEXT or BLOB.
func (t *columnType) long(size string, bytes bool) {
	t.kind, t.length, t.flags = mysql.TypeBlob, longTexts[size], blobFlag
	if t.texts = true; bytes {
		t.charset, t.said = charset{"binary", "binary"}, true
	}
}

// sizeFor is the TEXT or BLOB that holds n characters of the table's set.
func (d *definition) sizeFor(n int, bytes bool) string {
	if !bytes {
		n *= int(d.charset.width())
	}
	switch {
	case n < 256:
		return "tiny"
	case n < 65536:
		return ""
	case n < 16777216:
		return "medium"
	}
	return "long"
}

// choices takes the members of ENUM and SET.
func (t *columnType) choices(g *tokens, word string) error {
	longest, sum, members := 0, 0, 0
	for _, one := range g.elements() {
		if one.end() || one.list[0].Kind != sqltext.KindString {
			return fmt.Errorf("a member of %s is no text", strings.ToUpper(word))
		}
		text, _ := sqltext.Unquote(one.peek(0), one.mode)
		n := utf8.RuneCountInString(strings.TrimRight(text, " "))
		longest, sum, members = max(longest, n), sum+n, members+1
	}
	t.kind, t.texts, t.flags = mysql.TypeString, true, mysql.EnumFlag
	t.length = uint32(longest)
	if word == "set" {
		t.flags = mysql.SetFlag
		t.length = uint32(sum + members - 1)
	}
	return nil
}

// json is a type of MySQL, and a TEXT of MariaDB.
func (d *definition) json(t *columnType) {
	if d.mode.MariaDB {
		t.long("long", false)
		t.charset, t.said = charset{"utf8mb4", "utf8mb4_bin"}, true
		return
	}
	t.kind, t.length, t.flags = mysql.TypeJSON, 4294967295, blobFlag|mysql.BinaryFlag
}

// vector is a type of both, and not the same.
func (d *definition) vector(p *tokens, t *columnType) error {
	n, _ := p.numbers()
	if d.mode.MariaDB {
		return fmt.Errorf("MariaDB's type vector is not known")
	}
	if n <= 0 {
		n = 2048
	}
	t.kind, t.length, t.flags, t.decimals = mysql.TypeVector, uint32(4*n), blobFlag|mysql.BinaryFlag, notFixed
	return nil
}

// address reads INET4, INET6 or UUID, which MariaDB has and writes as texts.
func (d *definition) address(word string, t *columnType) error {
	if !d.mode.MariaDB {
		return fmt.Errorf("the type %q is not known", word)
	}
	t.kind, t.flags = mysql.TypeString, mysql.BinaryFlag|mysql.UnsignedFlag
	t.length, t.address = map[string]uint32{"inet4": 15, "inet6": 39, "uuid": 36}[word], true
	return nil
}

// define makes the column's definition.
func (t *columnType) define(c *column, d *definition) error {
	f := &c.def
	f.Type, f.Length, f.Decimals, f.Flags, f.Charset = t.kind, t.length, t.decimals, t.flags, binaryID
	if t.serial {
		c.notNull, c.auto, c.unique = true, true, true
	}
	switch {
	case t.integer:
		for _, i := range integers {
			if i.kind == t.kind {
				f.Length = i.signed
				if t.unsigned {
					f.Length = i.unsigned
				}
			}
		}
		if t.width >= 0 {
			f.Length = uint32(t.width)
		}
	case t.address:
		f.Charset = charsetOf("latin1", d.mode).id(d.mode)
	case t.exact:
		f.Length, f.Decimals = uint32(t.whole), uint8(t.part)
		if t.part > 0 {
			f.Length++
		}
		if !t.unsigned {
			f.Length++
		}
	case t.texts:
		set := t.charset
		if !t.said {
			set = d.charset
		}
		if t.bin {
			set = set.bin()
		}
		if f.Charset = set.id(d.mode); f.Charset == 0 {
			return fmt.Errorf("the collation %s is not known", set.collation)
		}
		if set.name == "binary" || strings.HasSuffix(set.collation, "_bin") {
			f.Flags |= mysql.BinaryFlag
		}
		if t.kind == mysql.TypeBlob {
			break
		}
		if f.Length *= set.width(); t.compressed && t.kind == mysql.TypeVarString {
			f.Length++
		}
	}
	if t.unsigned {
		f.Flags |= mysql.UnsignedFlag
	}
	if t.zerofill {
		f.Flags |= mysql.ZerofillFlag
	}
	return nil
}

// rowTime is a column that the server keeps for versions of rows. MariaDB Knowledge Base: "System-Versioned Tables".
func (d *definition) rowTime(name string) mysql.ColumnDefinition41 {
	return mysql.ColumnDefinition41{
		Catalog: "def", Schema: d.table.DB, Table: d.table.Name, OrgTable: d.table.Name, Name: name, OrgName: name,
		Type: mysql.TypeTimestamp, Length: 26, Decimals: 6, Charset: binaryID, Flags: mysql.NotNullFlag | mysql.UnsignedFlag | mysql.BinaryFlag | noDefaultFlag,
	}
}
