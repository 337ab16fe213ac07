package proxy_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Long statements of all clients, also those that grow out of few compressed bytes, take no more together than packet_memory; others'
// statements run meanwhile, and what was taken comes back.
func TestLongPacketsTogetherAreBounded(t *testing.T) {
	for _, compression := range []mysql.Compression{mysql.NoCompression, mysql.Zlib, mysql.Zstd} {
		t.Run(fmt.Sprint(compression), func(t *testing.T) {
			answer := make(chan struct{})
			var asked atomic.Int32
			good := answers("server")
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				if len(payload) > 1<<20 {
					asked.Add(1)
					<-answer
				}
				good(c, cmd, payload)
			}})
			p := startProxy(t, oneNode(server.Addr, 20, "max_allowed_packet: 16M", "packet_memory: 40M", "prometheus_addr: 127.0.0.1:0"))
			metric := func(name string) (n int) {
				_, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
				for line := range strings.SplitSeq(body, "\n") {
					var v float64
					if _, err := fmt.Sscanf(line, "kingshard_"+name+" %g", &v); err == nil {
						n = int(v)
					}
				}
				return n
			}
			const clients, fit = 8, 3
			results := make(chan error, clients)
			text := "SELECT '" + strings.Repeat("x", 12<<20) + "'"
			for k := range clients {
				c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", Compression: compression})
				go func() {
					r, err := c.Query(text)
					if err == nil && r.Err != nil {
						err = r.Err
					}
					results <- err
				}()
				if k < fit { // one after the other, as clients that have a part of their text each could all be refused
					mysqltest.WaitFor(t, "the server to be asked", func() bool { return int(asked.Load()) == k+1 })
				}
			}
			mysqltest.WaitFor(t, "statements to be refused", func() bool { return metric("client_packets_refused_total") == clients-fit })
			if used := metric("client_packet_bytes"); used > 40<<20 || used < 12<<20 {
				t.Errorf("%d bytes are held", used)
			}
			if got := value(t, p.client(""), "SELECT name"); got != "server" {
				t.Errorf("another client is answered %s", got)
			}
			for range clients - fit {
				if err := <-results; err == nil { // a client that still writes when the connection closes hears of that, not the error
					t.Error("a statement was answered before the server did")
				}
			}
			close(answer)
			for range fit {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			mysqltest.WaitFor(t, "the memory to come back", func() bool { return metric("client_packet_bytes") == 0 })
		})
	}
}

// What clients send of long parameters ahead of their executions counts, too, until it was used or dropped.
func TestLongDataIsBounded(t *testing.T) {
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	p := startProxy(t, oneNode(server.Addr, 20, "max_allowed_packet: 16M", "packet_memory: 40M"))
	const fit = 3
	piece := strings.Repeat("x", 48<<10)
	var clients []*mysqltest.RawClient
	var statements []*mysqltest.RawStmt
	for range fit + 1 {
		c := p.client("")
		st, err := c.Prepare("SELECT LENGTH(?)")
		if err != nil {
			t.Fatal(err)
		}
		for range 12 << 20 / len(piece) {
			if err := c.Send(mysql.ComStmtSendLongData, string(mysql.AppendUint32(nil, st.StatementID))+"\x00\x00"+piece); err != nil {
				t.Fatal(err)
			}
		}
		must(t, c, "DO 1") // all of it has been read
		clients, statements = append(clients, c), append(statements, st)
	}
	execute := func(k int) error {
		t.Helper()
		out, err := clients[k].Command(mysql.ComStmtExecute, string(mysql.AppendUint32(nil, statements[k].StatementID))+"\x00\x01\x00\x00\x00\x00\x01\xfc\x00")
		if err != nil {
			t.Fatal(err)
		}
		if out[0][0] == mysql.ErrHeader {
			return decodeError(out[0])
		}
		return nil
	}
	if err := execute(fit); !isCode(err, 9019) {
		t.Errorf("data beyond packet_memory: %v", err)
	}
	if got := value(t, clients[fit], "SELECT 1"); got != "1" {
		t.Errorf("the client goes on with %s", got)
	}
	if err := execute(0); err != nil {
		t.Errorf("data within packet_memory: %v", err)
	}
	if _, err := clients[1].Command(mysql.ComStmtReset, string(mysql.AppendUint32(nil, statements[1].StatementID))); err != nil {
		t.Error(err)
	}
	clients[2].Close()
	mysqltest.WaitFor(t, "the memory to come back", func() bool { return p.PacketBytes() == 0 })
}

// The lines of a file that wait for their shards count in packet_memory, too, until they are sent.
func TestWaitingLinesAreBounded(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			server := startOwn(t, mysqltest.ServerConfig{Kind: kind})
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			must(t, direct, "CREATE DATABASE "+database)
			must(t, direct, "SET GLOBAL local_infile = ON")
			node := "{name: %s, user: root, password: root, allow_public_key_retrieval: true, master: \"" + server.Addr + "\"}"
			p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
max_allowed_packet: 1M
packet_memory: 2M
user_list: [{user: root, password: root, local_infile: true}]
nodes: [%s, %s]
schema_list:
  - {user: root, nodes: [n1, n2], default: n1, shard: [{db: %s, table: bound, key: id, nodes: [n1, n2], type: mod, locations: [4, 4]}]}
`, fmt.Sprintf(node, "n1"), fmt.Sprintf(node, "n2"), database))
			client := func() *mysqltest.RawClient {
				return dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database, Capabilities: mysqltest.ScriptCapabilities | mysql.ClientLocalFiles})
			}
			one, other := client(), client()
			must(t, one, "CREATE TABLE bound (id INT PRIMARY KEY, v LONGTEXT) CHARACTER SET utf8mb4")
			file := func(from, lines int) string {
				var b strings.Builder
				for k := range lines {
					fmt.Fprintf(&b, "%d\t%s\n", from+k, strings.Repeat("x", 1000))
				}
				return b.String()
			}
			const load = "LOAD DATA LOCAL INFILE 'f' INTO TABLE bound CHARACTER SET utf8mb4 (id, v)"
			if r := must(t, one, load); r.LocalInfile == "" {
				t.Fatal("no file is asked for")
			}
			send := func(c *mysqltest.RawClient, rest string) { // all but its end, in short packets
				for rest != "" {
					n := min(len(rest), 32<<10)
					c.Conn.WritePacket([]byte(rest[:n]))
					rest = rest[n:]
				}
				if err := c.Conn.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			send(one, file(1, 1900))
			mysqltest.WaitFor(t, "lines to wait", func() bool { return p.PacketBytes() > 1<<20 })
			must(t, other, load)
			send(other, file(10001, 1900))
			if r, err := other.SendFile(nil); err != nil || r.Err == nil || r.Err.Code != 9019 {
				t.Errorf("another file: %v, %+v", err, r)
			}
			if got := value(t, other, "SELECT COUNT(*) FROM bound"); got != "0" {
				t.Errorf("%s rows of it", got)
			}
			if r, err := one.SendFile(nil); err != nil || r.Err != nil || r.OK.AffectedRows != 1900 {
				t.Errorf("the first file: %v, %+v", err, r)
			}
			mysqltest.WaitFor(t, "the memory to come back", func() bool { return p.PacketBytes() == 0 })
		})
	}
}
