package sqlparse

import (
	"errors"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"kingshard/mysql/sqltext"
)

// Load is what LOAD DATA has. MySQL manual: "LOAD DATA Statement".
type Load struct {
	Table *Table
	Local bool
	// Charset is that of the file in lower case, "" where the text does not say.
	Charset string
	// The separators; EscapedGiven says that the text has ESCAPED BY.
	FieldsTerminated, Enclosed, Escaped string
	LinesStarting, LinesTerminated      string
	EscapedGiven                        bool
	IgnoreLines                         uint64
	Ignore                              Span // IGNORE n LINES
	// Fields are the columns and variables in parentheses; nil without them.
	Fields []LoadField
	// List is where that list begins, behind its parenthesis.
	List int
	Set  []Assignment
	// Replace says that rows take the place of others with the same keys.
	Replace bool
}

// LoadField is where a field of the file goes: to a column, or to a user variable.
type LoadField struct {
	Name     string
	Variable bool
}

// errLoad is the error of a LOAD statement of another form.
var errLoad = errors.New("syntax of LOAD that the proxy cannot read")

// loadScan reads the tokens of a LOAD DATA statement.
type loadScan struct {
	scan
	text string
	m    sqltext.Mode
	bad  bool
}

// parseLoad reads LOAD DATA; is tells whether the statement begins with LOAD.
func parseLoad(text string, tokens []token, m sqltext.Mode) (st *Statement, is bool, err error) {
	s := &loadScan{scan: newScan(tokens), text: text, m: m}
	if !s.skip("load") {
		return nil, false, nil
	}
	l := &Load{FieldsTerminated: "\t", Escaped: `\`, LinesTerminated: "\n"}
	st = &Statement{Text: text, Kind: LoadData, CTENames: map[string]bool{}, columns: map[string]int{}, Load: l}
	s.need("data")
	s.skip("low_priority", "concurrent")
	l.Local = s.skip("local")
	s.need("infile")
	s.str()
	l.Replace = s.word() == "replace"
	s.skip("replace", "ignore")
	s.need("into")
	s.need("table")
	l.Table = s.table()
	st.Tables = []*Table{l.Table}
	if s.skip("partition") {
		s.parentheses()
	}
	s.format(l)
	if s.op("(") {
		l.List = s.tokens[s.k-1].End
		s.fields(l)
	}
	if err := s.set(st); err != nil {
		return nil, true, err
	}
	if s.bad || s.k != len(s.tokens) {
		return nil, true, errLoad
	}
	s.qualifiers(l.Table)
	return st, true, nil
}

// need passes over a word that must be there.
func (s *loadScan) need(words ...string) {
	for _, w := range words {
		if !s.skip(w) {
			s.bad = true
		}
	}
}

// str takes a string: quoted, hexadecimal or of bits.
func (s *loadScan) str() string {
	if s.k < len(s.tokens) {
		t := s.tokens[s.k]
		kinds := map[sqltext.Kind]sqltext.LiteralKind{sqltext.KindString: sqltext.LiteralString, sqltext.KindHex: sqltext.LiteralHex, sqltext.KindBit: sqltext.LiteralBit}
		if kind, is := kinds[t.Kind]; is {
			s.k++
			if v, ok := (sqltext.Literal{Pos: t.Pos, End: t.End, Kind: kind}).Value(s.text, s.m); ok {
				return v.Text()
			}
		}
	}
	s.bad = true
	return ""
}

// name takes an identifier.
func (s *loadScan) name() string {
	name, _, ok := s.identifier()
	s.bad = s.bad || !ok
	return name
}

// table takes [db.]name.
func (s *loadScan) table() *Table {
	if t := s.tableName(); t != nil {
		return t
	}
	s.bad = true
	return &Table{}
}

// parentheses passes over what is in parentheses.
func (s *loadScan) parentheses() {
	if !s.op("(") {
		s.bad = true
	}
	depth := 1
	for ; depth > 0 && s.k < len(s.tokens); s.k++ {
		depth += s.tokens[s.k].nesting()
	}
	s.bad = s.bad || depth > 0
}

// format takes the clauses that say how to read the file.
func (s *loadScan) format(l *Load) {
	if s.skip("charset") {
		l.Charset = s.charset()
	} else if s.skip("character") {
		s.need("set")
		l.Charset = s.charset()
	}
	if s.skip("fields", "columns") {
		for begin := s.k; ; {
			optionally := s.skip("optionally")
			switch {
			case s.skip("enclosed"):
				s.need("by")
				l.Enclosed = s.str()
			case optionally:
				s.bad = true
			case s.skip("terminated"):
				s.need("by")
				l.FieldsTerminated = s.str()
			case s.skip("escaped"):
				s.need("by")
				l.Escaped, l.EscapedGiven = s.str(), true
			default:
				s.bad = s.bad || s.k == begin
			}
			if w := s.word(); s.bad || w != "optionally" && w != "enclosed" && w != "terminated" && w != "escaped" {
				break
			}
		}
	}
	if s.skip("lines") {
		for begin := s.k; ; {
			switch {
			case s.skip("starting"):
				s.need("by")
				l.LinesStarting = s.str()
			case s.skip("terminated"):
				s.need("by")
				l.LinesTerminated = s.str()
			default:
				s.bad = s.bad || s.k == begin
			}
			if w := s.word(); s.bad || w != "starting" && w != "terminated" {
				break
			}
		}
	}
	s.ignoreLines(l)
}

// charset takes the name of a character set, which may be quoted.
func (s *loadScan) charset() string {
	if s.k < len(s.tokens) && s.tokens[s.k].Kind == sqltext.KindString {
		return strings.ToLower(s.str())
	}
	return strings.ToLower(s.name())
}

func (s *loadScan) ignoreLines(l *Load) {
	begin := s.k
	if !s.skip("ignore") {
		return
	}
	if s.k >= len(s.tokens) {
		s.bad = true
		return
	}
	var err error
	if l.IgnoreLines, err = strconv.ParseUint(s.tokens[s.k].word, 10, 64); err != nil {
		s.bad = true
		return
	}
	s.k++
	if !s.skip("lines", "rows") {
		s.bad = true
		return
	}
	l.Ignore = Span{s.tokens[begin].Pos, s.tokens[s.k-1].End}
}

// fields takes the list of columns and variables, behind its parenthesis.
func (s *loadScan) fields(l *Load) {
	l.Fields = []LoadField{}
	if s.op(")") {
		return
	}
	for {
		if s.k < len(s.tokens) && s.tokens[s.k].Kind == sqltext.KindUserVar {
			l.Fields = append(l.Fields, LoadField{Name: s.variable(s.tokens[s.k].word), Variable: true})
			s.k++
		} else {
			l.Fields = append(l.Fields, LoadField{Name: s.column().Column})
		}
		if s.op(")") {
			return
		}
		if !s.op(",") {
			s.bad = true
			return
		}
	}
}

// variable gives the name in @name.
func (s *loadScan) variable(word string) string {
	name := word[1:]
	if name != "" && (name[0] == '\'' || name[0] == '"' || name[0] == '`') {
		q := name[:1]
		name = strings.ReplaceAll(name[1:len(name)-1], q+q, q)
	}
	return name
}

