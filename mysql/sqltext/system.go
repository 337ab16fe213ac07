package sqltext

import "strings"

// systemSchema are the keywords that are names of the servers' own schemas, or of the proxies'.
var systemSchema = [kwXA + 1]bool{kwInformationSchema: true, kwKSMeta: true, kwMySQL: true, kwPerformanceSchema: true, kwSys: true}

// systemLengths has the bit of each length that the name of a schema of the servers' own has.
const systemLengths = 1<<len("sys") | 1<<len("mysql") | 1<<len(ProxySchema) | 1<<len("information_schema") | 1<<(len(ProxySchema)-1+len(kelvin)) |
	1<<(len(ProxySchema)-1+len(kelvinGB18030))

// ProxySchema is the schema that has the proxies' own tables.
const ProxySchema = "ks_meta"

// IsSystemSchema reports whether a schema is one of the servers' own: information_schema, mysql, performance_schema, sys; or the proxies'.
func IsSystemSchema(name string) bool {
	return len(name) < 32 && systemLengths>>len(name)&1 != 0 && isSystemSchema(name)
}

// kelvin is the only letter beyond ASCII that the letters of ks_meta are the lower case of: a server with lower_case_table_names takes it for a k. Of the
// character sets that clients may have, UTF-8 and GB18030 have it. The names of the other schemas are not stored so, or have no k.
const (
	kelvin        = "\u212A"
	kelvinGB18030 = "\x816\xbf2"
)

// IsProxySchema reports whether a server may take a name for that of the proxies' own schema.
func IsProxySchema(name string) bool {
	return foldEqual(name, ProxySchema) || wideProxySchema(name)
}

// wideProxySchema is IsProxySchema of a name that begins with a letter beyond ASCII.
func wideProxySchema(name string) bool {
	rest, ok := strings.CutPrefix(name, kelvin)
	if !ok {
		rest, ok = strings.CutPrefix(name, kelvinGB18030)
	}
	return ok && foldEqual(rest, ProxySchema[1:])
}

func isSystemSchema(name string) bool {
	return foldEqual(name, "sys") || foldEqual(name, "mysql") || IsProxySchema(name) || foldEqual(name, "information_schema") || foldEqual(name, "performance_schema")
}

// systemQuoted reports whether the quoted identifier from pos to end is such a name.
func systemQuoted(sql string, pos, end int) bool {
	return end > pos+2 && IsSystemSchema(sql[pos+1:end-1])
}

// SystemName is a name in a statement that may be that of something in one of the schemas of IsSystemSchema.
type SystemName struct {
	Schema string // in lower case
	Name   string // in lower case, without quotes; "" where the schema's name stands alone
}

// SystemNames lists the names in a text that may be of something in the servers' own schemas: those behind the name of such a schema
// and, if the current database is one of them, all that stand alone. Names in strings and comments do not count.
func SystemNames(sql string, m Mode, db string) (list []SystemName) {
	home := ""
	if IsSystemSchema(db) {
		home = strings.ToLower(db)
	}
	text := func(t Token) (name string, ok bool) {
		if t.Kind != KindWord && t.Kind != KindQuotedIdent {
			return "", false
		}
		if name = UnquoteIdent(sql[t.Pos:t.End], m); IsProxySchema(name) {
			return ProxySchema, true
		}
		return strings.ToLower(name), true
	}
	l := NewLexer(sql, m)
	named, dotted := false, false // of the token before: it is a name, or a dot behind one
	for t := l.Next(); t.Kind != KindEOF; {
		name, ok := text(t)
		if !ok {
			named, dotted = false, named && sql[t.Pos:t.End] == "."
			t = l.Next()
			continue
		}
		next := l.Next()
		switch {
		case IsSystemSchema(name) && !dotted:
			n := SystemName{Schema: name}
			if next.Kind == KindOp && sql[next.Pos:next.End] == "." {
				next = l.Next()
				if n.Name, ok = text(next); ok {
					next = l.Next()
				}
			}
			list = append(list, n)
		case home != "":
			list = append(list, SystemName{Schema: home, Name: name})
		}
		t, named, dotted = next, true, false
	}
	return list
}
