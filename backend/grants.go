package backend

import (
	"slices"
	"strings"

	"kingshard/backend/stored"
	"kingshard/mysql/sqltext"
)

// Grants are the rights of an account, as SHOW GRANTS lists them. Those on single tables, and those that come by roles, are not
// known.
type Grants struct {
	lines []grant
	roles bool
}

// grant is a line: rights in upper case, on databases by a pattern of LIKE; "" is every one.
type grant struct {
	rights  []string
	pattern string
}

// Grants asks the server for the rights of the connection's account.
func (c *Conn) Grants() (Grants, error) {
	var g Grants
	err := c.Rows("SHOW GRANTS", 1, func(row []string) { g.add(row[0]) })
	return g, err
}

// add reads a line of SHOW GRANTS.
func (g *Grants) add(line string) {
	list, rest, found := strings.Cut(strings.TrimPrefix(line, "GRANT "), " ON ")
	if !found {
		g.roles = g.roles || !strings.HasPrefix(line, "SET ")
		return
	}
	where, how, _ := strings.Cut(rest, " TO ")
	db, ok := strings.CutSuffix(where, ".*")
	if !ok {
		return // of a table, or PROXY
	}
	var one grant
	if db != "*" {
		one.pattern = strings.Trim(db, "`")
	}
	for right := range strings.SplitSeq(list, ",") {
		one.rights = append(one.rights, strings.ToUpper(strings.TrimSpace(right)))
	}
	if strings.Contains(how, " WITH GRANT OPTION") {
		one.rights = append(one.rights, "GRANT OPTION")
	}
	g.lines = append(g.lines, one)
}

// neverNeeded are rights that are about the server, other accounts or its files, and so none of a proxy's clients.
var neverNeeded = []string{"ALL PRIVILEGES", "SUPER", "FILE", "GRANT OPTION", "SHUTDOWN", "CREATE USER", "RELOAD", "SYSTEM_USER", "SET_USER_ID", "SYSTEM_VARIABLES_ADMIN"}

// Excess lists the rights on everything that no account of a proxy needs, each once. GRANT OPTION counts on any database, but for the proxies' own.
func (g Grants) Excess() (rights []string) {
	for _, never := range neverNeeded {
		if slices.ContainsFunc(g.lines, func(one grant) bool {
			return (one.pattern == "" || never == "GRANT OPTION" && strings.ReplaceAll(one.pattern, `\_`, "_") != sqltext.ProxySchema) && slices.Contains(one.rights, never)
		}) {
			rights = append(rights, never)
		}
	}
	return rights
}

// Holds lists those of the rights that the account has on anything.
func (g Grants) Holds(rights ...string) (held []string) {
	for _, right := range rights {
		if slices.ContainsFunc(g.lines, func(one grant) bool {
			return slices.Contains(one.rights, right) || slices.Contains(one.rights, "ALL PRIVILEGES")
		}) {
			held = append(held, right)
		}
	}
	return held
}

// HoldsOn lists those of the rights that the account has on a database, as far as it does not have them by roles.
func (g Grants) HoldsOn(db string, rights ...string) (held []string) {
	for _, right := range rights {
		if g.has(db, right) {
			held = append(held, right)
		}
	}
	return held
}

// has reports whether a line gives a right on a database; on everything where db is "".
func (g Grants) has(db, right string) bool {
	return slices.ContainsFunc(g.lines, func(one grant) bool {
		all := slices.Contains(one.rights, "ALL PRIVILEGES") && right != "GRANT OPTION" // which is written by itself
		return (one.pattern == "" || db != "" && stored.Like(one.pattern, db)) && (all || slices.Contains(one.rights, right))
	})
}

// Lacks lists those of the rights that the account does not have on a database; on everything where db is "". Of an account with
// roles nothing is known to be lacking.
func (g Grants) Lacks(db string, rights ...string) (missing []string) {
	for _, right := range rights {
		if !g.roles && !g.has(db, right) {
			missing = append(missing, right)
		}
	}
	return missing
}
