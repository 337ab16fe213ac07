package state

// greetingCollations are the ids of collations that the greeting may name, by the character set of proxy_charset.
// Clients answer with their own; the byte matters only to those that have none.
var greetingCollations = map[string]uint8{
	"big5": 1, "latin2": 9, "latin1": 8, "ascii": 11, "ujis": 12, "sjis": 13, "hebrew": 16, "tis620": 18, "euckr": 19,
	"gb2312": 24, "greek": 25, "cp1250": 26, "gbk": 28, "latin5": 30, "utf8": 33, "utf8mb3": 33, "cp866": 36, "utf8mb4": 45,
	"cp1251": 51, "cp1256": 57, "cp1257": 59, "binary": 63, "cp932": 95, "eucjpms": 97, "gb18030": 248,
}

// GreetingCollation returns the collation id that the greeting names for a character set, that of utf8mb4 for one that is not known.
func GreetingCollation(charset string) uint8 {
	if id, ok := greetingCollations[charset]; ok {
		return id
	}
	return greetingCollations["utf8mb4"]
}