// column takes [[db.]table.]name.
func (s *loadScan) column() Assignment {
	a := Assignment{Column: s.name()}
	for range 2 {
		if s.op(".") {
			a.Table, a.Column = a.Column, s.name()
		}
	}
	return a
}

// set takes the SET clause.
func (s *loadScan) set(st *Statement) error {
	if !s.skip("set") {
		return nil
	}
	var exprs []string
	for !s.bad {
		a := s.column()
		if !s.op("=") && !s.op(":=") {
			s.bad = true
			break
		}
		begin := s.k
		for depth := 0; s.k < len(s.tokens); s.k++ {
			depth += s.tokens[s.k].nesting()
			if s.tokens[s.k].Kind == sqltext.KindOp && s.tokens[s.k].word == "," && depth == 0 {
				break
			}
		}
		if s.k == begin {
			s.bad = true
			break
		}
		if s.k == begin+1 && strings.EqualFold(s.tokens[begin].word, "default") {
			a.Expr = &Expr{Op: Default}
			exprs = append(exprs, "NULL") // it stands in no SELECT
		} else {
			exprs = append(exprs, "("+s.text[s.tokens[begin].Pos:s.tokens[s.k-1].End]+")")
		}
		st.Load.Set = append(st.Load.Set, a)
		if !s.op(",") {
			break
		}
	}
	if s.bad {
		return nil
	}
	return s.expressions(st, exprs)
}

// expressions reads the values of the SET clause.
func (s *loadScan) expressions(st *Statement, exprs []string) error {
	node, err := parse("SELECT "+strings.Join(exprs, ", "), s.m)
	if err != nil {
		return parseError(err, nil)
	}
	sel, ok := node.(*ast.SelectStmt)
	if !ok || sel.Fields == nil || len(sel.Fields.Fields) != len(exprs) {
		return errLoad
	}
	c := converter{st: &Statement{CTENames: map[string]bool{}, columns: map[string]int{}}, params: map[int]int{}}
	c.numberParams(node)
	if len(c.params) > 0 {
		return errLoad
	}
	for k, f := range c.query(node).Select.Fields {
		if f.Expr == nil {
			return errLoad
		}
		if st.Load.Set[k].Expr == nil {
			st.Load.Set[k].Expr = f.Expr
		}
	}
	return nil
}

// qualifiers finds the columns that are qualified by the table's name.
func (s *loadScan) qualifiers(t *Table) {
	for k := 0; k+1 < len(s.tokens); k++ {
		at := s.tokens[k]
		if at.Pos < t.At.End || s.tokens[k+1].word != "." || at.Kind != sqltext.KindWord && at.Kind != sqltext.KindQuotedIdent || !strings.EqualFold(at.word, t.Name) {
			continue
		}
		span := Span{at.Pos, at.End}
		if k >= 2 && s.tokens[k-1].word == "." {
			span.Pos = s.tokens[k-2].Pos
		}
		t.Qualifiers = append(t.Qualifiers, span)
	}
}
