package stored

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// Mark begins the questions, so that whoever reads a server's process list or log knows whose they are.
const Mark = "/* kingshard: stored objects */ "

// Server is a connection to a server, as backend.Conn is one.
type Server interface {
	// Rows runs a query that answers with so many columns and gives each row, NULL as "NULL".
	Rows(sql string, columns int, row func([]string)) error
}

// question asks for everything at once. Each row has what it is about, a database, a name, a text and the sql_mode that this is in.
const question = Mark + `SELECT 'database', SCHEMA_NAME, '', '', '' FROM information_schema.SCHEMATA
UNION ALL SELECT 'right', '', PRIVILEGE_TYPE, '', '' FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = ` + grantee + `
UNION ALL SELECT 'right', TABLE_SCHEMA, PRIVILEGE_TYPE, '', '' FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = ` + grantee + `
UNION ALL SELECT 'right', '', 'SHOW_ROUTINE', '', '' FROM information_schema.TABLE_PRIVILEGES
 WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'proc' AND PRIVILEGE_TYPE = 'SELECT' AND GRANTEE = ` + grantee + `
UNION ALL SELECT 'trigger', EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, IFNULL(ACTION_STATEMENT, ''), SQL_MODE FROM information_schema.TRIGGERS
UNION ALL SELECT 'view', TABLE_SCHEMA, TABLE_NAME, IFNULL(VIEW_DEFINITION, ''), '' FROM information_schema.VIEWS WHERE TABLE_SCHEMA <> 'sys'
UNION ALL SELECT ROUTINE_TYPE, ROUTINE_SCHEMA, ROUTINE_NAME, IFNULL(ROUTINE_DEFINITION, ''), SQL_MODE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN ('sys', '` + sqltext.ProxySchema + `')`

// grantee is the account as information_schema writes it.
const grantee = `CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')`

const (
	sequencesQuestion = Mark + `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_TYPE = 'SEQUENCE'`
	defaultsQuestion  = Mark + `SELECT 'default', TABLE_SCHEMA, TABLE_NAME, COLUMN_DEFAULT, '' FROM information_schema.COLUMNS WHERE COLUMN_DEFAULT LIKE '%nextval(%'`
	variablesQuestion = Mark + `SHOW SESSION VARIABLES`
)

// DDLCounters asks how many statements that make, change or drop stored objects the server has begun: while the answer is the same,
// so are the objects, but for statements under way.
const DDLCounters = Mark + `SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_create_trigger', 'Com_drop_trigger', 'Com_create_view', 'Com_drop_view',
 'Com_create_function', 'Com_drop_function', 'Com_alter_function', 'Com_create_procedure', 'Com_drop_procedure', 'Com_alter_procedure',
 'Com_create_package', 'Com_create_package_body', 'Com_drop_package', 'Com_drop_package_body', 'Com_create_udf', 'Com_create_sequence',
 'Com_rename_table', 'Com_alter_table', 'Com_create_db', 'Com_drop_db', 'Com_grant', 'Com_revoke')`

// object is a stored object as the server tells of it.
type object struct {
	kind, schema, name string
	body
}

// asked is what else the server told.
type asked struct {
	databases []string
	rights    []right
	variables map[string]bool
}

type right struct{ pattern, name string }

// Ask asks a server for its stored objects. m is how it reads texts under its default sql_mode.
func Ask(c Server, m sqltext.Mode) (*Objects, error) {
	objects, a, err := collect(c, m)
	if err != nil {
		return nil, err
	}
	return finish(c, m, build(objects, a))
}

// AskBoth is Ask by two accounts: c's statements reach the objects, and own may see more of them. What either sees is known, and what
// neither does is not.
func AskBoth(c, own Server, m sqltext.Mode) (*Objects, error) {
	objects, a, err := collect(c, m)
	if err != nil {
		return nil, err
	}
	more, b, err := collect(own, m)
	if err != nil {
		return nil, err
	}
	for _, db := range b.databases {
		if !slices.Contains(a.databases, db) {
			a.databases = append(a.databases, db)
		}
	}
	a.rights = append(a.rights, b.rights...)
	return finish(c, m, build(union(objects, more), a))
}

// finish adds what a fresh session of the account is like.
func finish(c Server, m sqltext.Mode, o *Objects) (*Objects, error) {
	return o, c.Rows(Traces(m), 1, func(row []string) { o.Fresh = row[0] })
}

