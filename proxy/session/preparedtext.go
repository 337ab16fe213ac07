package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// PREPARE and EXECUTE IMMEDIATE of texts on tables with rules are the proxy's to carry out, as no server by itself has these tables: it keeps what
// PREPARE gives a name, and EXECUTE is the text from then on, with the values in the places of its parameters. All other texts live on the
// server connection that they were prepared on.

// textStmt is what is known of a statement that PREPARE has given a name.
type textStmt struct {
	reads bool // only
	sets  bool // it may change how texts are read
	text  string
	info  sqltext.Info // of text
	kept  *keptText    // nil where a connection has it
}

// textStmts are the statements that PREPARE has given a name, by that in lower case.
type textStmts map[string]textStmt

// held reports whether a connection has any of them.
func (list textStmts) held() bool {
	for _, st := range list {
		if st.kept == nil {
			return true
		}
	}
	return false
}

// keptText is a text on tables with rules that the proxy keeps.
type keptText struct {
	text   string // its columns have the names that their parameters give them
	params int
	kinds  []value.Kind // of the first value of each parameter, Null as long as it had none; nil before there is one
	// reading is how the session read texts when it was prepared.
	reading reading
}

// reading is what decides what names and literals in a text mean, beside the text.
type reading struct {
	db, sqlMode, charset, collation string
	mode                            sqltext.Mode
}

// readingOf returns how a session reads texts now.
func readingOf(c *client) reading {
	return reading{c.state.DB(), c.state.Value("sql_mode"), c.state.Value("character_set_client"), c.state.Value("collation_connection"), c.mode()}
}

// preparesDirectly reports whether a statement prepares one text, which is known: by itself, and not within another one.
func (q *query) preparesDirectly(m sqltext.Mode) bool {
	return (q.info.Class == sqltext.Prepare || q.info.Class == sqltext.Execute && m.MariaDB) && q.within != nil && !q.unknown() && len(q.within.Inner) == 1
}

// admitTexts refuses PREPARE and EXECUTE IMMEDIATE within another statement of texts on tables with rules, as far as these are known: the server
// that carries them out does not know the tables, or has some of the rows, or one of several copies.
func (ri *rights) admitTexts(q *query) error {
	plans := ri.client.schema.Plans
	if plans == nil || q.within == nil || ri.routing.namesNode(q) || q.preparesDirectly(ri.client.mode()) {
		return nil
	}
	switch direct := q.info.Class == sqltext.Prepare || q.info.Class == sqltext.Execute; {
	case !direct && plans.named(q.text, ri.client.mode()):
		return nil // the plan of the whole is to judge it
	case direct && len(q.within.Inner) > 0 && (q.within.Inner[0].Info.Class == sqltext.Prepare || q.info.Class == sqltext.Execute && !ri.client.mode().MariaDB):
		return nil // which no server carries out
	}
	for k := range q.within.Inner {
		in := &q.within.Inner[k]
		if in.Expressions || in.Assigned {
			continue
		}
		switch name, err := ri.ruledText(in); {
		case err != nil:
			return err
		case name != "":
			return newError(KSRefusedSharding, "PREPARE or EXECUTE IMMEDIATE within another statement, or of one that contains others, with a text on the table "+name+
				", which has a rule: send it by itself")
		}
	}
	return nil
}

// ruledText returns the name of a table with a rule that a text is about, of which no node has all; "" for none.
func (ri *rights) ruledText(in *sqltext.Inner) (name string, err error) {
	if !ri.client.schema.Plans.named(in.Text, in.Mode) {
		return "", nil
	}
	if in.Info.Class == sqltext.Set {
		return "", ri.admitSetQuery(in.Text, in.Mode)
	}
	if !planned(in.Info.Class) {
		return "", nil
	}
	if err := ri.leases.learnCharset(); err != nil {
		return "", err
	}
	p, err := ri.client.schema.Plans.get(withoutInto(in.Text, &in.Info, in.Mode), ri.client.state.DB(), in.Mode)
	if err != nil {
		return "", ri.leases.unreadable(in.Text, err)
	}
	if p == nil {
		return "", nil
	}
	for _, r := range p.Refs {
		if r.Table.Rule != nil && !wholeOn(ri.client.schema.Default.Name, r.Table, p) {
			return r.Parsed.Name, nil
		}
	}
	return "", nil
}

// withoutInto returns a query without INTO @a, @b, and any other text as it is.
func withoutInto(text string, i *sqltext.Info, m sqltext.Mode) string {
	if i.Has(sqltext.UserVarWrite) && (i.Class == sqltext.Select || i.Class == sqltext.With) {
		if into, ok := sqlparse.CutInto(text, m); ok {
			return into.Text
		}
	}
	return text
}

// keptOf returns the text that a statement prepares, as the proxy keeps it; nil where a server is to prepare it.
func (ss *stmts) keptOf(q *query) (*keptText, error) {
	if ss.client.schema.Plans == nil || !q.preparesDirectly(ss.client.mode()) || ss.routing.namesNode(q) {
		return nil, nil
	}
	in := &q.within.Inner[0]
	if in.Info.Has(sqltext.Multi) {
		return nil, nil // which no server prepares
	}
	if err := ss.exchanges.leases.startOfStatement(); err != nil {
		return nil, err
	}
	if name, err := ss.rights.ruledText(in); name == "" || err != nil {
		return nil, err
	}
	text := strings.Clone(in.Text)
	one := query{text: withoutInto(text, &in.Info, in.Mode), info: in.Info}
	lacks, err := ss.preparePlan(&one)
	if err != nil {
		return nil, err
	}
	if !one.own {
		if err := ss.exchanges.leases.ofClientsText(ss.judged(&one, lacks), text); err != nil {
			return nil, err
		}
	}
	kept := &keptText{params: len(paramsOf(text, in.Mode)), reading: readingOf(ss.client)}
	kept.text, err = namedByParams(text, in.Mode)
	return kept, err
}

