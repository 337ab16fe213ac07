package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"kingshard/mysql/mysqltest"
)

// node is one primary with its replica.
type node struct {
	name             string
	primary, replica *mysqltest.RealServer
}

// stop ends both servers, the replica first.
func (n *node) stop() error {
	var err error
	if n.replica != nil {
		err = n.replica.Stop()
	}
	if n.primary != nil {
		err = errors.Join(err, n.primary.Stop())
	}
	return err
}

// startNodes starts node1 and node2; those started before an error are returned with it.
func startNodes(ctx context.Context, installation mysqltest.Installation, dir string) ([]*node, error) {
	var nodes []*node
	for k := range 2 {
		n := &node{name: fmt.Sprintf("node%d", k+1)}
		nodes = append(nodes, n)
		var err error
		c := mysqltest.ServerConfig{
			Kind: installation.Kind, Dir: filepath.Join(dir, n.name+"-primary"), ServerID: 10*k + 11, Binlog: true,
			Progress: func(text string) { progress(n.name + " primary: " + text) },
		}
		if n.primary, err = mysqltest.StartServer(ctx, c); err != nil {
			return nodes, err
		}
		c.Dir, c.ServerID, c.ReplicaOf = filepath.Join(dir, n.name+"-replica"), 10*k+12, n.primary
		c.Progress = func(text string) { progress(n.name + " replica: " + text) }
		if n.replica, err = mysqltest.StartServer(ctx, c); err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}

// shop is what each node's primary is given; node1 holds the shop, node2 its visits.
var shop = map[string][]string{
	"node1": {
		"CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4",
		"DROP TABLE IF EXISTS shop.orders", "DROP TABLE IF EXISTS shop.products",
		"CREATE TABLE shop.products (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(64) NOT NULL, price DECIMAL(8,2) NOT NULL)",
		"CREATE TABLE shop.orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, product_id INT NOT NULL, quantity INT NOT NULL, ordered_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, KEY (product_id), FOREIGN KEY (product_id) REFERENCES shop.products (id))",
		"INSERT INTO shop.products (name, price) VALUES ('Teapot', 24.90), ('Cup', 6.50), ('Green tea, 100 g', 8.20), ('Black tea, 100 g', 7.40), ('Kettle', 39.00)",
		"INSERT INTO shop.orders (product_id, quantity) VALUES (1, 1), (2, 4), (3, 2), (3, 1), (5, 1), (4, 3)",
	},
	"node2": {
		"CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4",
		"DROP TABLE IF EXISTS shop.visits",
		"CREATE TABLE shop.visits (id BIGINT PRIMARY KEY AUTO_INCREMENT, page VARCHAR(64) NOT NULL, at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)",
		"INSERT INTO shop.visits (page) VALUES ('/'), ('/teapot'), ('/cup'), ('/basket'), ('/'), ('/kettle')",
	},
}

// loadShop fills the primaries; replication carries it to the replicas.
func loadShop(ctx context.Context, nodes []*node) error {
	for _, n := range nodes {
		db, err := n.primary.DB("")
		if err != nil {
			return err
		}
		for _, sql := range shop[n.name] {
			if _, err := db.ExecContext(ctx, sql); err != nil {
				_ = db.Close()
				return fmt.Errorf("load the shop into %s: %w", n.name, err)
			}
		}
		_ = db.Close()
	}
	return nil
}

// configText is the demo's ks.yaml.
var configText = template.Must(template.New("ks.yaml").Parse(`# The demo's configuration. Edit it and send the process SIGHUP to bring it into force.

# Where MySQL clients connect.
addr: {{.Addr}}

# Accounts of the proxy: what clients log in with. The servers behind have one account of their own, below.
user_list:
  - user: shop
    password: shop

# A node is one primary and its replicas. Reads that can have no effects go to the replicas, by weight.
nodes:
{{- range .Nodes}}
  - name: {{.Name}}
    max_conns_limit: 16        # ceiling of connections to each server
    user: {{$.User}}
    password: {{$.Password}}
    master: {{.Primary}}
    slave: {{.Replica}}@1
{{- end}}

# What each user sees: statements go to the default node, or to the one that a hint like /*node2*/ names.
schema_list:
  - user: shop
    nodes: [node1, node2]
    default: node1
    shard:
      -
`))

// writeConfig writes ks.yaml; it names the servers' account, so it is the owner's alone to read.
func writeConfig(file, addr string, nodes []*node) error {
	type nodeText struct{ Name, Primary, Replica string }
	data := struct {
		Addr, User, Password string
		Nodes                []nodeText
	}{Addr: addr, User: mysqltest.User, Password: mysqltest.Password}
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
