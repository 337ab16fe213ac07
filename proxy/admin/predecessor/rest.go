package predecessor

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/rest"
	"kingshard/proxy/queryrule"
)

// Root is what the paths of the predecessor's calls begin with.
const Root = "/api/v1"

// Route tells what answers a REST call that the predecessor had.
type Route struct {
	Method, Path string
	Rights       account.Rights
	Handle       handler
}

// handler answers a request.
type handler func(a *Admin, w change.Who, h *http.Request) (any, error)

// Routes are the predecessor's calls. Bodies and answers are its own, misspellings too; errors say why.
var Routes = []Route{
	{"GET", Root + "/nodes/status", account.Read, get(nodes)},
	{"POST", Root + "/nodes/slaves", account.Admin, slave((*Admin).addSlave)},
	{"DELETE", Root + "/nodes/slaves", account.Admin, slave((*Admin).deleteSlave)},
	{"PUT", Root + "/nodes/slaves/status", account.Operate, upDown((*Admin).upSlave, (*Admin).downSlave)},
	{"PUT", Root + "/nodes/masters/status", account.Operate, upDown((*Admin).upMaster, (*Admin).downMaster)},
	{"GET", Root + "/proxy/status", account.Read, get(func(a *Admin) any { return a.status() })},
	{"PUT", Root + "/proxy/status", account.Operate, option((*Admin).setStatus)},
	{"GET", Root + "/proxy/schema", account.Read, get(schema)},
	{"GET", Root + "/proxy/allow_ips", account.Read, get(func(a *Admin) any { return allowIPs(a.config()) })},
	{"POST", Root + "/proxy/allow_ips", account.Admin, ofAllowIPs((*Admin).addAllowIPs)},
	{"DELETE", Root + "/proxy/allow_ips", account.Admin, ofAllowIPs((*Admin).deleteAllowIPs)},
	{"GET", Root + "/proxy/black_sqls", account.Read, get(blackSQLs)},
	{"POST", Root + "/proxy/black_sqls", account.Admin, blackSQL((*Admin).addBlackSQL)},
	{"DELETE", Root + "/proxy/black_sqls", account.Admin, blackSQL((*Admin).deleteBlackSQL)},
	{"PUT", Root + "/proxy/slow_sql/status", account.Admin, option((*Admin).setLogSQL)},
	{"GET", Root + "/proxy/slow_sql/time", account.Read, get(func(a *Admin) any { return a.config().SlowLogTime })},
	{"PUT", Root + "/proxy/slow_sql/time", account.Admin, does(setSlowTime)},
	{"PUT", Root + "/proxy/config/save", account.Admin, save},
}

// get returns the handler of a call that shows something.
func get(show func(a *Admin) any) handler {
	return func(a *Admin, _ change.Who, _ *http.Request) (any, error) { return show(a), nil }
}

// does returns the handler of a change, which is told in a body.
func does[Body any](do func(a *Admin, w change.Who, body Body) error) handler {
	return func(a *Admin, w change.Who, h *http.Request) (any, error) {
		var body Body
		if err := rest.Decode(h, &body, false); err != nil {
			return nil, err
		}
		return "ok", do(a, w, body)
	}
}

// WriteError has the predecessor's form, with the reason in it.
func WriteError(w http.ResponseWriter, status int, err error) {
	if missing, ok := errors.AsType[notListed](err); ok {
		rest.Write(w, http.StatusNotFound, missing.Error())
		return
	}
	rest.Write(w, status, map[string]string{"message": change.Message(err)})
}

// notListed is a statement that is not on the black list.
type notListed string

func (n notListed) Error() string { return queryrule.ErrNotListed.Error() + ": " + string(n) }

// node is a row of nodes/status.
type node struct {
	Node          string `json:"node"`
	Address       string `json:"address"`
	Type          string `json:"type"`
	Status        string `json:"status"`
	LastPing      string `json:"laste_ping"` // as the predecessor spells it
	MaxConn       int    `json:"max_conn"`
	IdleConn      int    `json:"idle_conn"`
	CacheConn     int    `json:"cache_conn"`
	PushConnCount uint64 `json:"push_conn_count"`
	PopConnCount  uint64 `json:"pop_conn_count"`
}

func nodes(a *Admin) any {
	list := []node{}
	for _, o := range instances(a) {
		list = append(list, node{o.node, o.address, o.role, o.state, o.lastPing, o.max, o.idle, o.cache, o.push, o.pop})
	}
	return list
}

// rule is a row of proxy/schema; what a rule does not have is null.
type rule struct {
	User          string `json:"user"`
	DB            string `json:"db"`
	Table         string
	Key           string
	Nodes         []string
	Locations     []int
	Type          string
	TableRowLimit int
	DateRange     []string
}

func schema(a *Admin) any {
	list := []rule{}
	for _, sc := range a.config().SchemaList {
		list = append(list, rule{User: sc.User, Nodes: sc.Nodes, Type: "default"})
		for _, s := range sc.Shard {
			list = append(list, rule{
				User: sc.User, DB: s.DB, Table: s.Table, Key: strings.Join(s.Key, ", "), Nodes: s.Nodes, Locations: s.Locations, Type: s.Type,
				TableRowLimit: s.TableRowLimit, DateRange: s.DateRange,
			})
		}
	}
	return list
}

func blackSQLs(a *Admin) any {
	return append([]string{}, a.o.Shared.Snapshot.Load().Blacklist.List()...)
}

// v1Instance is the body of calls about an instance; an error about its JSON shows this name.
type v1Instance struct {
	Opt  string `json:"opt"`
	Node string `json:"node"`
	Addr string `json:"addr"`
}

func slave(do func(a *Admin, w change.Who, node, addr string) error) handler {
	return does(func(a *Admin, w change.Who, body v1Instance) error { return do(a, w, body.Node, body.Addr) })
}

func upDown(up, down func(a *Admin, w change.Who, node, addr string) error) handler {
	return does(func(a *Admin, w change.Who, body v1Instance) error {
		switch body.Opt {
		case "up":
			return up(a, w, body.Node, body.Addr)
		case "down":
			return down(a, w, body.Node, body.Addr)
		}
		return change.Failed("opt is up or down, not %q", body.Opt)
	})
}

func option(do func(a *Admin, w change.Who, value string) error) handler {
	return does(func(a *Admin, w change.Who, body struct {
		Opt string `json:"opt"`
	}) error {
		return do(a, w, body.Opt)
	})
}

func ofAllowIPs(do func(a *Admin, w change.Who, entries []string) error) handler {
	return does(func(a *Admin, w change.Who, body struct {
		AllowIPs []string `json:"allow_ips"`
	}) error {
		if len(body.AllowIPs) == 0 {
			return change.Failed("allow_ips is empty")
		}
		return do(a, w, body.AllowIPs)
	})
}

func blackSQL(do func(a *Admin, w change.Who, text string) error) handler {
	return does(func(a *Admin, w change.Who, body struct {
		SQL string `json:"sql"`
	}) error {
		err := do(a, w, body.SQL)
		if errors.Is(err, queryrule.ErrNotListed) {
			return notListed(body.SQL)
		}
		return err
	})
}

func save(a *Admin, w change.Who, _ *http.Request) (any, error) {
	_, err := a.o.Configuration.Save(w, true)
	return "ok", err
}

func setSlowTime(a *Admin, w change.Who, body struct {
	SlowTime *int `json:"slow_time"`
}) error {
	if body.SlowTime == nil {
		return change.Failed("slow_time is a number of milliseconds")
	}
	return a.setSlowLogTime(w, strconv.Itoa(*body.SlowTime))
}
