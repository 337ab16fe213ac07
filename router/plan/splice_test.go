package plan

import (
	"reflect"
	"strings"
	"testing"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"

	"pgregory.net/rapid"
)

// statements draws statements on u and o of which the names of tables turn up in many places, not all of them a table's.
var statements = rapid.Custom(func(t *rapid.T) string {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "part") }
	u := pick("u", "`u`", "kingshard.u", "kingshard . `u`", "U", "u x", "u AS `u`", "u AS o1")
	label := pick("", "u.", "`u`.", "kingshard.u.", "x.", "o1.")
	column := label + pick("id", "age", "`u`", "o")
	from := u + pick("", " JOIN o ON "+column+" = o.u_id", " LEFT JOIN o AS o2 ON "+column+" = o2.u_id", ", o", " JOIN t USING (id)")
	condition := pick(column+" = ?", "'u' = "+column+" /* u.id */", column+" IN (1, 2, ?)", "u(1) > "+column,
		"EXISTS (SELECT 1 FROM o WHERE o.u_id = "+column+" AND o.item = ?)", column+" BETWEEN 1 AND ? -- u\n")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return "UPDATE " + from + " SET " + column + " = ? WHERE " + condition
	case 1:
		return "DELETE FROM " + pick("u", "`u`", "kingshard.u") + " WHERE " + pick("", "u.", "`u` . ", "kingshard.u.") + "age = ?"
	}
	return "SELECT " + pick("", "DISTINCT ", "SQL_NO_CACHE ") + column + pick("", ", u.*", ", ? + "+column, ", count(*)", ", 'u' u", ", (SELECT max(u_id) FROM o WHERE o.item = ?)") +
		" FROM " + from + " WHERE " + condition + pick("", " GROUP BY "+column, " GROUP BY 1 HAVING "+column+" > ?") +
		pick("", " ORDER BY "+column+" DESC", " ORDER BY 1") + pick("", " LIMIT ?", " LIMIT 5, ?") + pick("", " FOR UPDATE", ";")
})

// TestSpliceIsRename checks that the text with physical names reads as the tree of the client's text with its tables
// renamed: nothing else has changed. It also checks that literals in the place of parameters leave the rest alone.
func TestSpliceIsRename(t *testing.T) {
	r := testRouter(t)
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		sql := statements.Draw(t, "statement")
		p, err := build(sql, r, typed)
		if err != nil || p == nil {
			return // not every draw is a statement
		}
		checked++
		e := &Execution{plan: p}
		e.stand(1)
		spliced := e.whole("node2")
		got, err := parse(spliced.Text, r, mysql8)
		if err != nil {
			t.Fatalf("%s\n became %s: %v", sql, spliced.Text, err)
		}
		want := p.renamed(t, r, e.at)
		if len(got.Params) != len(want.Params) || len(spliced.Args) != len(want.Params) {
			t.Fatalf("%s\n became %s: parameters %v", sql, spliced.Text, spliced.Args)
		}
		forget(got)
		forget(want)
		takeAliases(want, got, sql)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n became %s", sql, spliced.Text)
		}
		text, digest, args := withLiterals(p)
		replaced, err := Bind(spliced.Text, mysql8, spliced.Args, args)
		if err != nil {
			t.Fatal(err)
		}
		e.begin(p)
		if !e.read(p, text, digest) { // not BindText, which serves no text whose values settle less
			t.Fatalf("%s is not %s with literals", text, sql)
		}
		e.stand(1)
		if again := e.whole("node2"); again.Text != replaced {
			t.Fatalf("with literals: %s\n and without: %s", again.Text, spliced.Text)
		}
	})
	if checked == 0 {
		t.Error("no statement was planned")
	}
}

// withLiterals puts numbers of several lengths in the place of a plan's parameters.
func withLiterals(p *Plan) (text string, d *sqltext.Digest, args []value.Value) {
	d = new(sqltext.Digest)
	at := 0
	for k, param := range p.Statement.Params {
		args = append(args, value.NewInt(7<<(6*k)))
		number := args[k].String()
		text += p.Statement.Text[at:param]
		d.Literals = append(d.Literals, sqltext.Literal{Pos: len(text), End: len(text) + len(number), List: -1})
		text += number
		at = param + 1
	}
	return text + p.Statement.Text[at:], d, args
}

// renamed reads the plan's text anew and gives its tables their physical names.
func (p *Plan) renamed(t *rapid.T, r *router.Router, at places) *sqlparse.Statement {
	st, err := parse(p.Statement.Text, r, mysql8)
	if err != nil {
		t.Fatal(err)
	}
	bare := st.Kind == sqlparse.DeleteKind
	for k, table := range st.Tables {
		for _, ref := range p.Refs {
			if ref.Parsed != p.Statement.Tables[k] || ref.Table.Rule == nil {
				continue
			}
			if table.Alias == "" && !bare {
				table.Alias = ref.Parsed.Name
			}
			table.Name = ref.shard(at).Table
		}
	}
	if bare {
		st.Change.Where.Walk(func(e *sqlparse.Expr) bool {
			if e.Table == "u" {
				e.Table = st.Change.From.Table.Name
			}
			return true
		})
	}
	return st
}

// forget drops what says where in the text something is.
func forget(st *sqlparse.Statement) {
	st.Text, st.Params = "", nil
	for _, table := range st.Tables {
		table.At, table.Qualifiers = sqlparse.Span{}, nil
	}
}

// takeAliases takes over aliases that items got to keep their names: those are pieces of the client's text.
func takeAliases(want, got *sqlparse.Statement, text string) {
	if want.Query == nil || got.Query == nil || want.Query.Select == nil || len(want.Query.Select.Fields) != len(got.Query.Select.Fields) {
		return
	}
	for k := range want.Query.Select.Fields {
		f, g := &want.Query.Select.Fields[k], got.Query.Select.Fields[k]
		if f.Alias == "" && f.Expr != nil && f.Expr.Op != sqlparse.Column && strings.Contains(text, g.Alias) {
			f.Alias = g.Alias
		}
	}
}

// TestBindWritesWhatWasMeant checks that a bound text reads as constants in the place of its parameters.
func TestBindWritesWhatWasMeant(t *testing.T) {
	r := testRouter(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := rapid.Int64().Draw(t, "n")
		mode := mysql8
		mode.NoBackslashEscapes = rapid.Bool().Draw(t, "no backslash escapes")
		args := []value.Value{value.NewString(text), value.NewInt(n), {}}
		bound, err := Bind("SELECT ?, '?', ?, ? /* ? */", mode, []int{0, 1, 2}, args)
		if err != nil {
			t.Fatal(err)
		}
		st, err := parse(bound, r, mode)
		if err != nil {
			t.Fatalf("%s: %v", bound, err)
		}
		fields := st.Query.Select.Fields
		if len(fields) != 4 || fields[0].Expr.Value.Text() != text || fields[1].Expr.Value.Text() != "?" || fields[2].Expr.Value.Int() != n || !fields[3].Expr.Value.IsNull() {
			t.Fatalf("%q became %s", text, bound)
		}
	})
	if _, err := Bind("SELECT ?, ?", mysql8, []int{0}, []value.Value{{}}); !IsRefusal(err) {
		t.Errorf("too few values: %v", err)
	}
}
