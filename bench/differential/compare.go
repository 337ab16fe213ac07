package differential

import (
	"fmt"
	"regexp"
	"strings"

	"kingshard/mysql"
)

// Difference is how two answers differ.
type Difference struct {
	Kind   string // such as "rows", "metadata" or "error 0/1105"
	Detail string
}

func differ(kind, format string, args ...any) *Difference {
	return &Difference{kind, fmt.Sprintf(format, args...)}
}

// compare compares the answers to one statement; nil says that a client cannot tell them apart but in what the statement
// leaves open. db gives the oracle's name of a database of the subject.
func compare(st *statement, oracle, subject answer, db func(string) string) *Difference {
	if d := compareErrors(oracle.Err, subject.Err); d != nil || oracle.Err != nil {
		return d
	}
	if d := compareRows(st, oracle.RawResult, subject.RawResult); d != nil {
		return d
	}
	for _, list := range []struct {
		what            string
		oracle, subject []mysql.ColumnDefinition41
	}{
		{"metadata", oracle.Columns, subject.Columns},
		{"metadata of parameters", oracle.params, subject.params},
		{"metadata of the preparation", oracle.columns, subject.columns},
	} {
		if d := st.compareColumns(list.what, list.oracle, list.subject, db); d != nil {
			return d
		}
	}
	if d := st.compareEnds(oracle, subject); d != nil {
		return d
	}
	switch {
	case (oracle.Next == nil) != (subject.Next == nil):
		return differ("results", "one answer has a further result, the other has not")
	case oracle.Next != nil:
		return compare(st, answer{RawResult: oracle.Next}, answer{RawResult: subject.Next}, db)
	}
	return nil
}

// compareErrors compares code, SQLSTATE and what is left of the message without names of sub-tables and values.
func compareErrors(oracle, subject *mysql.SQLError) *Difference {
	if oracle == nil {
		oracle = new(mysql.SQLError)
	}
	if subject == nil {
		subject = new(mysql.SQLError)
	}
	switch {
	case oracle.Code != subject.Code || oracle.State != subject.State:
		return differ(fmt.Sprintf("error %d/%d", oracle.Code, subject.Code), "%v, but %v", oracle, subject)
	case subTable.MatchString(subject.Message):
		return differ("error message", "it names a sub-table: %v", subject)
	case maskMessage(oracle.Message) != maskMessage(subject.Message):
		return differ("error message", "%v, but %v", oracle, subject)
	}
	return nil
}

var (
	quoted  = regexp.MustCompile("'[^']*'|`[^`]*`")
	numbers = regexp.MustCompile(`[0-9]+`)
	// duplicate has a value that may have quotes itself.
	duplicate = regexp.MustCompile(`^Duplicate entry '.*' for key `)

	subTable = regexp.MustCompile(`\b(h1|h2|r1|m1|k1|k2|i1|i2|i3|i4|u1|ks_u1_[a-z]+)_[0-9]{4}`)
)

// maskMessage takes out of a message what may differ: which of several values is named, and numbers of rows.
func maskMessage(s string) string {
	s = duplicate.ReplaceAllLiteralString(s, "Duplicate entry '?' for key ")
	return numbers.ReplaceAllString(quoted.ReplaceAllString(s, "'?'"), "N")
}

// compareColumns compares all that a client is told about columns.
func (s *statement) compareColumns(what string, oracle, subject []mysql.ColumnDefinition41, db func(string) string) *Difference {
	if len(oracle) != len(subject) {
		return differ(what, "%d columns, but %d", len(oracle), len(subject))
	}
	for k := range oracle {
		want, got := oracle[k], subject[k]
		got.Schema, got.Name, got.OrgName = db(got.Schema), namedFor(got.Name, db), namedFor(got.OrgName, db)
		// What a variable's type is depends on how it was set last, and the proxy sets it anew on another connection.
		if s.own || s.client != 0 && strings.ContainsAny(want.Name, "@(") {
			want, got = mysql.ColumnDefinition41{Name: want.Name}, mysql.ColumnDefinition41{Name: got.Name}
		}
		// An expression that is read from a temporary table has its own name for the original one there, and else none: that is the plan's.
		if want.OrgTable == "" && got.OrgTable == "" && (want.OrgName == "" || want.OrgName == want.Name) && (got.OrgName == "" || got.OrgName == got.Name) {
			got.OrgName = want.OrgName
		}
		if want == got {
			continue
		}
		var first string
		var fields []string
		for _, f := range []struct {
			name      string
			want, got any
		}{
			{"catalog", want.Catalog, got.Catalog},
			{"name", want.Name, got.Name},
			{"original name", want.OrgName, got.OrgName},
			{"table", want.Table, got.Table},
			{"original table", want.OrgTable, got.OrgTable},
			{"database", want.Schema, got.Schema},
			{"type", want.Type, got.Type},
			{"length", want.Length, got.Length},
			{"charset", want.Charset, got.Charset},
			{"flags", want.Flags, got.Flags},
			{"decimals", want.Decimals, got.Decimals},
		} {
			if f.want != f.got {
				if first == "" {
					first = f.name
				}
				fields = append(fields, fmt.Sprintf("%s %v, but %v", f.name, f.want, f.got))
			}
		}
		return differ(what+": "+first, "column %d %s: %s", k+1, want.Name, strings.Join(fields, "; "))
	}
	return nil
}

// namedFor gives the oracle's name of a column of SHOW TABLES, which has the name of a database.
func namedFor(column string, db func(string) string) string {
	const begin = "Tables_in_"
	rest, ok := strings.CutPrefix(column, begin)
	if !ok {
		return column
	}
	name, like, found := strings.Cut(rest, " ")
	if found {
		like = " " + like
	}
	return begin + db(name) + like
}

// compareEnds compares what the last packet of an answer says.
func (s *statement) compareEnds(oracle, subject answer) *Difference {
	want, got := oracle.End, subject.End
	if oracle.OK != nil && subject.OK != nil {
		want, got = *oracle.OK, *subject.OK
	}
	const seen = mysql.ServerStatusInTrans | mysql.ServerStatusAutocommit
	switch {
	case (oracle.OK == nil) != (subject.OK == nil):
		return differ("rows", "one answer has rows, the other has none")
	case want.AffectedRows != got.AffectedRows:
		return differ("affected rows", "%d, but %d", want.AffectedRows, got.AffectedRows)
	case want.LastInsertID != got.LastInsertID && !s.brings:
		return differ("insert id", "%d, but %d", want.LastInsertID, got.LastInsertID)
	case oracle.Warnings != subject.Warnings && !s.converts:
		return differ("warnings", "%d, but %d", oracle.Warnings, subject.Warnings)
	case oracle.Status&seen != subject.Status&seen:
		return differ("status", "%#x, but %#x", uint16(oracle.Status&seen), uint16(subject.Status&seen))
	case maskInfo(s, want.Info) != maskInfo(s, got.Info):
		return differ("info", "%q, but %q", want.Info, got.Info)
	}
	return nil
}

var duplicates = regexp.MustCompile(`Duplicates: [0-9]+`)

// maskInfo takes out of the text of an OK packet what the statement leaves open.
func maskInfo(s *statement, info []byte) string {
	if s.upserts {
		return duplicates.ReplaceAllString(string(info), "")
	}
	return string(info)
}
