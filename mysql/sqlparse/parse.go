package sqlparse

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	tidb "github.com/pingcap/tidb/pkg/parser/mysql"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"kingshard/mysql/sqltext"
)

// parsers keeps parsers: making one costs 17 KB.
var parsers = sync.Pool{New: func() any {
	knowCollations()
	return parser.New()
}}

// ErrUnclear says that the text cannot be cut into tokens for certain.
var ErrUnclear = errors.New("the text is not clear without the server: an unterminated quote or comment, or a version comment")

// errExtended says so of MySQL's SHOW EXTENDED, which MariaDB does not know.
var errExtended = errors.New("syntax that the proxy cannot read: near EXTENDED")

// textMax bounds the texts that are parsed, in bytes; the parser recurses.
const textMax = 64 << 20

// Parse reads one statement. watched tells of a name, in any case, whether a table of that name matters: places are kept
// for those only. The error of a text that the parser cannot read says near what.
func Parse(text string, m sqltext.Mode, watched func(name string) bool) (st *Statement, err error) {
	if len(text) > textMax {
		return nil, fmt.Errorf("the statement is longer than %d bytes", textMax)
	}
	if nested(text, m) {
		return nil, ErrNested
	}
	tokens, ok := lex(text, m)
	if !ok {
		return nil, ErrUnclear
	}
	if plain := sqltext.WithoutVersions(text, m); plain != text {
		if text = plain; nested(text, m) {
			return nil, ErrNested
		}
		tokens, _ = lex(text, m)
	}
	if m.MariaDB {
		if plain := fetched(text, tokens); plain != text {
			text = plain
			tokens, _ = lex(text, m)
		}
	}
	if st := maintain(text, tokens); st != nil {
		return st, nil
	}
	if st := shown(text, tokens, m); st != nil {
		return st, nil
	}
	if m.MariaDB && len(tokens) > 1 && is(tokens[0], "show") && is(tokens[1], "extended") {
		return nil, errExtended
	}
	defer func() {
		if r := recover(); r != nil {
			st, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	if st, is, err := parseLoad(text, tokens, m); is {
		return st, err
	}
	read, tokens, returning, names := unread(text, tokens, m)
	ms := marks(tokens, watched, false)
	node, err := parse(markText(read, ms, nil), m)
	if err != nil {
		if node, ms, err = parseAgain(read, tokens, ms, watched, m, err); err != nil {
			return nil, err
		}
	}
	c := converter{st: &Statement{Text: text, Returning: returning, CTENames: map[string]bool{}, columns: map[string]int{}}, marks: ms, params: map[int]int{}, mariaDB: m.MariaDB, tokens: tokens}
	c.numberParams(node)
	c.st.Params = paramsOf(tokens)
	if len(c.params) != len(c.st.Params) {
		return nil, fmt.Errorf("the parser found %d parameters and not %d", len(c.params), len(c.st.Params))
	}
	if err := c.statement(node); err != nil {
		return nil, err
	}
	switch c.st.Kind {
	case InsertKind, UpdateKind, DeleteKind:
		c.reaches(node)
	}
	if len(names) > 0 && !c.st.changed().take(names) {
		return nil, parseError(fmt.Errorf("near %q", text[names[0].Pos:]), nil)
	}
	if d := c.st.Definition; d != nil && d.Verb == DropTable {
		d.List = dropList(tokens)
	}
	return c.st, nil
}

// parseAgain parses a text that could not be read with those marks: with respellings, with fewer marks, and with both.
func parseAgain(text string, tokens []token, ms []mark, watched func(string) bool, m sqltext.Mode, cause error) (ast.StmtNode, []mark, error) {
	rs, fewer := slices.Concat(respellings(tokens, m), definedBy(tokens, m), quotedNames(tokens, m)), marks(tokens, watched, true)
	for _, tried := range [...]struct {
		ms []mark
		rs []respelling
	}{{ms, rs}, {fewer, nil}, {fewer, rs}} {
		if len(tried.rs) == 0 && len(tried.ms) == len(ms) {
			continue
		}
		if node, err := parse(markText(text, tried.ms, tried.rs), m); err == nil {
			return node, tried.ms, nil
		}
	}
	return nil, nil, parseError(cause, ms)
}

func parse(text string, m sqltext.Mode) (ast.StmtNode, error) {
	p := parsers.Get().(*parser.Parser)
	defer parsers.Put(p)
	mode := tidb.SQLMode(0)
	if m.ANSIQuotes {
		mode |= tidb.ModeANSIQuotes
	}
	if m.NoBackslashEscapes {
		mode |= tidb.ModeNoBackslashEscapes
	}
	if m.PipesAsConcat {
		mode |= tidb.ModePipesAsConcat
	}
	if m.HighNotPrecedence {
		mode |= tidb.ModeHighNotPrecedence
	}
	if m.IgnoreSpace {
		mode |= tidb.ModeIgnoreSpace
	}
	p.SetSQLMode(mode)
	p.SetMariaDB(m.MariaDB)
	node, err := p.ParseOneStmt(text, "", "")
	p.Reset()
	return node, err
}

// parseError cuts the parser's message down to what a client can use.
func parseError(err error, ms []mark) error {
	text := err.Error()
	for k := len(ms) - 1; k >= 0; k-- {
		text = strings.ReplaceAll(text, marker+strconv.Itoa(k), ms[k].name)
	}
	if k := strings.Index(text, "near "); k >= 0 {
		text = "near " + text[k+5:]
	}
	if strings.HasPrefix(text, `near ""`) {
		text = "it ends too early"
	}
	if len(text) > 120 {
		text = text[:120]
	}
	return errors.New("syntax that the proxy cannot read: " + strings.TrimSpace(text))
}

// paramsOf gives the places of the parameters.
func paramsOf(tokens []token) (places []int) {
	for _, t := range tokens {
		if t.Kind == sqltext.KindParam {
			places = append(places, t.Pos)
		}
	}
	return places
}

// numberParams gives each ? its number in the order of the text.
func (c *converter) numberParams(node ast.Node) {
	var found []*driver.ParamMarkerExpr
	node.Accept(visitor(func(n ast.Node) bool {
		if p, ok := n.(*driver.ParamMarkerExpr); ok {
			found = append(found, p)
		}
		return true
	}))
	slices.SortFunc(found, func(a, b *driver.ParamMarkerExpr) int { return a.Offset - b.Offset })
	found = slices.Compact(found)
	for k, p := range found {
		c.params[p.Offset] = k
	}
}

// visitor walks a tree; the function tells whether to go below a node.
type visitor func(ast.Node) bool

// Enter is called ahead of a node's children.
func (v visitor) Enter(n ast.Node) (ast.Node, bool) { return n, !v(n) }

// Leave is called behind them.
func (v visitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }
