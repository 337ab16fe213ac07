package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kingshard/bench/load"
	"kingshard/mysql/mysqltest"
)

// maxConnsDefault is more than the clients of any scenario that does not choose itself.
const maxConnsDefault = 2048

// The account of kingshard's clients, known to nobody else.
const (
	proxyUser     = "bench"
	proxyPassword = "bench"
)

// openKingshard starts the proxy with a configuration of its own.
func (r *Rig) openKingshard(ctx context.Context, c *Contender) error {
	dir, err := os.MkdirTemp(r.dir, "proxy-")
	if err != nil {
		return err
	}
	addrs, err := freeAddrs(2)
	if err != nil {
		return err
	}
	addr := addrs[0]
	c.metrics = addrs[1]
	login := load.Login{Addr: addr, User: proxyUser, Password: proxyPassword, DB: DB}
	file := configFile{spec: c.Spec, addr: addr, metrics: c.metrics, servers: []string{c.Server.Addr}}
	for k := 1; k < c.Spec.Servers; k++ {
		s, err := r.server(ctx, c.Spec.ServerConnsMax+k) // another ceiling is another server
		if err != nil {
			return err
		}
		file.servers = append(file.servers, s.Addr)
	}
	if c.Spec.Replicated {
		file.replica = r.replica.Addr
	}
	if c.Spec.TLS {
		ca, cert, key, err := mysqltest.WriteCertificates(dir)
		if err != nil {
			return err
		}
		file.cert, file.key = cert, key
		pem, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		if login.TLS, err = clientTLS(pem); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "ks.yaml")
	if err := os.WriteFile(path, []byte(file.text()), 0o600); err != nil {
		return err
	}
	binary, args := c.Spec.Binary, []string{"-config", path}
	if binary == "" {
		binary, args = r.options.Proxy, append(args, "-core-dumps") // else only root may reset its peak of memory
	}
	cmd := exec.Command(binary, append(args, c.Spec.Args...)...)
	cmd.Dir = dir
	if c.Spec.Procs > 0 {
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", c.Spec.Procs))
	}
	p, err := startProcess(cmd, filepath.Join(dir, "out.log"), r.options.Apart)
	if err != nil {
		return err
	}
	return c.began(ctx, p, login)
}

// configFile is what a ks.yaml is written from.
type configFile struct {
	spec          Spec
	addr, metrics string
	servers       []string // which the nodes take in turn
	replica       string   // of the nodes, "" without one
	cert, key     string   // paths, "" without TLS
}

// text writes the file. Logs go to where the program prints.
func (f configFile) text() string {
	maxConns, nodes := f.spec.MaxConns, max(1, f.spec.Shards)
	if maxConns == 0 {
		maxConns = maxConnsDefault
	}
	var b strings.Builder
	fmt.Fprintf(&b, "addr: %s\nprometheus_addr: %s\nmax_client_conns: 0\n", f.addr, f.metrics)
	if f.cert != "" {
		fmt.Fprintf(&b, "tls: {cert: %s, key: %s}\n", f.cert, f.key)
	}
	if !strings.Contains(f.spec.Config, "log_sql:") {
		b.WriteString("log_sql: off\n")
	}
	if f.spec.Config != "" {
		b.WriteString(strings.TrimRight(f.spec.Config, "\n") + "\n")
	}
	fmt.Fprintf(&b, "user_list:\n- {user: %s, password: %s, multi_statements: true}\nnodes:\n", proxyUser, proxyPassword)
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node%d", i+1)
		fmt.Fprintf(&b, "- {name: %s, max_conns_limit: %d, user: %s, password: %s, master: \"%s\", slave: \"%s\"}\n",
			names[i], maxConns, mysqltest.User, mysqltest.Password, f.servers[i%len(f.servers)], f.replica)
	}
	list := strings.Join(names, ", ")
	fmt.Fprintf(&b, "schema_list:\n- user: %s\n  nodes: [%s]\n  default: node1\n", proxyUser, list)
	switch f.spec.Shards {
	case 0:
	case 1:
		b.WriteString("  shard:\n")
		for _, db := range []string{DB, InsertDB} {
			fmt.Fprintf(&b, "  - {db: %s, table: sbtest1, key: id, nodes: [node1], type: hash, locations: [1]}\n", db)
		}
	default:
		b.WriteString("  shard:\n")
		for table, key := range map[string]string{"events": "id", "counted": "grp"} {
			fmt.Fprintf(&b, "  - {db: %s, table: %s, key: %s, nodes: [%s], type: hash, sub_table: \"%s_of%d_{index:04}\"}\n", DB, table, key, list, table, f.spec.Shards)
		}
		for _, rule := range f.spec.Rules {
			fmt.Fprintf(&b, "  - {db: %s, nodes: [%s], %s}\n", DB, list, rule)
		}
	}
	return b.String()
}
