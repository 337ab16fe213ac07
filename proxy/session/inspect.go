package session

import (
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/queryrule"
)

// rights say what a client may send: by its account's rights, by query rules and the blacklist, and by what can be right through a proxy.
type rights struct {
	client    *client
	leases    *leases
	routing   *routing
	exchanges *exchanges
	// rules are those of the set ruled that can match what this user sends.
	rules *queryrule.View
	ruled *queryrule.Set
}

// inspect refuses what reaches beyond the session: the servers' own account, other clients' connections and statements, the server
// itself; in the statement and in all that it contains, as any of the user's servers reads it. prepared tells that it comes by the
// binary protocol.
func (ri *rights) inspect(q *query, prepared bool) error {
	i := &q.info
	if i.Has(sqltext.Doubt | sqltext.VersionComment) {
		if err := ri.inspectDoubt(q.text, i); err != nil {
			return err
		}
	}
	if plainClass(i.Class) && !i.Has(sqltext.SystemSchema|sqltext.VersionComment) && !otherwiseElsewhere(q.text, i) && !sqltext.IsSystemSchema(ri.client.state.DB()) {
		return nil
	}
	m := ri.client.mode()
	if err := ri.inspectAs(q, m, i, q.within, prepared); err != nil {
		return err
	}
	for _, other := range ri.modesElsewhere(m, mayDiffer(q.text, i, m)) {
		info := sqltext.Classify(q.text, other)
		var within *sqltext.Contents
		if info.Contains() {
			c := sqltext.ContentsOf(q.text, other)
			if q.known {
				c.Know(q.value, other)
			}
			within = &c
		}
		if err := ri.inspectAs(q, other, &info, within, prepared); err != nil {
			return err
		}
	}
	return nil
}

// inspectDoubt refuses texts that servers read in other words than the proxy does, so that nothing in them can be judged.
func (ri *rights) inspectDoubt(text string, i *sqltext.Info) error {
	m := ri.client.mode()
	switch {
	case i.Has(sqltext.Doubt) && m.Charset == sqltext.SingleByte && hasBlanksBeyondASCII(text):
		return refuse("a text with a blank or control character beyond ASCII, which servers may end words or begin comments at: write a plain blank")
	case i.Has(sqltext.Doubt) && i.Has(sqltext.SystemSchema) && plainClass(i.Class) && !ri.client.account.Process:
		return ri.client.needsProcess("A statement about the servers' own tables that cannot be read for certain")
	case i.Has(sqltext.VersionComment) && !m.MariaDB && hasLongVersion(text, int(m.ServerVersion)):
		return refuse("a comment for a version of six digits without a blank behind them, which servers read in different ways: add the blank")
	}
	return nil
}

// hasBlanksBeyondASCII reports whether a text has bytes that are blanks in some character sets of one byte a character, or one beyond ASCII behind
// two dashes, where a control character begins a comment.
func hasBlanksBeyondASCII(text string) bool {
	if strings.IndexByte(text, 0xA0) >= 0 || strings.IndexByte(text, 0xFF) >= 0 {
		return true
	}
	for rest := text; ; {
		k := strings.Index(rest, "--")
		if k < 0 || k+2 >= len(rest) {
			return false
		}
		if rest[k+2] >= 0x80 {
			return true
		}
		rest = rest[k+1:]
	}
}

// hasLongVersion reports whether a text has a version comment with six digits and no blank behind them, of which a server of a version reads
// anything: MySQL takes five of them from 8.1 on. MySQL manual: "Comments".
func hasLongVersion(text string, version int) bool {
	for rest := text; ; {
		k := strings.Index(rest, "/*!")
		if k < 0 {
			return false
		}
		rest = rest[k+3:]
		n, five := 0, 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			if n < 5 {
				five = 10*five + int(rest[n]-'0')
			}
			n++
		}
		if n >= 6 && five <= version && (n > 6 || n < len(rest) && rest[n] > ' ') {
			return true
		}
	}
}

// otherwiseElsewhere tells whether a statement begins behind a comment in which MariaDB, but no MySQL, reads another one.
func otherwiseElsewhere(text string, i *sqltext.Info) bool {
	return i.First > 0 && strings.Contains(text[:min(i.First, len(text))], ofMariaDB)
}

