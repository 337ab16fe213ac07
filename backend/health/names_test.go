package health

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/backend/resolve"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Probes follow the name of an instance to other addresses, though the server at the old one answers.
func TestProbesFollowTheName(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, _ mysql.Command, payload []byte) {
		switch text := string(payload); {
		case strings.Contains(text, "information_schema.collations"):
			c.Rows([]string{"id", "collation_name", "character_set_name"}, []any{45, "utf8mb4_general_ci", "utf8mb4"})
		case strings.Contains(text, "lower_case_table_names"):
			c.Rows([]string{"l", "m"}, []any{0, ""})
		case strings.Contains(text, "@@global.sql_mode"):
			c.Rows([]string{"m"}, []any{""})
		default:
			c.OK()
		}
	}})
	_, port, _ := net.SplitHostPort(server.Addr)
	cfg := config.Default()
	cfg.Nodes = []config.Node{{Name: "n", User: "u", Master: "db.test:" + port, MaxConnsLimit: 1}}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	i := nodes["n"].Primary
	defer nodes["n"].Close()
	var addr atomic.Pointer[netip.Addr]
	lead := func(to string) {
		a := netip.MustParseAddr(to)
		addr.Store(&a)
	}
	lead("127.0.0.1")
	i.Name.Close()
	i.Name = resolve.Open(resolve.Config{Addr: i.Addr, Every: 5 * time.Millisecond, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{*addr.Load()}, nil
	}})
	log := new(mysqltest.LogBuffer)
	m := Open(nodes, Config{Interval: 10 * time.Millisecond, Timeout: 10 * time.Second, Connect: 10 * time.Second, Log: slog.New(slog.NewTextHandler(log, nil))})
	defer m.Close()
	mysqltest.WaitFor(t, "an answer", func() bool { return i.State() == backend.Up })
	lead("127.0.0.2") // where nobody listens
	mysqltest.WaitFor(t, "probes at the other address", func() bool { return i.State() == backend.Down })
	if !strings.Contains(log.String(), "leads elsewhere") {
		t.Errorf("the log does not tell:\n%s", log.String())
	}
	lead("127.0.0.1")
	mysqltest.WaitFor(t, "probes back at the first address", func() bool { return i.State() == backend.Up })
}
