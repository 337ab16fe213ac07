package admin

import (
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// oldStatement is one of the predecessor: admin region(columns) values(...). An argument that the table leaves open is "".
type oldStatement struct {
	region, opt, k, v string // region server: opt, k, v; region node: opt, (node), k, v
	argument          string // what v stands for where it is open
	about             string
	rights            account.Rights
	run               func(c *call, node, v string) (*session.OwnResult, error)
}

func (o *oldStatement) usage() string {
	v := o.v
	if v == "" {
		v = o.argument
	}
	if o.region == "node" {
		return "admin node(opt,node,k,v) values('" + o.opt + "','node1','" + o.k + "','" + v + "')"
	}
	return "admin server(opt,k,v) values('" + o.opt + "','" + o.k + "','" + v + "')"
}

// oldStatements are all of them.
var oldStatements []*oldStatement

func init() {
	oldStatements = append(append(append(oldStatements, oldShows...), oldChanges...), oldNodes...)
}

// unsupported is what the predecessor says of what it does not know.
func unsupported() error {
	return mysql.NewSQLError(mysql.ERUnknown, "command unsupport: ADMIN HELP lists the statements")
}

// old reads what follows ADMIN: HELP, or one of the statements. Anything else is not ours: some servers have an ADMIN.
func (c *call) old() (*session.OwnResult, error) {
	switch {
	case c.r.word("help"):
		if err := c.r.end(); err != nil {
			return nil, err
		}
		return c.oldHelp()
	case c.r.is("server"), c.r.is("node"):
	default:
		return nil, nil
	}
	region, _ := c.r.anyWord()
	region = strings.ToLower(region)
	if err := c.who.need(account.Read, "ADMIN "+strings.ToUpper(region)); err != nil {
		return nil, err
	}
	columns := []string{"opt", "k", "v"}
	if region == "node" {
		columns = []string{"opt", "node", "k", "v"}
	}
	values, ok := c.r.oldValues(columns)
	if !ok {
		return nil, unsupported()
	}
	node := ""
	if region == "node" {
		node = values[1]
		values = append(values[:1:1], values[2:]...)
	}
	for _, o := range oldStatements {
		if o.region == region && strings.EqualFold(o.opt, values[0]) && o.k == values[1] && (o.v == "" || o.v == values[2]) {
			return o.run(c, node, values[2])
		}
	}
	return nil, unsupported()
}

// oldValues reads [(columns)] VALUES (values) up to the end.
func (r *reader) oldValues(columns []string) (values []string, ok bool) {
	if r.op("(") {
		for k, name := range columns {
			if k > 0 && !r.op(",") || !r.word(name) {
				return nil, false
			}
		}
		if !r.op(")") {
			return nil, false
		}
	}
	if !r.word("values") || !r.op("(") {
		return nil, false
	}
	for k := range columns {
		v, is := r.value()
		if !is || k > 0 && v == "" && k < len(columns)-1 {
			return nil, false
		}
		values = append(values, v)
		if k < len(columns)-1 && !r.op(",") {
			return nil, false
		}
	}
	return values, r.op(")") && r.ended()
}

// oldHelp answers ADMIN HELP in the predecessor's columns.
func (c *call) oldHelp() (*session.OwnResult, error) {
	if err := c.who.need(account.Read, "ADMIN HELP"); err != nil {
		return nil, err
	}
	var rows [][]any
	for _, o := range oldStatements {
		rows = append(rows, []any{o.usage(), o.about})
	}
	rows = append(rows, []any{"ks help", "the statements that this release adds"})
	return rowsOf(texts("command", "description"), rows)
}

// oldError turns the message of a failure into the predecessor's kind of error.
func oldError(err error) error {
	if e, ok := err.(*mysql.SQLError); ok && e.Code != session.KSAdminFailed {
		return e
	}
	return mysql.NewSQLError(mysql.ERUnknown, "%s", message(err))
}
