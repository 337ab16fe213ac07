package admin

import (
	"errors"
	"net/http"
	"strconv"

	"kingshard/proxy/account"
	"kingshard/proxy/queryrule"
)

// v1 is the root of the predecessor's calls.
const v1 = "/api/v1"

// okAnswer is what the predecessor says of a change that was made.
const okAnswer = "ok"

// v1Routes are the predecessor's calls. Bodies and answers are its own, misspellings too; errors say why.
var v1Routes = []route{
	{method: "GET", path: v1 + "/nodes/status", rights: account.Read, handle: v1Nodes},
	{method: "POST", path: v1 + "/nodes/slaves", rights: account.Admin, handle: v1Slave((*Admin).addSlave)},
	{method: "DELETE", path: v1 + "/nodes/slaves", rights: account.Admin, handle: v1Slave((*Admin).deleteSlave)},
	{method: "PUT", path: v1 + "/nodes/slaves/status", rights: account.Operate, handle: v1UpDown((*Admin).upSlave, (*Admin).downSlave)},
	{method: "PUT", path: v1 + "/nodes/masters/status", rights: account.Operate, handle: v1UpDown((*Admin).upMaster, (*Admin).downMaster)},
	{method: "GET", path: v1 + "/proxy/status", rights: account.Read, handle: func(c *request) (any, error) { return c.a.oldStatus(), nil }},
	{method: "PUT", path: v1 + "/proxy/status", rights: account.Operate, handle: v1Option((*Admin).setStatus)},
	{method: "GET", path: v1 + "/proxy/schema", rights: account.Read, handle: v1Schema},
	{method: "GET", path: v1 + "/proxy/allow_ips", rights: account.Read, handle: func(c *request) (any, error) { return allowIPs(c.a.view(c.who).snap.Config), nil }},
	{method: "POST", path: v1 + "/proxy/allow_ips", rights: account.Admin, handle: v1AllowIPs((*Admin).addAllowIPs)},
	{method: "DELETE", path: v1 + "/proxy/allow_ips", rights: account.Admin, handle: v1AllowIPs((*Admin).deleteAllowIPs)},
	{method: "GET", path: v1 + "/proxy/black_sqls", rights: account.Read, handle: v1BlackSQLs},
	{method: "POST", path: v1 + "/proxy/black_sqls", rights: account.Admin, handle: v1BlackSQL((*Admin).addBlackSQL)},
	{method: "DELETE", path: v1 + "/proxy/black_sqls", rights: account.Admin, handle: v1BlackSQL((*Admin).deleteBlackSQL)},
	{method: "PUT", path: v1 + "/proxy/slow_sql/status", rights: account.Admin, handle: v1Option((*Admin).setLogSQL)},
	{method: "GET", path: v1 + "/proxy/slow_sql/time", rights: account.Read, handle: func(c *request) (any, error) { return c.a.view(c.who).snap.Config.SlowLogTime, nil }},
	{method: "PUT", path: v1 + "/proxy/slow_sql/time", rights: account.Admin, handle: v1SlowTime},
	{method: "PUT", path: v1 + "/proxy/config/save", rights: account.Admin, handle: v1Save},
}

// writeV1Error has the predecessor's form, with the reason in it.
func writeV1Error(w http.ResponseWriter, status int, err error) {
	var missing notListed
	if errors.As(err, &missing) {
		writeJSON(w, http.StatusNotFound, missing.Error())
		return
	}
	writeJSON(w, status, map[string]string{"message": message(err)})
}

// notListed is a statement that is not on the black list.
type notListed string

func (n notListed) Error() string { return queryrule.ErrNotListed.Error() + ": " + string(n) }

// v1Node is a row of nodes/status.
type v1Node struct {
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

func v1Nodes(c *request) (any, error) {
	list := []v1Node{}
	for _, o := range oldInstances(c.a.view(c.who)) {
		list = append(list, v1Node{o.node, o.address, o.role, o.state, o.lastPing, o.max, o.idle, o.cache, o.push, o.pop})
	}
	return list, nil
}

// v1Rule is a row of proxy/schema; what a rule does not have is null.
type v1Rule struct {
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

func v1Schema(c *request) (any, error) {
	list := []v1Rule{}
	for _, sc := range c.a.view(c.who).snap.Config.SchemaList {
		list = append(list, v1Rule{User: sc.User, Nodes: sc.Nodes, Type: "default"})
		for _, s := range sc.Shard {
			rule := v1Rule{
				User: sc.User, DB: s.DB, Table: s.Table, Nodes: s.Nodes, Locations: s.Locations, Type: s.Type,
				TableRowLimit: s.TableRowLimit, DateRange: s.DateRange,
			}
			for k, key := range s.Key {
				if k > 0 {
					rule.Key += ", "
				}
				rule.Key += key
			}
			list = append(list, rule)
		}
	}
	return list, nil
}

// v1Instance is the body of calls about an instance.
type v1Instance struct {
	Opt  string `json:"opt"`
	Node string `json:"node"`
	Addr string `json:"addr"`
}

func v1Slave(change func(a *Admin, w who, node, addr string) error) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body v1Instance
		if err := c.decode(&body, false); err != nil {
			return nil, err
		}
		return okAnswer, change(c.a, c.who, body.Node, body.Addr)
	}
}

func v1UpDown(up, down func(a *Admin, w who, node, addr string) error) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body v1Instance
		if err := c.decode(&body, false); err != nil {
			return nil, err
		}
		switch body.Opt {
		case "up":
			return okAnswer, up(c.a, c.who, body.Node, body.Addr)
		case "down":
			return okAnswer, down(c.a, c.who, body.Node, body.Addr)
		}
		return nil, failed("opt is up or down, not %q", body.Opt)
	}
}

func v1Option(change func(a *Admin, w who, value string) error) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body struct {
			Opt string `json:"opt"`
		}
		if err := c.decode(&body, false); err != nil {
			return nil, err
		}
		return okAnswer, change(c.a, c.who, body.Opt)
	}
}

func v1AllowIPs(change func(a *Admin, w who, entries []string) error) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body struct {
			AllowIPs []string `json:"allow_ips"`
		}
		if err := c.decode(&body, false); err != nil {
			return nil, err
		}
		if len(body.AllowIPs) == 0 {
			return nil, failed("allow_ips is empty")
		}
		return okAnswer, change(c.a, c.who, body.AllowIPs)
	}
}

func v1BlackSQLs(c *request) (any, error) {
	return append([]string{}, c.a.view(c.who).snap.Blacklist.List()...), nil
}

func v1BlackSQL(change func(a *Admin, w who, text string) error) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body struct {
			SQL string `json:"sql"`
		}
		if err := c.decode(&body, false); err != nil {
			return nil, err
		}
		err := change(c.a, c.who, body.SQL)
		if errors.Is(err, queryrule.ErrNotListed) {
			err = notListed(body.SQL)
		}
		return okAnswer, err
	}
}

func v1Save(c *request) (any, error) {
	_, err := c.a.save(c.who, true)
	return okAnswer, err
}

func v1SlowTime(c *request) (any, error) {
	var body struct {
		SlowTime *int `json:"slow_time"`
	}
	if err := c.decode(&body, false); err != nil {
		return nil, err
	}
	if body.SlowTime == nil {
		return nil, failed("slow_time is a number of milliseconds")
	}
	return okAnswer, c.a.setSlowLogTime(c.who, strconv.Itoa(*body.SlowTime))
}
