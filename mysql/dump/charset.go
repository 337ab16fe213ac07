package dump

import (
	"strings"

	"kingshard/mysql/collation"
	"kingshard/mysql/sqltext"
)

// charset is a character set with a collation; the zero charset is none.
type charset struct{ name, collation string }

// bytesMax is how many bytes a character takes at most, by character set; 1 for those that are not here. MySQL manual: "Supported Character Sets and
// Collations".
var bytesMax = map[string]int{
	"utf8mb4": 4, "utf16": 4, "utf16le": 4, "utf32": 4, "gb18030": 4,
	"utf8mb3": 3, "ujis": 3, "eucjpms": 3,
	"ucs2": 2, "big5": 2, "sjis": 2, "cp932": 2, "gbk": 2, "gb2312": 2, "euckr": 2,
}

// unlike are the default collations that are not general_ci.
var unlike = map[string]string{
	"latin1": "swedish_ci", "big5": "chinese_ci", "dec8": "swedish_ci", "hp8": "english_ci", "swe7": "swedish_ci", "ujis": "japanese_ci", "sjis": "japanese_ci",
	"tis620": "thai_ci", "euckr": "korean_ci", "gb2312": "chinese_ci", "latin5": "turkish_ci", "gbk": "chinese_ci", "cp932": "japanese_ci", "eucjpms": "japanese_ci",
	"gb18030": "chinese_ci",
}

// unicode are the sets whose default collation is another one in MariaDB from 11.6 on. MariaDB Knowledge Base: "character_set_collations".
var unicode = map[string]bool{"utf8mb3": true, "ucs2": true, "utf8mb4": true, "utf16": true, "utf32": true}

// charsetOf is a character set with its default collation on a server.
func charsetOf(name string, m sqltext.Mode) charset {
	name = strings.ToLower(name)
	if name == "utf8" {
		name = "utf8mb3"
	}
	rest := unlike[name]
	switch {
	case name == "binary":
		return charset{name, name}
	case rest != "":
	case name == "utf8mb4" && !m.MariaDB && m.ServerVersion >= 80001:
		rest = "0900_ai_ci"
	case unicode[name] && m.MariaDB && m.ServerVersion >= 110600:
		rest = "uca1400_ai_ci"
	default:
		rest = "general_ci"
	}
	return charset{name, name + "_" + rest}
}

// collated is a collation, of the character set c where its name says none.
func (c charset) collated(name string) charset {
	name = strings.ToLower(name)
	if collation.Short(name) {
		return charset{c.name, c.name + "_" + name}
	}
	if rest, old := strings.CutPrefix(name, "utf8_"); old {
		name = "utf8mb3_" + rest
	}
	set, _, _ := strings.Cut(name, "_")
	return charset{set, name}
}

// bin is the binary collation of the set.
func (c charset) bin() charset {
	if c.name == "binary" {
		return c
	}
	return charset{c.name, c.name + "_bin"}
}

// id returns the number by which the server of this mode tells the collation; 0 if it is not known.
func (c charset) id(m sqltext.Mode) uint16 {
	if set, rest, named := strings.Cut(c.collation, "_uca1400_"); named && m.MariaDB {
		return collation.IDOf(set + "_" + toldAs(rest))
	}
	if set, croatian := strings.CutSuffix(c.collation, "_croatian_ci"); croatian && !m.MariaDB { // MariaDB's collation of this name is another one
		if id := collation.IDOf(set + "_croatian_mysql561_ci"); id > 0 {
			return id
		}
	}
	return collation.IDOf(c.collation)
}

// width is how many bytes a character takes at most.
func (c charset) width() uint32 {
	if n := bytesMax[c.name]; n > 0 {
		return uint32(n)
	}
	return 1
}

// charset takes the options of a database or a table for what they say of its texts; zero if they say nothing.
func (p *tokens) charset(m sqltext.Mode) (c charset) {
	collate := ""
	for !p.end() {
		switch {
		case p.take("charset"), p.is("character") && strings.EqualFold(p.peek(1), "set"):
			p.take("character")
			p.take("set")
			c = charsetOf(p.value(), m)
		case p.take("collate"):
			collate = p.value()
		default:
			p.k++
		}
	}
	if collate != "" {
		c = c.collated(collate)
	}
	return c
}

// toldAs is the collation that MariaDB tells clients in place of one of uca1400, by what follows that in its name: the older one of the same
// language.
func toldAs(rest string) string {
	language, _, _ := strings.Cut(rest, "_")
	switch language {
	case "ai", "as", "nopad":
		return "unicode_ci"
	}
	return language + "_ci"
}
