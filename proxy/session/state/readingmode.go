package state

import (
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
)

// ansiModes are the modes that stand for PIPES_AS_CONCAT, ANSI_QUOTES and IGNORE_SPACE together with others. MySQL and
// MariaDB manuals: "Server SQL Modes", "SQL_MODE".
var ansiModes = []string{"ANSI", "ORACLE", "MSSQL", "POSTGRESQL", "DB2", "MAXDB"}

// strictModes are those that make errors of values that do not fit.
var strictModes = []string{"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"}

// ReadMode derives how the client's text is to be read from sql_mode, the character set and the server's version.
func (st *State) ReadMode(info *backend.Info) {
	sqlMode := info.SQLMode
	if v := st.Value("sql_mode"); v != "" {
		sqlMode = strings.Trim(v, "'")
	}
	sqlMode = "," + strings.ToUpper(sqlMode) + ","
	has := func(m string) bool { return strings.Contains(sqlMode, ","+m+",") }
	st.Strict = slices.ContainsFunc(strictModes, has)
	ansi := slices.ContainsFunc(ansiModes, has)
	st.Mode = sqltext.Mode{
		ANSIQuotes:         has("ANSI_QUOTES") || ansi,
		NoBackslashEscapes: has("NO_BACKSLASH_ESCAPES"),
		PipesAsConcat:      has("PIPES_AS_CONCAT") || ansi,
		HighNotPrecedence:  has("HIGH_NOT_PRECEDENCE") || has("MYSQL323") || has("MYSQL40"),
		IgnoreSpace:        has("IGNORE_SPACE") || ansi,
		MariaDB:            info.MariaDB,
		ServerVersion:      int32(info.Number),
		Charset:            TextCharset(st.Value("character_set_client")),
	}
}

// TextCharset returns in which way the second byte of a character of a character set may look like a quote or a backslash. The name may be
// in quotes.
func TextCharset(name string) sqltext.Charset {
	switch strings.ToLower(strings.Trim(name, "'")) {
	case "gbk":
		return sqltext.GBK
	case "sjis", "cp932":
		return sqltext.SJIS
	case "big5":
		return sqltext.Big5
	case "gb18030":
		return sqltext.GB18030
	case "utf8mb4", "utf8mb3", "utf8", "":
		return sqltext.ASCIISafe
	case "latin1", "latin2", "latin5", "latin7", "ascii", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
		"greek", "hebrew", "koi8r", "koi8u", "macce", "macroman", "armscii8", "dec8", "geostd8", "hp8", "keybcs2", "swe7", "tis620":
		return sqltext.SingleByte
	}
	return sqltext.ASCIISafe
}
