package predecessor

import (
	"fmt"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

// show returns a statement that shows rows. All columns of the predecessor are text.
func show(k, v, about string, columns []string, rows func(a *Admin) [][]string) *Statement {
	return &Statement{
		region: "server", opt: "show", k: k, v: v, About: about, Rights: account.Read,
		run: func(a *Admin, _ change.Who, _, _ string) (*session.OwnResult, error) {
			return result(columns, rows(a)), nil
		},
	}
}

// result returns rows of texts as a session sends them.
func result(columns []string, rows [][]string) *session.OwnResult {
	r := &session.OwnResult{Columns: make([]session.OwnColumn, len(columns)), Rows: make([][]session.OwnCell, len(rows))}
	for k, name := range columns {
		r.Columns[k].Name = name
	}
	for k, row := range rows {
		r.Rows[k] = make([]session.OwnCell, len(row))
		for n, text := range row {
			r.Rows[k][n].Text = text
		}
	}
	return r
}

var shows = []*Statement{
	show("proxy", "config", "configuration and counters of the proxy", []string{"Key", "Value"}, proxyConfig),
	show("proxy", "status", "online or offline", []string{"status"}, func(a *Admin) [][]string { return [][]string{{a.status()}} }),
	show("node", "config", "instances and their pools",
		[]string{"Node", "Address", "Type", "State", "LastPing", "MaxConn", "IdleConn", "CacheConns", "PushConnCount", "PopConnCount"}, nodeConfig),
	show("schema", "config", "sharding rules by user",
		[]string{"User", "DB", "Table", "Type", "Key", "Nodes_List", "Locations", "TableRowLimit"}, schemaConfig),
	show("allow_ip", "config", "addresses that may connect; an empty row: any", []string{"AllowIP"}, func(a *Admin) [][]string {
		return column(allowIPs(a.config()))
	}),
	show("black_sql", "config", "forbidden statements", []string{"BlackListSql"}, func(a *Admin) [][]string {
		return column(a.o.Shared.Snapshot.Load().Blacklist.List())
	}),
}

// column makes a row of each text; the predecessor shows an empty one where there is none.
func column(list []string) (rows [][]string) {
	for _, text := range list {
		rows = append(rows, []string{text})
	}
	if rows == nil {
		rows = [][]string{{""}}
	}
	return rows
}

func (a *Admin) status() string {
	if a.o.Offline.Load() {
		return "offline"
	}
	return "online"
}

func proxyConfig(a *Admin) [][]string {
	cfg := a.config()
	var users, nodes []string
	for _, u := range cfg.UserList {
		users = append(users, u.User)
	}
	for _, n := range cfg.Nodes {
		nodes = append(nodes, n.Name)
	}
	t := a.o.Shared.Stats.Totals()
	var errors uint64
	for _, n := range t.Errors {
		errors += n
	}
	return [][]string{
		{"Addr", cfg.Addr},
		{"User_List", strings.Join(users, ",")},
		{"LogPath", cfg.LogPath},
		{"LogLevel", cfg.LogLevel},
		{"LogSql", cfg.LogSQL},
		{"SlowLogTime", strconv.Itoa(cfg.SlowLogTime)},
		{"Nodes_Count", strconv.Itoa(len(nodes))},
		{"Nodes_List", strings.Join(nodes, ",")},
		{"ClientConns", strconv.Itoa(a.o.Shared.Sessions.Len())},
		{"ClientQPS", strconv.FormatUint(a.o.CommandsPerSecond(), 10)},
		{"ErrLogTotal", strconv.FormatUint(errors, 10)},
		{"SlowLogTotal", strconv.FormatUint(a.o.Shared.Queries.Stats().SQL.Lines, 10)},
	}
}

// instance is an instance in the predecessor's words.
type instance struct {
	node, address, role, state, lastPing string
	max, idle, cache                     int
	push, pop                            uint64
}

// instances lists the instances, each node's primary before its replicas.
func instances(a *Admin) (list []instance) {
	for _, n := range a.o.Shared.Snapshot.Load().InOrder() {
		for _, i := range n.Instances() {
			s := i.Stats()
			o := instance{
				node: i.Node, address: i.Addr, role: "master", state: i.State().String(),
				// Slots without a connection, and connections that wait to be used.
				max: s.Max, idle: s.Max - s.Open, cache: s.Idle,
			}
			if i.Role == backend.Replica {
				o.role = "slave"
			}
			if o.state == "unknown" {
				o.state = "unknow" // as the predecessor spells it
			}
			if at := i.Answered(); !at.IsZero() {
				o.lastPing = at.Format("2006-01-02 15:04:05 -0700 MST")
			}
			for k := pool.Hit; k <= pool.Waited; k++ {
				o.pop += s.Gets[k].N
			}
			o.push = o.pop - min(o.pop, uint64(s.InUse))
			list = append(list, o)
		}
	}
	return list
}

func nodeConfig(a *Admin) (rows [][]string) {
	for _, o := range instances(a) {
		rows = append(rows, []string{
			o.node, o.address, o.role, o.state, o.lastPing, strconv.Itoa(o.max), strconv.Itoa(o.idle), strconv.Itoa(o.cache),
			strconv.FormatUint(o.push, 10), strconv.FormatUint(o.pop, 10),
		})
	}
	return rows
}

func schemaConfig(a *Admin) (rows [][]string) {
	for _, sc := range a.config().SchemaList {
		rows = append(rows, []string{sc.User, "", "", "default", "", sc.Default, "", "0"})
		for _, s := range sc.Shard {
			rows = append(rows, []string{
				sc.User, s.DB, s.Table, s.Type, strings.Join(s.Key, ", "), strings.Join(s.Nodes, ", "), strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Locations), " ", ", "), "[]"), strconv.Itoa(s.TableRowLimit),
			})
		}
	}
	return rows
}
