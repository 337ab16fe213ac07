package proxy_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// semiSync is how a kind of server speaks of semi-synchronous replication.
type semiSync struct {
	source, replica  string // parts of the names of variables
	stop, start, all string
	logs             [4]string         // of SHOW REPLICA STATUS: what was read and what was carried out
	settings         map[string]string // for it to wait where what is answered for is on the replica
}

var semiSyncs = map[mysqltest.Kind]semiSync{
	mysqltest.MariaDB: {
		source: "master", replica: "slave", stop: "STOP SLAVE", start: "START SLAVE", all: "RESET SLAVE ALL",
		logs:     [4]string{"Master_Log_File", "Relay_Master_Log_File", "Read_Master_Log_Pos", "Exec_Master_Log_Pos"},
		settings: map[string]string{"rpl-semi-sync-master-wait-point": "AFTER_SYNC"},
	},
	mysqltest.MySQL9: {
		source: "source", replica: "replica", stop: "STOP REPLICA", start: "START REPLICA", all: "RESET REPLICA ALL",
		logs:     [4]string{"Source_Log_File", "Relay_Source_Log_File", "Read_Source_Log_Pos", "Exec_Source_Log_Pos"},
		settings: map[string]string{"plugin-load-add": "semisync_source.so;semisync_replica.so"},
	},
}

// replica starts one for a server, which from then on answers only when the replica has what it answers for.
func (r *wholeRig) replica(k, id int) *mysqltest.RealServer {
	source := r.servers[k]
	words := semiSyncs[source.Kind]
	s := startOwn(r.t, mysqltest.ServerConfig{Kind: source.Kind, ServerID: id, ReplicaOf: source, Settings: wholeSettings(source.Kind)})
	r.t.Cleanup(s.Kill)
	c := dial(r.t, s.Addr, rootClient())
	must(r.t, c, "SET GLOBAL rpl_semi_sync_"+words.replica+"_enabled = 1")
	must(r.t, c, words.stop+" IO_THREAD")
	must(r.t, c, words.start+" IO_THREAD")
	c = dial(r.t, source.Addr, rootClient())
	mysqltest.WaitFor(r.t, "the replica to say what it has got", func() bool {
		return value(r.t, c, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_"+words.source+"_clients'") == "Rpl_semi_sync_"+words.source+"_clients,1"
	})
	must(r.t, c, "SET GLOBAL rpl_semi_sync_"+words.source+"_timeout = 3600000")
	must(r.t, c, "SET GLOBAL rpl_semi_sync_"+words.source+"_enabled = 1")
	return s
}

// promote has a replica whose source is gone take its place, once it has carried out what it had got.
func (r *wholeRig) promote(k int, s *mysqltest.RealServer) {
	words := semiSyncs[s.Kind]
	c := dial(r.t, s.Addr, rootClient())
	must(r.t, c, words.stop+" IO_THREAD")
	mysqltest.WaitFor(r.t, "the replica to carry out what it has got", func() bool {
		status := must(r.t, c, strings.Replace(words.stop, "STOP", "SHOW", 1)+" STATUS")
		var at [4]any
		for n, name := range status.Names() {
			for k, log := range words.logs {
				if name == log {
					at[k] = status.Rows[0][n]
				}
			}
			if strings.HasSuffix(name, "SQL_Error") && status.Rows[0][n] != "" && status.Rows[0][n] != nil {
				r.t.Fatalf("the replica has stopped: %s", status.Rows[0][n])
			}
		}
		return at[0] == at[1] && at[2] == at[3]
	})
	must(r.t, c, words.stop)
	must(r.t, c, words.all)
	must(r.t, c, "SET GLOBAL read_only = 0")
	must(r.t, c, "SET GLOBAL rpl_semi_sync_"+words.replica+"_enabled = 0")
	r.servers[k] = s
	for _, d := range r.proxies {
		must(r.t, dial(r.t, d.addr, mysqltest.ClientConfig{User: "app", Password: "app"}), fmt.Sprintf("KS NODE n%d SET PRIMARY '%s'", k+1, s.Addr))
	}
}

// What the test of kills finds where servers are started again holds where replicas take their places, which have all that was answered for: what is prepared
// there, and has lost its proxy's connection with the server before, is ended as everywhere. There are 2 promotions, or 20 with KS_ALL.
func TestStatementsAreWholeThroughPromotions(t *testing.T) {
	promotions := 2
	if os.Getenv("KS_ALL") != "" {
		promotions = 20
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			serving := r.proxy()
			r.proxy()
			began, prepared := time.Now(), 0
			var load sync.WaitGroup
			defer load.Wait()
			for n := range promotions {
				k := n % 2
				replica := r.replica(k, 10+n)
				g := r.group(t.Context(), &load, serving.addr, n)
				mysqltest.WaitFor(t, "all clients to change something", func() bool { return g.unready.Load() == 0 })
				g.killed.Store(true)
				r.servers[k].Kill()
				r.promote(k, replica)
				prepared += len(must(t, dial(t, replica.Addr, rootClient()), "XA RECOVER").Rows)
			}
			load.Wait()
			took, settling := time.Since(began), time.Now()
			r.settled()
			settled := time.Since(settling)
			r.faultless()
			if prepared == 0 && promotions > 2 { // of two there may be none, now and then
				t.Error("no replica had a prepared branch")
			}
			t.Logf("%d promotions in %.0f s, of replicas with %d prepared branches together, the last ended after %.1f s; %s", promotions, took.Seconds(), prepared, settled.Seconds(), r.figures())
		})
	}
}
