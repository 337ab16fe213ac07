package decisions

import (
	"fmt"
	"strings"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
)

// Schema has all of it.
const Schema = sqltext.ProxySchema

const schema = Schema

// version is in the comment of each object: other definitions under the same names have another one.
const version = "kingshard 1"

// clockSkewMax bounds how far the session's clock, which SET timestamp stops, may be from the server's, in microseconds.
const clockSkewMax = 5_000_000

// clockRuns is true where the session's clock is the server's. NOW() is that of the session, SYSDATE() the server's, but where the server was started
// with sysdate-is-now.
var clockRuns = fmt.Sprintf("ABS(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))) < %d", clockSkewMax)

// ownConnection is true where the last of the connections that a row names is the caller's: what another one was seen to call is of no use.
const ownConnection = "in_conns LIKE CONCAT('%:', CONNECTION_ID())"

// object is a table or procedure, and what information_schema says of one that is right.
type object struct {
	name      string
	procedure bool
	// parts are the columns of a table or the parameters of a procedure: name, type, and of columns whether they may be NULL, collation and key.
	parts []string
	// parameters and close are parts of the statement that makes it.
	parameters, close string
	body              string // of a procedure
	columns           int    // of the result that a procedure gives; 0 where it gives none
}

func (o *object) full() string { return schema + "." + o.name }

// kind is the word for what o is in statements.
func (o *object) kind() string {
	if o.procedure {
		return "PROCEDURE"
	}
	return "TABLE"
}

// statement makes o.
func (o *object) statement() string {
	return "CREATE " + o.kind() + " " + o.full() + " (" + o.parameters + ")" + o.close + o.body
}

const (
	ascii   = " CHARACTER SET ascii COLLATE ascii_bin"
	innodb  = " ENGINE=InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin COMMENT='" + version + "'"
	definer = " MODIFIES SQL DATA SQL SECURITY DEFINER COMMENT '" + version + "' "
	reader  = " READS SQL DATA SQL SECURITY DEFINER COMMENT '" + version + "' "
)

// The longest that a row takes. Parameters take more, so that it is the procedure's own sql_mode that refuses what is too long: servers cut parameters
// off by that of who calls.
const (
	gtridMax = 40
	partsMax = 2048
	connsMax = 16384
)

// objects are all, in the order in which they are made.
var objects = []*object{
	{
		name: "dtx",
		parameters: fmt.Sprintf("gtrid CHAR(%d)%s NOT NULL PRIMARY KEY, state CHAR(1)%s NOT NULL, parts VARCHAR(%d)%s NOT NULL, conns VARCHAR(%d)%s NOT NULL, mac CHAR(64)%s NOT NULL, "+
			"ts TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), done_ts TIMESTAMP(6) NULL DEFAULT NULL, KEY state_done_ts (state, done_ts), KEY ts (ts)",
			gtridMax, ascii, ascii, partsMax, ascii, connsMax, ascii, ascii),
		close: innodb,
		parts: []string{
			fmt.Sprintf("gtrid char(%d) NO ascii_bin PRI", gtridMax), "state char(1) NO ascii_bin MUL", fmt.Sprintf("parts varchar(%d) NO ascii_bin", partsMax),
			fmt.Sprintf("conns varchar(%d) NO ascii_bin", connsMax), "mac char(64) NO ascii_bin", "ts timestamp(6) NO MUL", "done_ts timestamp(6) YES",
		},
	},
	{
		name:       "secret",
		parameters: "id CHAR(1)" + ascii + " NOT NULL PRIMARY KEY, secret BINARY(32) NOT NULL, ts TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)",
		close:      innodb,
		parts:      []string{"id char(1) NO ascii_bin PRI", "secret binary(32) NO", "ts timestamp(6) NO"},
	},
	{
		name: "ks_branch", procedure: true,
		parameters: "in_gtrid VARCHAR(255)" + ascii + ", in_parts TEXT" + ascii + ", in_conns TEXT" + ascii + ", in_mac VARCHAR(255)" + ascii,
		close:      definer,
		parts:      []string{"in_gtrid varchar(255)", "in_parts text", "in_conns text", "in_mac varchar(255)"},
		body: "BEGIN DECLARE outcome CHAR(1)" + ascii + " DEFAULT IF(" + clockRuns + " AND " + ownConnection + ", 'B', NULL); " +
			"INSERT INTO " + schema + ".dtx (gtrid, state, parts, conns, mac) VALUES (in_gtrid, outcome, in_parts, in_conns, in_mac); END",
	},
	{
		// What the deadline says is looked at before the row, so that what is written to the binary log is its outcome even where statements are
		// logged, and an error of the INSERT ends the procedure, as nothing handles it: COMMIT is not reached.
		name: "ks_decide", procedure: true,
		parameters: "in_gtrid VARCHAR(255)" + ascii + ", in_parts TEXT" + ascii + ", in_conns TEXT" + ascii + ", in_deadline DATETIME(6), in_mac VARCHAR(255)" + ascii,
		close:      definer,
		parts:      []string{"in_gtrid varchar(255)", "in_parts text", "in_conns text", "in_deadline datetime(6)", "in_mac varchar(255)"},
		body: "BEGIN DECLARE outcome CHAR(1)" + ascii + " DEFAULT IF(UTC_TIMESTAMP(6) < in_deadline AND " + clockRuns + " AND " + ownConnection + ", 'C', NULL); " +
			"INSERT INTO " + schema + ".dtx (gtrid, state, parts, conns, mac) VALUES (in_gtrid, outcome, in_parts, in_conns, in_mac); COMMIT AND NO CHAIN NO RELEASE; END",
	},
	{
		// Binary texts come as they are, whatever the caller's character_set_results. Rows that are kept for those who ask are many, and left out by
		// the index.
		name: "ks_recent", procedure: true, close: reader, columns: 5,
		body: "BEGIN SELECT CAST(gtrid AS BINARY), CAST(state AS BINARY), CAST(parts AS BINARY), CAST(conns AS BINARY), CAST(mac AS BINARY) FROM " + schema +
			".dtx FORCE INDEX (state_done_ts) WHERE state IN ('B', 'C', 'D') AND done_ts IS NULL LIMIT 18446744073709551615; END",
	},
}

