package config

import "slices"

// charsets are the character sets of MySQL and MariaDB that a client may use. MySQL manual: "Supported Character Sets and
// Collations"; ucs2, utf16, utf16le and utf32 are left out after "Impermissible Client Character Sets".
var charsets = []string{
	"armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "cp932", "dec8",
	"eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1",
	"latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7", "tis620", "ujis", "utf8", "utf8mb3", "utf8mb4",
}

func knownCharset(name string) bool { return slices.Contains(charsets, name) }