// inspectAs refuses a statement that the client may not send, and the statements that it contains, as they are read in one mode.
func (ri *rights) inspectAs(q *query, m sqltext.Mode, i *sqltext.Info, within *sqltext.Contents, prepared bool) error {
	from := alone
	if prepared {
		from = byProtocol
	}
	if err := ri.inspectOne(&sqltext.Inner{Text: q.text, Info: *i, Mode: m}, from); err != nil || within == nil {
		return err
	}
	for k := range within.Inner {
		if err := ri.inspectOne(&within.Inner[k], wrapped); err != nil {
			return err
		}
	}
	if within.Unread || slices.ContainsFunc(within.Inner, func(in sqltext.Inner) bool { return hidesStatement(&in) }) {
		return refuse("the statement contains others that cannot be read; send them by themselves")
	}
	for _, d := range within.Dynamic {
		if !d.Later && !(d.Direct && q.known) {
			return refuse("the text of PREPARE or EXECUTE IMMEDIATE cannot be known here; give it as a literal, or prepare it outside of compound statements and of the binary protocol")
		}
	}
	return nil
}

// beginStatements are reserved words that begin statements which are refused or judged, and such as no name is likely to be.
var beginStatements = map[string]bool{
	"alter": true, "kill": true, "grant": true, "revoke": true, "drop": true, "create": true, "set": true, "rename": true, "purge": true, "change": true, "shutdown": true,
}

// hidesStatement reports whether what was read as an expression, or as no statement that is known, has words that begin statements: names such as
// case, then, do and row had the end of the one before be found elsewhere than servers find it.
func hidesStatement(in *sqltext.Inner) bool {
	if in.Info.Class != sqltext.Other && !in.Expressions {
		return false
	}
	l := sqltext.NewLexer(in.Text, in.Mode)
	for first, t := true, l.Next(); t.Kind != sqltext.KindEOF; first, t = false, l.Next() {
		if t.Kind != sqltext.KindWord {
			continue
		}
		switch word := strings.ToLower(in.Text[t.Pos:t.End]); {
		case first && (word == "signal" || word == "resignal"):
			return false // what they SET is their own
		case beginStatements[word], privileged[word]:
			return true
		}
	}
	return false
}

// origin is how a statement comes.
type origin uint8

const (
	alone      origin = iota // as text, by itself: the session answers what it knows best
	byProtocol               // by the binary protocol
	wrapped                  // within another statement
)

// inspectOne refuses one statement that the client may not send, by itself or, as from says, within another.
func (ri *rights) inspectOne(in *sqltext.Inner, from origin) error {
	i := &in.Info
	if i.Has(sqltext.SystemSchema) || sqltext.IsSystemSchema(ri.client.state.DB()) {
		if err := ri.inspectNames(in); err != nil {
			return err
		}
	}
	switch i.Class {
	case sqltext.Handler, sqltext.LoadDataLocal, sqltext.ChangeReplication, sqltext.BinlogStmt, sqltext.Flush:
		return ri.admitClass(in.Text, i.Class)
	case sqltext.Kill:
		if from == wrapped {
			return refuse("KILL within another statement; send it by itself")
		}
		// That of KILL ? is looked at when it is executed.
		if _, ok := sqltext.ParseKill(in.Text, in.Mode); !ok && (from != byProtocol || !i.Has(sqltext.Param)) {
			return ri.leases.unreadable(in.Text, errKillForm)
		}
	case sqltext.ShowProcesslist:
		if _, read := sqltext.ParseShow(in.Text, in.Mode); (from == wrapped || !read) && !ri.client.account.Process {
			return ri.client.needsProcess("SHOW PROCESSLIST within another statement")
		}
	case sqltext.Explain:
		if i.Target == sqltext.Other && !ri.client.account.Process {
			return ri.client.needsProcess("EXPLAIN FOR CONNECTION")
		}
	case sqltext.XA:
		if !ri.client.account.Process && !ri.ownXA(in, from) {
			return ri.client.needsProcess("XA RECOVER, or the end of an XA transaction that this session has not begun, or that is prepared or within another statement,")
		}
	case sqltext.Show:
		return ri.inspectShow(in, from)
	case sqltext.LockTables:
		if w := leading(in, 2); (w[0] == "backup" || w[1] == "instance") && !ri.client.account.Process {
			return ri.client.needsProcess("A lock on the whole server")
		}
	case sqltext.Admin:
		switch w := leading(in, 2); w[0] {
		case "shutdown", "restart", "clone", "install", "uninstall":
			return refuse("the database servers are administered on themselves, not through the proxy")
		case "alter", "reset":
			if w[1] == "instance" || w[1] == "persist" {
				return refuse("the database servers are administered on themselves, not through the proxy")
			}
		}
	case sqltext.Grant:
		return ri.inspectAccounts(in.Text, in.Mode)
	case sqltext.Set:
		return ri.inspectSet(in, from)
	case sqltext.Prepare, sqltext.Execute, sqltext.Deallocate:
		return inspectStatementName(in)
	case sqltext.Use:
		if w := leading(in, 2); from == wrapped && sqltext.IsSystemSchema(strings.Trim(w[1], "`\"")) {
			return refuse("USE of one of the servers' own databases within another statement: what follows could not be judged; send it by itself")
		}
	case sqltext.Other:
		if w := leading(in, 2); from != wrapped && w[1] == ":=" {
			return newError(KSRefusedVariable, "an assignment without SET: write SET name = value")
		}
	case sqltext.DDL:
		return inspectDefinition(in)
	}
	return nil
}