// union joins what two accounts see: of objects that both do, such as all triggers of a table, what own sees, unless that has no text.
func union(objects, own []object) (all []object) {
	type key struct{ kind, schema, name string }
	seen, hidden := make(map[key]bool), make(map[key]bool)
	for _, x := range objects {
		seen[key{x.kind, x.schema, x.name}] = true
	}
	told := make(map[key]bool)
	for _, x := range own {
		at := key{x.kind, x.schema, x.name}
		told[at] = true
		hidden[at] = hidden[at] || x.effects == Unknown && len(x.names) == 0
	}
	for _, x := range own {
		if at := (key{x.kind, x.schema, x.name}); !hidden[at] || !seen[at] {
			all = append(all, x)
		}
	}
	for _, x := range objects {
		if at := (key{x.kind, x.schema, x.name}); !told[at] || hidden[at] {
			all = append(all, x)
		}
	}
	return all
}

// collect asks one account.
func collect(c Server, m sqltext.Mode) (objects []object, a asked, err error) {
	a.variables = make(map[string]bool)
	err = c.Rows(variablesQuestion, 2, func(row []string) { a.variables[strings.ToLower(row[0])] = true })
	if err != nil {
		return nil, a, err
	}
	add := func(row []string) {
		switch kind, schema, name := row[0], row[1], row[2]; kind {
		case "database":
			a.databases = append(a.databases, schema)
		case "right":
			a.rights = append(a.rights, right{schema, name})
		default:
			o := object{kind: kind, schema: fold(schema), name: fold(name)}
			switch kind {
			case "default":
				o.effects = State
			case "PACKAGE", "PACKAGE BODY":
				o.effects = Unknown // its variables are the session's
			default:
				if strings.EqualFold(row[3], "NULL") {
					row[3] = ""
				}
				o.body = read(row[3], modeOf(row[4], m), a.variables)
			}
			objects = append(objects, o)
		}
	}
	if err := c.Rows(question, 5, add); err != nil {
		return nil, a, err
	}
	if m.MariaDB {
		sequences := "0"
		if err := c.Rows(sequencesQuestion, 1, func(row []string) { sequences = row[0] }); err != nil {
			return nil, a, err
		}
		if sequences != "0" {
			err = c.Rows(defaultsQuestion, 5, add)
		}
	}
	return objects, a, err
}

// Traces asks for what survives a reset of a connection: the role, and the texts of statements that MariaDB keeps with profiling and MySQL
// with optimizer_trace. Of no server does a change of the user take away more.
func Traces(m sqltext.Mode) string {
	switch {
	case m.MariaDB:
		return Mark + `SELECT CONCAT(IFNULL(CURRENT_ROLE(), ''), '/', (SELECT COUNT(*) FROM information_schema.PROFILING))`
	case m.ServerVersion >= 80000:
		return Mark + `SELECT CONCAT(CURRENT_ROLE(), '/', (SELECT COUNT(*) FROM information_schema.OPTIMIZER_TRACE))`
	}
	return Mark + `SELECT CONCAT('', (SELECT COUNT(*) FROM information_schema.OPTIMIZER_TRACE), '/', (SELECT COUNT(*) FROM information_schema.PROFILING))`
}

// modeOf is how a definition that was made under a sql_mode is read.
func modeOf(sqlMode string, m sqltext.Mode) sqltext.Mode {
	m.ANSIQuotes, m.NoBackslashEscapes = false, false
	for mode := range strings.SplitSeq(sqlMode, ",") {
		switch mode {
		case "ANSI_QUOTES", "ANSI", "ORACLE", "MSSQL", "POSTGRESQL", "DB2", "MAXDB":
			m.ANSIQuotes = true
		case "NO_BACKSLASH_ESCAPES":
			m.NoBackslashEscapes = true
		}
	}
	m.Charset = sqltext.ASCIISafe
	return m
}

// systemDatabases hold nothing that leaves a trace, but for sys, whose objects Ask leaves out: see [Sys]. No statement of a client reaches those of the
// proxies' own schema.
var systemDatabases = map[string]bool{"information_schema": true, "performance_schema": true, "mysql": true, "sys": true, sqltext.ProxySchema: true}

// Sys is the database of views and functions that come with the servers; some set user variables of their own.
const Sys = "sys"