// judged has a server prepare, and forget again, a text that has the names which it knows: its error is the client's.
func (ss *stmts) judged(q *query, lacks []router.Shard) error {
	describe := func(p backend.Pooled) error {
		_, err := p.Conn.Describe(q.text)
		return err
	}
	var err error
	if len(lacks) > 0 {
		err = ss.onModels(q.node, lacks, describe)
	} else {
		err = ss.exchanges.leases.aside(q.node, describe)
	}
	var refused *mysql.SQLError
	if errors.As(err, &refused) {
		mysql.RenameError(refused, q.rename)
	}
	return err
}

// namedByParams gives the columns of a query that are computed from parameters the names that these give them: the values that take their places are
// to give them no others.
func namedByParams(text string, m sqltext.Mode) (string, error) {
	params := paramsOf(text, m)
	var edits []edit
	for _, i := range sqltext.Items(text, m) {
		if !i.Unnamed || !slices.ContainsFunc(params, func(t sqltext.Token) bool { return i.Pos <= t.Pos && t.End <= i.End }) {
			continue
		}
		alias, ok := sqltext.QuoteAlias(text[i.Pos:i.End], m)
		if !ok || i.End-i.Pos > aliasMax {
			return "", newError(KSRefusedSharding, "PREPARE of a column with a parameter whose text is long, or not of the client's character set: give it an alias")
		}
		edits = append(edits, edit{i.End, i.End, " AS " + alias})
	}
	return withEdits(text, edits), nil
}

// paramsOf returns the parameters of a text.
func paramsOf(text string, m sqltext.Mode) (list []sqltext.Token) {
	l := sqltext.NewLexer(text, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		if t.Kind == sqltext.KindParam {
			list = append(list, t)
		}
	}
	return list
}

// keep carries out PREPARE of a text that the proxy keeps; handled is false for every other. As on a server, what the name stood for is
// forgotten though it may fail.
func (ss *stmts) keep(q *query) (handled bool, err error) {
	if ss.client.schema.Plans == nil {
		return false, nil
	}
	kept, err := ss.keptOf(q)
	if kept == nil && err == nil {
		return false, nil
	}
	name := preparedName(q.text, ss.client.mode())
	if failure := ss.forgetText(name); failure != nil {
		return true, failure
	}
	if ss.freeOfTexts(); err != nil {
		return true, err
	}
	if ss.full() {
		return true, ss.tooMany()
	}
	if ss.client.textStmts == nil {
		ss.client.textStmts = make(textStmts)
	}
	in := &q.within.Inner[0]
	ss.client.textStmts[name] = textStmt{reads: ss.rights.readsOnlyEverywhere(q.text, &q.info, ss.client.mode()), text: strings.Clone(in.Text), info: in.Info, kept: kept}
	ss.client.state.Diagnostics.RowCount = 0
	keepWarnings(ss.client)
	ss.client.noWarnings()
	ss.client.conn.WriteOK(&mysql.OKPacket{Status: ss.client.status(), Info: []byte("Statement prepared")})
	return true, nil
}

// preparedName is the name that a PREPARE gives, in lower case.
func preparedName(text string, m sqltext.Mode) string {
	l := sqltext.NewLexer(text, m)
	l.Next()
	t := l.Next()
	return strings.Clone(strings.ToLower(sqltext.UnquoteIdent(text[t.Pos:t.End], m)))
}

// forgetText takes a name from what it stands for, on a connection too.
func (ss *stmts) forgetText(name string) error {
	st, had := ss.client.textStmts[name]
	delete(ss.client.textStmts, name)
	p := ss.client.txn.Held()
	if !had || st.kept != nil || p.Pooled == nil {
		return nil
	}
	quoted, _ := sqltext.QuoteIdent(name, ss.client.mode())
	err := ss.client.observed.Run(p, ss.client.state.DB(), "DEALLOCATE PREPARE "+quoted)
	if err != nil && !isSQLError(err) { // a server that does not know it any more has nothing to forget
		return ss.exchanges.leases.lost(p, err)
	}
	ss.client.txn.LastOnHeld = false
	return nil
}

// freeOfTexts lets go of the held connection where it was held for named statements, or for what computes the text of one, and has none.
func (ss *stmts) freeOfTexts() {
	p := ss.client.txn.Held()
	if p.Pooled == nil || ss.client.textStmts.held() || !ss.client.txn.Pins.Has(txn.PinPrepare) {
		return
	}
	ss.client.txn.Unpin(txn.PinPrepare)
	ss.client.setRunning(p)
	ss.exchanges.leases.release(p)
}

// wholeOn tells whether a node has a table by its logical name, and a statement may be about that alone.
func wholeOn(node string, t *router.Table, p *plan.Plan) bool {
	switch t.Kind {
	case router.Reference:
		if p.Statement.Kind != sqlparse.SelectKind || !p.ReadOnly {
			return false
		}
	case router.Single:
	default:
		return false
	}
	for _, shard := range t.Shards {
		if shard.Node == node && shard.DB == t.DB && shard.Table == t.Name {
			return true
		}
	}
	return false
}
