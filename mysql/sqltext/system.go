package sqltext

import "strings"

// systemSchema are the keywords that are names of the servers' own schemas, or of the proxies'.
var systemSchema = [kwXA + 1]bool{kwInformationSchema: true, kwKSMeta: true, kwMySQL: true, kwPerformanceSchema: true, kwSys: true}

// systemLengths has the bit of each length that the name of a schema of the servers' own has.
const systemLengths = 1<<len("sys") | 1<<len("mysql") | 1<<len(ProxySchema) | 1<<len("information_schema")

// ProxySchema is the schema that has the proxies' own tables.
const ProxySchema = "ks_meta"

// IsSystemSchema reports whether a schema is one of the servers' own: information_schema, mysql, performance_schema, sys; or the proxies'.
func IsSystemSchema(name string) bool {
	return len(name) < 32 && systemLengths>>len(name)&1 != 0 && isSystemSchema(name)
}

func isSystemSchema(name string) bool {
	return foldEqual(name, "sys") || foldEqual(name, "mysql") || foldEqual(name, ProxySchema) || foldEqual(name, "information_schema") || foldEqual(name, "performance_schema")
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
		return strings.ToLower(UnquoteIdent(sql[t.Pos:t.End], m)), true
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
