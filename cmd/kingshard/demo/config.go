package demo

import (
	"os"
	"text/template"

	"kingshard/mysql/mysqltest"
)

// shopUser is the proxy's account of the demo, with its password; database is where the shop is.
const (
	shopUser     = "shop"
	shopPassword = "shop"
	database     = "shop"
)

// configText is the demo's ks.yaml.
var configText = template.Must(template.New("ks.yaml").Parse(`# The demo's configuration, written anew at each start. A copy of it is a start for your own: kingshard -config FILE.

# Where MySQL clients connect.
addr: {{.Addr}}

# The console in the browser, and REST. Choose a better password, and TLS, before anybody else can reach it.
web_addr: {{.Web}}
web_user: shop
web_password: shop

# Accounts of the proxy: what clients log in with. The servers behind have one account of their own, below. With these rights
# the user may also type admin SQL: KS HELP lists it.
user_list:
  - user: shop
    password: shop
    rights: admin

# A node is one primary and its replicas. Reads that can have no effects go to the replicas, by weight.
nodes:
{{- range .Nodes}}
  - name: {{.Name}}
    max_conns_limit: 16        # ceiling of connections to each server
    user: {{$.User}}
    password: {{$.Password}}
    # KS NODE node1 SWITCHOVER TO its replica has the old primary replicate by this account
    replication_user: {{$.User}}
    replication_password: {{$.Password}}
    # both servers are on this machine; elsewhere: tls: {mode: verify_identity, ca: FILE}
    allow_public_key_retrieval: true
    master: {{.Primary}}
    slave: {{.Replica}}@1
{{- end}}

# What each user sees. A table without a rule, such as products, is on the default node.
schema_list:
  - user: shop
    nodes: [node1, node2]
    default: node1
    shard:
      # users_0000 and users_0001 on node1, users_0002 and users_0003 on node2, by id modulo 4
      - db: shop
        table: users
        key: id
        nodes: [node1, node2]
        type: hash
        locations: [2, 2]
      # a user's orders are beside the user, so that joins of the two stay on one server
      - db: shop
        table: orders
        key: user_id
        colocate_with: users
      # a table for each month: events_202601 to events_202603 on node1, the next three on node2
      - db: shop
        table: events
        key: day
        nodes: [node1, node2]
        type: date_month
        date_range: [202601-202603, 202604-202606]
      # the same rows on both nodes
      - db: shop
        table: countries
        type: reference
`))

// writeConfig writes ks.yaml; it names the servers' account, so it is the owner's alone to read.
func writeConfig(file string, o options, nodes []*node) error {
	type nodeText struct{ Name, Primary, Replica string }
	data := struct {
		Addr, Web, User, Password string
		Nodes                     []nodeText
	}{Addr: o.addr, Web: o.web, User: mysqltest.User, Password: mysqltest.Password}
	for _, n := range nodes {
		data.Nodes = append(data.Nodes, nodeText{n.name, n.primary.Addr, n.replica.Addr})
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := configText.Execute(f, data); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