// inspectStatementName refuses names of prepared statements that a server may take for others: what a name stands for decides what its
// EXECUTE does to the session.
func inspectStatementName(in *sqltext.Inner) error {
	l := sqltext.NewLexer(in.Text, in.Mode)
	first := l.Next()
	t := l.Next()
	if in.Info.Class == sqltext.Deallocate {
		t = l.Next()
	}
	if in.Info.Class == sqltext.Execute && in.Mode.MariaDB && strings.EqualFold(in.Text[t.Pos:t.End], "immediate") || t.Pos < first.End {
		return nil
	}
	if t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent {
		if name := sqltext.UnquoteIdent(in.Text[t.Pos:t.End], in.Mode); sqltext.Wide(name) || name != "" && name[len(name)-1] <= ' ' {
			return refuse("a prepared statement whose name has letters beyond ASCII or ends with a blank, which servers may take for another one: name it plainly")
		}
	}
	return nil
}

// inspectDefinition refuses what makes the servers load libraries or log in elsewhere.
func inspectDefinition(in *sqltext.Inner) error {
	w := leading(in, 3)
	switch {
	case w[1] == "server" && (w[0] == "create" || w[0] == "alter" || w[0] == "drop"), w[0] == "create" && w[1] == "or" && leading(in, 4)[3] == "server":
	case w[0] == "create" && returnsFromLibrary(in):
	default:
		return nil
	}
	return refuse("the database servers are administered on themselves, not through the proxy")
}

// returnsFromLibrary reports whether a statement has RETURNS type SONAME, as CREATE FUNCTION has for a loadable function.
func returnsFromLibrary(in *sqltext.Inner) bool {
	var before [2]string
	l := sqltext.NewLexer(in.Text, in.Mode)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		word := in.Text[t.Pos:t.End]
		if strings.EqualFold(word, "soname") && strings.EqualFold(before[0], "returns") {
			return true
		}
		before = [2]string{before[1], word}
	}
	return false
}

var errKillForm = refuse("KILL takes a connection id of this proxy, or an expression of literals and variables that gives one: KILL [QUERY] id")

// needsProcess is what a user hears of what shows or stops other users' statements.
func (c *client) needsProcess(what string) *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERSpecificAccessDenied, "Access denied; %s needs the right process of user '%s'", what, c.entry.Name())
}

// leading are the first tokens of a statement in lower case; "" behind its end.
func leading(in *sqltext.Inner, n int) []string {
	words := make([]string, n)
	l := sqltext.NewLexer(in.Text, in.Mode)
	for k := range words {
		t := l.Next()
		words[k] = strings.ToLower(in.Text[t.Pos:t.End])
	}
	return words
}

// inspectShow refuses those SHOW statements that tell of the servers' account or of other users' statements.
func (ri *rights) inspectShow(in *sqltext.Inner, from origin) error {
	switch w := leading(in, 3); {
	case w[1] == "create" && w[2] == "user":
		return refuse("SHOW CREATE USER shows passwords of the servers' accounts; run it on the server itself")
	case w[1] == "grants":
		if from == wrapped && grantsShowPasswords(in.Mode) {
			return refuse("SHOW GRANTS within another statement; send it by itself: it shows passwords of the servers' accounts")
		}
	case ri.client.account.Process:
	case w[1] == "engine", w[1] == "innodb", w[1] == "binlog", w[1] == "relaylog", w[1] == "explain", w[1] == "analyze":
		return ri.client.needsProcess(strings.ToUpper("SHOW " + w[1]))
	}
	return nil
}

// grantsShowPasswords tells whether SHOW GRANTS of a server has the hashes of passwords.
func grantsShowPasswords(m sqltext.Mode) bool { return m.MariaDB || m.ServerVersion < 50700 }

// inspectAccounts refuses changes of an account that the proxy itself uses.
func (ri *rights) inspectAccounts(text string, m sqltext.Mode) error {
	a := sqltext.AccountsOf(text, m)
	if a.Self {
		return errOwnAccount
	}
	for _, name := range a.Names {
		// Servers leave blanks around a name out, or pad it with them.
		if name = strings.TrimSpace(name); name == "" || ri.client.snap.ownAccount(name) {
			return errOwnAccount
		}
	}
	return nil
}

var errOwnAccount = refuse("the statement is about an account that the proxy itself uses on the servers, or one that could stand in its place; change it on the server itself")

// ownAccount tells whether the proxy logs in to servers by this name. Case does not count.
func (s *Snapshot) ownAccount(name string) bool {
	for k := range s.Config.Nodes {
		n := &s.Config.Nodes[k]
		if strings.EqualFold(name, n.User) || n.AdminUser != "" && strings.EqualFold(name, n.AdminUser) {
			return true
		}
	}
	return false
}

// inspectSet refuses what SET must not change. Of one that cannot be taken apart every word is looked at.
func (ri *rights) inspectSet(in *sqltext.Inner, from origin) error {
	list, ok := sqltext.ParseSet(in.Text, in.Mode)
	if ok {
		for _, a := range list {
			// Within a body it may be a variable of its own.
			if a.Scope == sqltext.Session && sqltext.Odd(a.Name) && (from != wrapped || mayBePrivileged(a.Name)) {
				return errOddVariable
			}
			if a.Scope == sqltext.Role && a.Name == "default role" {
				if err := ri.inspectAccounts("SET DEFAULT ROLE "+a.Value, in.Mode); err != nil {
					return err
				}
			}
		}
		return ri.admitSet(list)
	}
	l := sqltext.NewLexer(in.Text, in.Mode)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		word := in.Text[t.Pos:t.End]
		if t.Kind == sqltext.KindSysVar {
			if word = sqltext.SysVar(word); sqltext.Odd(strings.ReplaceAll(word[2:], "`", "")) {
				return errOddVariable
			}
		}
		word = strings.ToLower(strings.Trim(word, "@`"))
		if scope, name, dotted := strings.Cut(word, "."); dotted {
			word = strings.Trim(name, "`")
			if scope == "global" || strings.HasPrefix(scope, "persist") {
				word = scope
			}
		}
		switch {
		case t.Kind == sqltext.KindString:
		case sqltext.Odd(word) && (t.Kind == sqltext.KindSysVar || t.Kind != sqltext.KindUserVar && mayBePrivileged(word)):
			return errOddVariable
		case word == "global", word == "persist", word == "persist_only", word == "password", word == "resource", word == "default", privileged[word]:
			return newError(KSRefusedVariable, "SET that cannot be read for certain and may change the server, the proxy's own account or the binary log")
		}
	}
	return nil
}

var errOddVariable = newError(KSRefusedVariable, "SET of a variable whose name has other characters than ASCII letters, digits and _, which servers may take for another one: write it plainly")

// mayBePrivileged reports whether a server may take a name for that of a privileged variable.
func mayBePrivileged(name string) bool {
	for p := range privileged {
		if sqltext.MayEqual(name, p) {
			return true
		}
	}
	return false
}

// The tables of the servers' own schemas that show or hold what is other users'.
var (
	accountTables = map[string]bool{
		"user": true, "global_priv": true, "db": true, "host": true, "tables_priv": true, "columns_priv": true, "procs_priv": true, "proxies_priv": true,
		"roles_mapping": true, "role_edges": true, "default_roles": true, "global_grants": true, "password_history": true, "slave_master_info": true,
		"servers": true,
	}
	informationOfOthers = map[string]bool{
		"processlist": true, "innodb_trx": true, "innodb_locks": true, "innodb_lock_waits": true, "query_cache_info": true, "metadata_lock_info": true,
	}
	// performanceOfOthers are parts of the names of tables, views and functions of performance_schema and sys.
	performanceOfOthers = []string{
		"process", "thread", "statement", "prepared", "trx", "lock", "transaction", "attrs", "error_log", "user_variables", "history", "current", "variables_by",
	}
	sysOfOthers = []string{"session", "user_summary", "host_summary", "ps_", "latest", "diagnostics"}
)

