package differential

import "strings"

// wrapped puts statements of a scenario that are sent as text into others that run them, now and then: what they answer is the same.
func (g *grammar) wrapped(s scenario) scenario {
	var list scenario
	for _, st := range s {
		if st.control || st.follows || st.own || st.client != 0 || !g.one(6) {
			list = append(list, st)
			continue
		}
		list = append(list, g.wrap(st)...)
	}
	return list
}

// wrap gives a statement in another form.
func (g *grammar) wrap(st *statement) scenario {
	whole := *st
	whole.inner = st
	form := g.IntN(9)
	switch {
	case form < 3 && g.terms.dialect.mariaDB:
		variable := pickOne(g.dice, []string{"max_statement_time = 100", "sort_buffer_size = 1000000", "sql_select_limit = 1000000", "join_buffer_size = 200000, tmp_table_size = 1000000"})
		whole.root = phrase(words("SET STATEMENT "+variable+" FOR"), st.root)
	case form < 6 && g.terms.dialect.mariaDB && !st.prepared:
		whole.root = phrase(words("BEGIN NOT ATOMIC"), st.root, words("; END"))
	case form < 8:
		whole.root = phrase(words(pickOne(g.dice, []string{"/* first */", "/*!50000 */", "/*!99999 nothing of that */", "-- a line\n", "# a line\n", "/*!50100 "})), st.root)
		if strings.HasSuffix(whole.root.kids[0].text, "100 ") {
			whole.root.kids = append(whole.root.kids, words("*/"))
			whole.inner = nil
		}
	default:
		whole.root = phrase(st.root, words(pickOne(g.dice, []string{";", "/* last */", "/*!50000 */", "-- last", "; -- last", "; /* last */", "; # last", ";; "})))
	}
	whole.root.or(st.root)
	return scenario{&whole}
}