// build works out what reaching each of the objects does, through others too.
func build(objects []object, a asked) *Objects {
	o := &Objects{byName: make(map[string][]entry), all: objects, asked: a}
	routines := a.has("SHOW_ROUTINE", "") || a.has("SELECT", "") || a.has("SELECT", "mysql")
	for _, db := range a.databases {
		if !systemDatabases[strings.ToLower(db)] && !a.has("TRIGGER", db) {
			o.blind = append(o.blind, fold(db))
			o.Blind = append(o.Blind, "TRIGGER on "+db)
		}
	}
	for _, x := range objects {
		if lacks := "SHOW VIEW on " + x.schema; x.kind == "view" && x.effects == Unknown && len(x.names) == 0 && !slices.Contains(o.Blind, lacks) {
			o.Blind = append(o.Blind, lacks)
		}
	}
	if !routines {
		o.Blind = append(o.Blind, "SHOW_ROUTINE, in MariaDB SELECT on mysql.proc")
	}
	read, write := make([]Effects, len(objects)), make([]Effects, len(objects))
	for k := range objects {
		x := &objects[k]
		effects := x.effects
		if x.names[Sys] {
			effects |= UserVariables
		}
		if x.kind == "trigger" || x.kind == "default" {
			write[k] = effects
		} else {
			read[k] = effects
		}
		if x.writes && len(o.blind) > 0 {
			write[k] |= Unknown
			if x.kind != "trigger" {
				read[k] |= Unknown
			}
		}
	}
	named := make(map[string][]int, len(objects))
	for k, x := range objects {
		named[x.name] = append(named[x.name], k)
	}
	for k, x := range objects {
		hidden := !routines && slices.ContainsFunc(x.calls, func(call string) bool { return len(named[fold(call)]) == 0 })
		switch {
		case hidden && x.kind == "trigger":
			write[k] = Unknown
		case hidden:
			read[k] = Unknown
		}
	}
	for changed := true; changed; {
		changed = false
		for k := range objects {
			x := &objects[k]
			r, w := read[k], write[k]
			for name := range x.names {
				for _, other := range named[name] {
					y := &objects[other]
					if other == k || y.schema != x.schema && y.schema != wide && !x.names[y.schema] && !x.names[wide] {
						continue
					}
					reached := read[other]
					if x.writes {
						reached |= write[other]
					}
					switch x.kind {
					case "trigger":
						w |= reached
					case "view":
						r |= read[other]
						w |= write[other]
					default:
						r |= reached
					}
				}
			}
			if r != read[k] || w != write[k] {
				read[k], write[k], changed = r, w, true
			}
		}
	}
	o.system = len(o.blind) == 0
	for k, x := range objects {
		if read[k]|write[k] != 0 {
			o.byName[x.name] = append(o.byName[x.name], entry{x.schema, read[k], write[k]})
			o.system = o.system && systemDatabases[x.schema]
		}
	}
	return o
}

// has reports whether the account has a right on a database, or on everything if that is "".
func (a *asked) has(name, db string) bool {
	return slices.ContainsFunc(a.rights, func(r right) bool {
		return r.name == name && (r.pattern == "" || db != "" && Like(r.pattern, db))
	})
}

// Like compares a name with a pattern of LIKE, in which % is any text, _ any character and \ takes the meaning off.
func Like(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	switch c := pattern[0]; {
	case c == '%':
		return Like(pattern[1:], name) || name != "" && Like(pattern, name[1:])
	case c == '\\' && len(pattern) > 1:
		return name != "" && name[0] == pattern[1] && Like(pattern[2:], name[1:])
	default:
		return name != "" && (c == '_' || c == name[0]) && Like(pattern[1:], name[1:])
	}
}

// Amended is o after a statement that may make or change stored objects, of which text names all: until the server has been asked
// again, each of the names may do anything.
func (o *Objects) Amended(text, db string, m sqltext.Mode) *Objects {
	if o == nil || o.hidden {
		return o
	}
	all := slices.Clone(o.all)
	pending := func(name, schema string) {
		all = append(all, object{kind: "FUNCTION", schema: schema, name: name, body: body{effects: Unknown, writes: true}})
	}
	databases := []string{fold(db)}
	for _, known := range o.asked.databases {
		if name := fold(known); name != databases[0] && mentions(text, name, m) {
			databases = append(databases, name)
		}
	}
	for l := sqltext.NewLexer(text, m); ; {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			amended := build(all, o.asked)
			amended.Fresh = o.Fresh
			return amended
		}
		if name, ok := identifier(text, t); ok && !noName[name] {
			for _, schema := range databases {
				pending(name, schema)
			}
		}
	}
}

// noName are words of such statements that are no names of objects, and frequent elsewhere.
var noName = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`create or replace definer current_user sql security invoker algorithm undefined merge temptable view trigger before after insert
		update delete on for each row begin end set as select from where function procedure returns return int integer bigint varchar char text
		deterministic not no reads modifies sql data contains if then else declare into values and or null is in count max min sum drop exists alter
		rename table to order by group limit new old do call varying unsigned default join left right inner using while loop language comment`) {
		noName[name] = true
	}
}
