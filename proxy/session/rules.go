package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/throttle"
)

// queryRules gives the rules that can match what the user sends; nil where there are none.
func (ri *rights) queryRules() *queryrule.View {
	if ri.ruled != ri.client.snap.Rules {
		ri.ruled, ri.rules = ri.client.snap.Rules, ri.client.snap.Rules.For(ri.client.entry.Name(), ri.client.addr)
	}
	return ri.rules
}

// readyForText waits until it is known how the servers will read the text: what is refused, and what rules and read_only go by, must not be
// read in another way.
func (ri *rights) readyForText(text string) error {
	if ri.client.state.Resolved() || ri.beyondRules(text) || readAlike(text) {
		return nil
	}
	return ri.leases.learnCharset()
}

// readAlike reports whether a text is one that every server reads alike and that a session answers without one.
func readAlike(text string) bool {
	switch strings.ToLower(strings.Join(strings.Fields(withoutEnd(text)), " ")) {
	case "", "begin", "start transaction", "commit", "rollback":
		return true
	}
	return false
}

// beyondRules tells whether no rule is asked: administration must be able to undo what a rule does.
func (ri *rights) beyondRules(text string) bool {
	return ri.client.account.Rights != account.None && mayBeOwn(text, ri.client.mode())
}

// obey has the query rules look at a statement and at those within it, whose texts are known from then on as far as a server can tell them.
func (ri *rights) obey(q *query) error {
	v := ri.queryRules()
	if ri.beyondRules(q.text) {
		return nil
	}
	if v != nil {
		st := queryrule.Statement{Text: q.text, Info: q.info, DB: ri.client.state.DB(), Mode: ri.client.mode()}
		if q.unknown() {
			st.Info.Traits |= sqltext.Doubt
		}
		d, err := ri.judge(v, &st)
		q.verdict = d
		if d.Rewrite != nil {
			q.text, q.info = d.Outcome.Text, d.Outcome.Info
			q.readWithin(ri.client.mode())
		}
		if err != nil {
			return err
		}
	}
	if q.within == nil {
		return nil
	}
	if !ri.client.account.ReadOnly {
		if err := ri.learnText(q); err != nil {
			return err
		}
		if q.known && ri.client.snap.Blacklist != nil && ri.blacklisted(q) {
			return errBlacklisted
		}
	}
	return ri.obeyWithin(v, q)
}

// obeyWithin has the rules look at the statements within. What rules want to be done with those that are carried out is done with the
// whole.
func (ri *rights) obeyWithin(v *queryrule.View, q *query) error {
	if v == nil {
		return nil
	}
	for k := range q.within.Inner {
		in := &q.within.Inner[k]
		if in.Assigned || in.Expressions {
			continue
		}
		d, err := ri.judge(v, &queryrule.Statement{Text: in.Text, Info: in.Info, DB: ri.client.state.DB(), Mode: in.Mode})
		if err != nil {
			return err
		}
		if d.Rewrite != nil {
			return refused(d.Rewrite, "it rewrites the statement, which is not done within others")
		}
		if in.Later || q.info.Class == sqltext.Prepare {
			continue // what is to be done with it is not to be done with its preparation
		}
		if q.verdict.Throttle == nil {
			q.verdict.Throttle = d.Throttle
		}
		if q.verdict.Timeout == 0 {
			q.verdict.Timeout = d.Timeout
		}
	}
	return nil
}

// blacklisted tells whether a statement, or one within it, is forbidden.
func (ri *rights) blacklisted(q *query) bool {
	if ri.client.snap.Blacklist.Match(q.text, ri.client.mode()) {
		return true
	}
	return q.within != nil && slices.ContainsFunc(q.within.Inner, func(in sqltext.Inner) bool { return ri.client.snap.Blacklist.Match(in.Text, in.Mode) })
}

// judge asks and counts the rules; an error refuses the statement.
func (ri *rights) judge(v *queryrule.View, st *queryrule.Statement) (d queryrule.Decision, err error) {
	d = v.Decide(&ri.client.lookup().rules, st)
	d.Count()
	err = refusal(&d)
	d.Hits = nil // the next statement overwrites them
	return d, err
}

// refusal is what the client of a refused statement hears.
func refusal(d *queryrule.Decision) error {
	if d.Block == nil {
		return nil
	}
	if d.Fault != "" {
		return refused(d.Block, d.Fault)
	}
	return refused(d.Block, d.Block.Block)
}

// refused is what the client of a statement hears that a rule is the cause not to carry out.
func refused(r *queryrule.Rule, why string) error {
	return newError(KSQueryRule, "query rule "+r.Name+": "+why)
}

// obeyPrepare has the rules look at a statement that is to be prepared. Its executions are what is counted, but for those that
// will never be.
func (ri *rights) obeyPrepare(q *query) error {
	v := ri.queryRules()
	if v == nil {
		return nil
	}
	d := v.Decide(&ri.client.lookup().rules, &queryrule.Statement{Text: q.text, Info: q.info, DB: ri.client.state.DB(), Mode: ri.client.mode()})
	if d.Block != nil {
		d.Count()
	}
	err := refusal(&d)
	if err == nil && d.Rewrite != nil {
		if params(d.Outcome.Text, ri.client.mode()) != params(q.text, ri.client.mode()) {
			d.Count()
			return refused(d.Rewrite, "it changes the number of parameters of the statement")
		}
		q.text, q.source, q.given, q.info = d.Outcome.Text, d.Outcome.Text, q.text, d.Outcome.Info
	}
	d.Hits = nil
	q.verdict = d
	q.readWithin(ri.client.mode())
	if err == nil && q.within != nil {
		err = blockWithin(v, &queryrule.Scratch{}, q.within, ri.client.state.DB())
	}
	return err
}

