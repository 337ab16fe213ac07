package predecessor

import (
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/statement"
	"kingshard/proxy/kserror"
	"kingshard/proxy/session"
)

// Statement is an admin statement of the predecessor's syntax, admin region(columns) values(...). An argument that the table leaves open is "".
type Statement struct {
	region, opt, k, v string // region server: opt, k, v; region node: opt, (node), k, v
	argument          string // what v stands for where it is open
	About             string
	Rights            account.Rights
	run               func(a *Admin, w change.Who, node, v string) (*session.OwnResult, error)
}

// Usage returns the statement as it is written.
func (o *Statement) Usage() string {
	v := o.v
	if v == "" {
		v = o.argument
	}
	if o.region == "node" {
		return "admin node(opt,node,k,v) values('" + o.opt + "','node1','" + o.k + "','" + v + "')"
	}
	return "admin server(opt,k,v) values('" + o.opt + "','" + o.k + "','" + v + "')"
}

// Statements are all of them.
var Statements = slices.Concat(shows, changes, ofInstances)

// unsupported is what the predecessor says of what it does not know.
func unsupported() error {
	return mysql.NewSQLError(mysql.ERUnknown, "command unsupport: ADMIN HELP lists the statements")
}

// Statement answers what follows ADMIN: HELP, or one of the statements. Anything else is not ours: some servers have an ADMIN.
func (a *Admin) Statement(w change.Who, r *statement.Reader) (*session.OwnResult, error) {
	switch {
	case r.Word("help"):
		if err := r.End(); err != nil {
			return nil, err
		}
		return help(w)
	case r.Is("server"), r.Is("node"):
	default:
		return nil, nil
	}
	region, _ := r.AnyWord()
	region = strings.ToLower(region)
	if err := w.Need(account.Read, "ADMIN "+strings.ToUpper(region)); err != nil {
		return nil, err
	}
	columns := []string{"opt", "k", "v"}
	if region == "node" {
		columns = []string{"opt", "node", "k", "v"}
	}
	v, ok := values(r, columns)
	if !ok {
		return nil, unsupported()
	}
	node := ""
	if region == "node" {
		node = v[1]
		v = append(v[:1:1], v[2:]...)
	}
	for _, o := range Statements {
		if o.region == region && strings.EqualFold(o.opt, v[0]) && o.k == v[1] && (o.v == "" || o.v == v[2]) {
			return o.run(a, w, node, v[2])
		}
	}
	return nil, unsupported()
}

// values reads [(columns)] VALUES (values) up to the end.
func values(r *statement.Reader, columns []string) (list []string, ok bool) {
	if r.Op("(") {
		for k, name := range columns {
			if k > 0 && !r.Op(",") || !r.Word(name) {
				return nil, false
			}
		}
		if !r.Op(")") {
			return nil, false
		}
	}
	if !r.Word("values") || !r.Op("(") {
		return nil, false
	}
	for k := range columns {
		v, is := r.Value()
		if !is || k > 0 && v == "" && k < len(columns)-1 {
			return nil, false
		}
		list = append(list, v)
		if k < len(columns)-1 && !r.Op(",") {
			return nil, false
		}
	}
	return list, r.Op(")") && r.Ended()
}

// help answers ADMIN HELP in the predecessor's columns.
func help(w change.Who) (*session.OwnResult, error) {
	if err := w.Need(account.Read, "ADMIN HELP"); err != nil {
		return nil, err
	}
	var rows [][]string
	for _, o := range Statements {
		rows = append(rows, []string{o.Usage(), o.About})
	}
	rows = append(rows, []string{"ks help", "the statements that this release adds"})
	return result([]string{"command", "description"}, rows), nil
}

// asBefore turns the message of a failure into the predecessor's kind of error.
func asBefore(err error) error {
	if e, ok := err.(*mysql.SQLError); ok && e.Code != kserror.AdminFailed {
		return e
	}
	return mysql.NewSQLError(mysql.ERUnknown, "%s", change.Message(err))
}