// inspectNames refuses statements about the servers' accounts, and to users without the right process those that show others'
// statements.
func (ri *rights) inspectNames(in *sqltext.Inner) error {
	c := in.Info.Class
	if c == sqltext.ShowProcesslist {
		return nil
	}
	if slices.ContainsFunc(sqltext.SystemNames(in.Text, in.Mode, ""), func(n sqltext.SystemName) bool { return n.Schema == sqltext.ProxySchema }) {
		return errProxySchema
	}
	if c == sqltext.Use {
		return nil
	}
	// The statements of a body are looked at by themselves.
	writes := !(c == sqltext.DDL && in.Info.Has(sqltext.Body)) && !readsOnly(in.Text, &in.Info, in.Mode)
	db := ri.client.state.DB()
	if aboutNoTable(in) {
		db = "" // which its names are not in
	}
	for _, n := range sqltext.SystemNames(in.Text, in.Mode, db) {
		switch {
		case c == sqltext.Call && (n.Schema == "sys" || n.Schema == "mysql"):
			return refuse("the procedures of sys and mysql carry out texts and reach other connections; run them on the server itself")
		case n.Schema == "mysql" && (accountTables[n.Name] || n.Name == "" && c == sqltext.DDL || sqltext.Wide(n.Name)):
			return refuse("the tables of the servers' accounts are not for statements through the proxy")
		case writes && writesServer(c, n):
			return refuse("the servers' own tables decide what they do for everybody; change them on the server itself")
		case ri.client.account.Process:
		case sqltext.Wide(n.Name):
			return ri.client.needsProcess("A name beyond ASCII in " + n.Schema)
		case n.Schema == "information_schema" && informationOfOthers[n.Name],
			n.Schema == "mysql" && (n.Name == "general_log" || n.Name == "slow_log"),
			(n.Schema == "performance_schema" || n.Schema == "sys") && hasAny(n.Name, performanceOfOthers),
			n.Schema == "sys" && hasAny(n.Name, sysOfOthers):
			return ri.client.needsProcess(n.Schema + "." + n.Name)
		}
	}
	return nil
}

// errProxySchema refuses what is about the proxies' own tables.
var errProxySchema = refuse("the tables of " + sqltext.ProxySchema + " are the proxies' own: SHOW KS SEQUENCES shows what ids they have handed out")

// aboutNoTable reports whether a statement is about databases, users or roles, whose names are in no database.
func aboutNoTable(in *sqltext.Inner) bool {
	w := leading(in, 4)
	if len(w) < 2 || w[0] != "create" && w[0] != "drop" && w[0] != "alter" && w[0] != "rename" {
		return false
	}
	if w[1] == "or" && len(w) > 3 {
		w = w[2:]
	}
	return w[1] == "database" || w[1] == "schema" || w[1] == "user" || w[1] == "role"
}

// writesServer reports whether a statement that writes may change, by a name in it, what a server does for all its clients.
func writesServer(c sqltext.Class, n sqltext.SystemName) bool {
	switch n.Schema {
	case "mysql":
		return true
	case "performance_schema":
		return c != sqltext.Insert && c != sqltext.Replace || strings.HasPrefix(n.Name, "setup_") // others can be read only
	case "sys":
		return n.Name == "sys_config"
	}
	return false
}

// hasAny tells whether one of the parts is in the name.
func hasAny(name string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// admitClass refuses statements of classes that cannot be right through shared connections.
func (ri *rights) admitClass(text string, c sqltext.Class) error {
	switch c {
	case sqltext.Handler:
		return refuse("HANDLER keeps a cursor on one connection; use SELECT ... LIMIT")
	case sqltext.LoadDataLocal:
		if !ri.client.account.LocalInfile || !ri.client.conn.Capabilities.Has(mysql.ClientLocalFiles) {
			return newError(KSLocalInfile, "")
		}
	case sqltext.ChangeReplication, sqltext.BinlogStmt:
		return refuse("replication is administered on the database servers, not through the proxy")
	case sqltext.Flush:
		if flushLocks(text) && !ri.client.account.Process {
			return refuse("FLUSH TABLES WITH READ LOCK stops the server for every user; it needs the right process")
		}
	}
	return nil
}