// The sql_mode and character set under which objects are made: procedures keep them, whatever those of who calls are.
const (
	makingMode  = "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
	makingNames = "utf8mb4"
)

// beforehand are the statements that a connection begins with which makes objects.
var beforehand = []string{
	"SET NAMES " + makingNames + " COLLATE utf8mb4_bin",
	"SET SESSION sql_mode = '" + makingMode + "', autocommit = 1",
}

// makeSchema makes the database.
const makeSchema = "CREATE DATABASE " + schema

// grants are the statements that let an account call the procedures.
func grants(account string) (list []string) {
	for _, o := range objects {
		if o.procedure {
			list = append(list, "GRANT EXECUTE ON PROCEDURE "+o.full()+" TO "+account)
		}
	}
	return list
}

// The rights on [Schema] that the proxy's own account needs: to make what is missing, and to let another account call the procedures, and to use it.
var (
	MakersRights = []string{"CREATE", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE", "GRANT OPTION"}
	usersRights  = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "EXECUTE"}
)

// Accounts are the two of a node as statements write them; Own is "" where it has no admin_user.
type Accounts struct{ Own, User string }

// Statement makes a part of what decisions need on a server, or gives a right to it.
type Statement struct{ About, SQL string }

// Statements lists what makes all of it on a server where any or all may be there, and gives a node's accounts the rights on it. Who runs them is whose
// rights the procedures have. The key is not among them: proxies make it.
func Statements(a Accounts) (list []Statement) {
	for _, sql := range beforehand {
		list = append(list, Statement{SQL: sql})
	}
	list = append(list, Statement{SQL: strings.Replace(makeSchema, "CREATE DATABASE", "CREATE DATABASE IF NOT EXISTS", 1)})
	for _, o := range objects {
		if o.procedure {
			list = append(list, Statement{SQL: "DROP PROCEDURE IF EXISTS " + o.full()}, Statement{SQL: o.statement()})
		} else {
			list = append(list, Statement{SQL: strings.Replace(o.statement(), "CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1)})
		}
	}
	own := a.Own
	if own == "" {
		own = a.User
	}
	about := "What the proxy does of its own: it ends transactions that were left, keeps the key, and takes away rows that are done with."
	list = append(list, Statement{about, "GRANT " + strings.Join(usersRights, ", ") + " ON " + schema + ".* TO " + own})
	if a.Own != "" {
		about := "Clients' statements run under this account, which needs nothing else on what was made here."
		for _, sql := range grants(a.User) {
			list = append(list, Statement{about, sql})
			about = ""
		}
	}
	return list
}

// Account asks which account of the server a connection has, as statements write it.
func Account(c *backend.Conn) (account string, err error) {
	err = c.Rows("SELECT CURRENT_USER()", 1, func(row []string) { account = QuoteAccount(row[0]) })
	return account, err
}

// QuoteAccount writes what CURRENT_USER() gives, a name, @ and a host, as statements do.
func QuoteAccount(current string) string {
	k := strings.LastIndexByte(current, '@')
	if k < 0 {
		return quote(current)
	}
	return quote(current[:k]) + "@" + quote(current[k+1:])
}

// quote writes a name as an identifier.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
