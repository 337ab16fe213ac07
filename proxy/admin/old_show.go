package admin

import (
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// oldShow makes a statement that shows rows. All columns of the predecessor are text.
func oldShow(k, v, about string, columns []string, rows func(v *view) [][]any) *oldStatement {
	return &oldStatement{
		region: "server", opt: "show", k: k, v: v, about: about, rights: account.Read,
		run: func(c *call, _, _ string) (*session.OwnResult, error) {
			return rowsOf(texts(columns...), rows(c.a.view(c.who)))
		},
	}
}

var oldShows = []*oldStatement{
	oldShow("proxy", "config", "configuration and counters of the proxy", []string{"Key", "Value"}, oldProxyConfig),
	oldShow("proxy", "status", "online or offline", []string{"status"}, func(v *view) [][]any { return [][]any{{v.a.oldStatus()}} }),
	oldShow("node", "config", "instances and their pools",
		[]string{"Node", "Address", "Type", "State", "LastPing", "MaxConn", "IdleConn", "CacheConns", "PushConnCount", "PopConnCount"}, oldNodeConfig),
	oldShow("schema", "config", "sharding rules by user",
		[]string{"User", "DB", "Table", "Type", "Key", "Nodes_List", "Locations", "TableRowLimit"}, oldSchemaConfig),
	oldShow("allow_ip", "config", "addresses that may connect; an empty row: any", []string{"AllowIP"}, func(v *view) [][]any {
		return oldList(allowIPs(v.snap.Config))
	}),
	oldShow("black_sql", "config", "forbidden statements", []string{"BlackListSql"}, func(v *view) [][]any {
		return oldList(v.snap.Blacklist.List())
	}),
}

// oldList makes a row of each text; the predecessor shows an empty one where there is none.
func oldList(list []string) (rows [][]any) {
	for _, text := range list {
		rows = append(rows, []any{text})
	}
	if rows == nil {
		rows = [][]any{{""}}
	}
	return rows
}

func (a *Admin) oldStatus() string {
	if a.Offline() {
		return "offline"
	}
	return "online"
}

func oldProxyConfig(v *view) [][]any {
	cfg := v.snap.Config
	var users, nodes []string
	for _, u := range cfg.UserList {
		users = append(users, u.User)
	}
	for _, n := range cfg.Nodes {
		nodes = append(nodes, n.Name)
	}
	t := v.a.shared.Stats.Totals()
	var errors uint64
	for _, n := range t.Errors {
		errors += n
	}
	return [][]any{
		{"Addr", cfg.Addr},
		{"User_List", strings.Join(users, ",")},
		{"LogPath", cfg.LogPath},
		{"LogLevel", cfg.LogLevel},
		{"LogSql", cfg.LogSQL},
		{"SlowLogTime", strconv.Itoa(cfg.SlowLogTime)},
		{"Nodes_Count", strconv.Itoa(len(nodes))},
		{"Nodes_List", strings.Join(nodes, ",")},
		{"ClientConns", strconv.Itoa(v.a.shared.Sessions.Len())},
		{"ClientQPS", strconv.FormatUint(v.a.history.commandsPerSecond(), 10)},
		{"ErrLogTotal", strconv.FormatUint(errors, 10)},
		{"SlowLogTotal", strconv.FormatUint(v.a.shared.Queries.Stats().SQL.Lines, 10)},
	}
}

// oldInstance is an instance in the predecessor's words.
type oldInstance struct {
	node, address, role, state, lastPing string
	max, idle, cache                     int
	push, pop                            uint64
}

// oldInstances lists the instances, each node's primary before its replicas.
func oldInstances(v *view) (list []oldInstance) {
	for _, n := range v.nodes() {
		for _, i := range n.Instances() {
			s := i.Stats()
			o := oldInstance{
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

func oldNodeConfig(v *view) (rows [][]any) {
	for _, o := range oldInstances(v) {
		rows = append(rows, []any{
			o.node, o.address, o.role, o.state, o.lastPing, strconv.Itoa(o.max), strconv.Itoa(o.idle), strconv.Itoa(o.cache),
			strconv.FormatUint(o.push, 10), strconv.FormatUint(o.pop, 10),
		})
	}
	return rows
}

func oldSchemaConfig(v *view) (rows [][]any) {
	for _, sc := range v.snap.Config.SchemaList {
		rows = append(rows, []any{sc.User, "", "", "default", "", sc.Default, "", "0"})
		for _, s := range sc.Shard {
			rows = append(rows, []any{
				sc.User, s.DB, s.Table, s.Type, strings.Join(s.Key, ", "), strings.Join(s.Nodes, ", "), joinInts(s.Locations), strconv.Itoa(s.TableRowLimit),
			})
		}
	}
	return rows
}

// allowIPs lists the entries of allow_ips as they are written.
func allowIPs(cfg *config.Config) (list []string) {
	for entry := range strings.SplitSeq(cfg.AllowIPs, ",") {
		if entry = strings.TrimSpace(entry); entry != "" && !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	return list
}