// blockWithin refuses what a rule blocks, or rewrites, of the statements within one that is prepared.
func blockWithin(v *queryrule.View, sc *queryrule.Scratch, within *sqltext.Contents, db string) error {
	for k := range within.Inner {
		in := &within.Inner[k]
		if in.Assigned || in.Expressions {
			continue
		}
		d := v.Decide(sc, &queryrule.Statement{Text: in.Text, Info: in.Info, DB: db, Mode: in.Mode})
		if d.Block != nil || d.Rewrite != nil {
			d.Count()
		}
		if err := refusal(&d); err != nil {
			return err
		}
		if d.Rewrite != nil {
			return refused(d.Rewrite, "it rewrites the statement, which is not done within others")
		}
	}
	return nil
}

// params counts the placeholders of a text.
func params(text string, m sqltext.Mode) (n int) {
	l := sqltext.NewLexer(text, m)
	for {
		switch l.Next().Kind {
		case sqltext.KindParam:
			n++
		case sqltext.KindEOF:
			return n
		}
	}
}

// obeyExecution has the rules of today look at a prepared statement; comStmtExecute takes their verdict from it.
func (ri *rights) obeyExecution(st *stmt) error {
	d := ri.verdict(st)
	d.Count()
	if err := refusal(d); err != nil || st.within == nil {
		return err
	}
	return blockWithin(ri.rules, &queryrule.Scratch{}, st.within, st.db)
}

func (ri *rights) limitReached(l account.Limit) *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERUserLimitReached, "User '%s' has exceeded the '%s' resource", ri.client.entry.Name(), l)
}

// beginLimited waits until the limits of a user let one more statement pass, counts it, and bounds its time. Without an error it is paired with the account's End.
func (ri *rights) beginLimited(q *query) error {
	switch l, err := ri.client.account.Begin(ri.client.entry.Cancelled()); {
	case errors.Is(err, throttle.ErrCancelled):
		return interrupted()
	case err != nil:
		return ri.limitReached(l)
	}
	if rows, bytes, bounded := ri.client.account.MaxAnswer(); bounded {
		q.quota = &mysql.Quota{Rows: rows, Bytes: bytes, RowsOver: ri.limitReached(account.LimitRows), BytesOver: ri.limitReached(account.LimitBytes)}
	}
	if t := ri.client.account.MaxTime(); t > 0 && (q.verdict.Timeout == 0 || t < q.verdict.Timeout) {
		q.verdict.Timeout = t
	}
	return nil
}

// asked is the statement as the client sent it.
func (st *stmt) asked() string {
	if st.given != "" {
		return st.given
	}
	return st.source
}

// enterRule waits for a statement's place under a rule's limits. Without an error it is paired with the rule's Leave.
func (ri *rights) enterRule(r *queryrule.Rule) error {
	err := r.Enter(ri.client.entry.Cancelled())
	switch {
	case errors.Is(err, throttle.ErrCancelled):
		return interrupted()
	case err != nil:
		return newError(KSThrottled, "query rule "+r.Name+": too many statements of this kind")
	}
	return nil
}

// verdict gives what the rules say of a prepared statement, which keeps it until the rules are others.
func (ri *rights) verdict(st *stmt) *queryrule.Decision {
	v := ri.queryRules()
	if st.verdictOf == v {
		return &st.verdict
	}
	var sc queryrule.Scratch // which the statement keeps
	info := st.info
	if st.given != "" || st.source != st.text {
		info = sqltext.Classify(st.asked(), st.mode)
	}
	st.verdict, st.verdictOf = v.Decide(&sc, &queryrule.Statement{Text: st.asked(), Info: info, DB: st.db, Mode: st.mode}), v
	// Its text is the one that it was prepared with.
	st.verdict.Rewrite, st.verdict.Outcome = nil, nil
	return &st.verdict
}

// passes tells whether rules have nothing to do with a text but to count it. The loops ask; countRules counts when the
// statement is sent there, as one that goes to a goroutine after all is asked about again.
func (ri *rights) passes(text string, info *sqltext.Info) bool {
	ri.client.task().verdict = queryrule.Decision{}
	v := ri.queryRules()
	if v == nil {
		return true
	}
	ri.client.task().verdict = v.Decide(&ri.client.lookup().rules, &queryrule.Statement{Text: text, Info: *info, DB: ri.client.state.DB(), Mode: ri.client.mode()})
	return !ri.client.task().verdict.Acts()
}

// passesExecution reports whether no query rule acts on an execution of a prepared statement.
func (ri *rights) passesExecution(st *stmt) bool { return !ri.verdict(st).Acts() }

// countRules counts what passes or passesExecution found.
func (ri *rights) countRules(st *stmt) {
	if st != nil {
		st.verdict.Count()
		return
	}
	ri.client.task().verdict.Count()
	ri.client.task().verdict = queryrule.Decision{}
}

// allow refuses what the client may not send, or what the rules block.
func (ri *rights) allow(q *query) error {
	if q.st != nil {
		if err := ri.obeyExecution(q.st); err != nil {
			return err
		}
		q.verdict = q.st.verdict
		q.verdict.Hits = nil
		return ri.permitExecution(q.st)
	}
	q.readWithin(ri.client.mode())
	if ri.client.snap.Blacklist != nil && ri.blacklisted(q) {
		return errBlacklisted
	}
	if err := ri.obey(q); err != nil {
		return err
	}
	if err := ri.permit(q.text, &q.info); err != nil {
		return err
	}
	if err := ri.inspect(q, false); err != nil || q.within == nil {
		return err
	}
	return ri.admitTexts(q)
}
