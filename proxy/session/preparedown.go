package session

import (
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// mayAskCatalog tells whether a statement may be about the catalog; catalogOf knows.
func mayAskCatalog(text string, class sqltext.Class, m sqltext.Mode, db string) bool {
	if class == sqltext.Show {
		sh, ok := sqlparse.ParseShow(text, m)
		return ok && !sh.OneTable()
	}
	return strings.EqualFold(db, informationSchema) || sqltext.Mentions(text, informationSchema)
}

// ownPrepared tells whether the proxy answers a prepared statement by itself: one of its own, and EXPLAIN of sharded tables.
func ownPrepared(text string, class sqltext.Class, m sqltext.Mode, sharded bool) bool {
	switch class {
	case sqltext.Explain:
		return sharded
	case sqltext.Show, sqltext.Other:
		return mayBeOwn(text, m)
	}
	return false
}

// prepareOwn answers COM_STMT_PREPARE of a statement that the proxy answers. The columns of its own statements are known only when they
// run, as of a CALL.
func (ss *stmts) prepareOwn(q *query) error {
	st := &stmt{text: strings.Clone(q.text), info: q.info, db: ss.client.state.DB(), mode: ss.client.mode(), setting: ss.client.state.Setting(), own: true}
	st.info.NodeHint = ""
	var columns []mysql.ColumnDefinition41
	if st.info.Class == sqltext.Explain {
		st.sharded = true
		if columns = explainColumns(); st.info.Has(sqltext.Analyze) {
			columns = analyzeColumns()
		}
		l := sqltext.NewLexer(st.text, st.mode)
		for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
			if t.Kind == sqltext.KindParam {
				st.params++
			}
		}
	}
	st.source, st.given = st.text, strings.Clone(q.given)
	if q.source != st.text {
		st.source = strings.Clone(q.source)
	}
	st.normal = normalOf(st.text, st.mode)
	ss.add(st)
	ok := mysql.StmtPrepareOK{StatementID: st.id, Columns: uint16(len(columns)), Params: uint16(st.params), MetadataFollows: true}
	ss.client.conn.EndPacket(ok.AppendTo(ss.client.conn.StartPacket(), ss.client.conn.Capabilities))
	if st.params > 0 {
		params := make([]mysql.ColumnDefinition41, st.params)
		for k := range params {
			params[k] = mysql.ColumnDefinition41{Catalog: "def", Name: "?", Type: mysql.TypeVarString, Charset: binaryCollation, Flags: mysql.BinaryFlag}
		}
		ss.client.writeDefinitions(params)
	}
	if len(columns) > 0 {
		ss.client.writeDefinitions(columns)
	}
	return ss.client.conn.Flush()
}

// executeOwn runs a prepared statement that the proxy answers.
func (s *Session) executeOwn(q *query) error {
	if q.info.Class != sqltext.Explain {
		handled, err := s.ours().own(q)
		if !handled && err == nil {
			handled, err = s.admin(q)
		}
		if !handled && err == nil {
			return mysql.NewSQLError(mysql.ERUnsupportedPS, "This command is not supported in the prepared statement protocol yet")
		}
		return err
	}
	text, err := s.stmts.bound(q.st, q.ex)
	if err != nil {
		return err
	}
	if !q.info.Has(sqltext.Analyze) {
		return s.explain(text, q.st.db, q.st.mode)
	}
	if q.st.db != s.client.state.DB() || q.st.mode != s.client.mode() {
		return preparedOtherwise()
	}
	_, err = composer{s}.analyze(q, text)
	return err
}

// bound gives a prepared statement's text with the values of an execution in the places of its parameters.
func (ss *stmts) bound(st *stmt, ex *execution) (string, error) {
	if st.params == 0 {
		return st.text, nil
	}
	b, err := ss.routing.bind(st, ex)
	if err != nil {
		return "", err
	}
	text, err := plan.Bind(st.text, st.mode, upTo(st.params), b.args)
	if err != nil {
		return "", planError(err)
	}
	return text, nil
}
