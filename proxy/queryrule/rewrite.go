package queryrule

import "kingshard/mysql/sqltext"

// rewriteGrowth is how many bytes a text may grow by being rewritten.
const rewriteGrowth = 1 << 20

// rewritten gives the statement that the rule makes of one whose text without comments is plain. fault, if not empty, says why the
// outcome is none.
func (r *Rule) rewritten(plain []byte, st *Statement) (next *Statement, fault string) {
	var text []byte
	at := 0
	for _, m := range r.pattern.FindAllSubmatchIndex(plain, -1) {
		text = append(text, plain[at:m[0]]...)
		text = r.pattern.Expand(text, r.template, plain, m)
		if at = m[1]; len(text) > len(plain)+rewriteGrowth {
			return nil, "the rewritten text is too long"
		}
	}
	text = append(text, plain[at:]...)
	next = &Statement{Text: string(text), DB: st.DB, Mode: st.Mode}
	next.Info = sqltext.Classify(next.Text, st.Mode)
	switch {
	case next.Info.Class == sqltext.Empty:
		return nil, "the rewritten text is empty"
	case next.Info.Has(sqltext.Multi):
		return nil, "the rewritten text is more than one statement"
	case next.Info.Class == sqltext.LoadDataLocal && st.Info.Class != sqltext.LoadDataLocal:
		return nil, "the rewritten text asks for a file of the client" // which overwrites the statements behind it
	}
	// The comments that chose a server are gone with the others.
	next.Info.NodeHint = st.Info.NodeHint
	next.Info.Traits |= st.Info.Traits & sqltext.MasterHint
	return next, ""
}
