package mysqltest

import (
	"path/filepath"
	"sort"
	"strings"
)

// settings are options of the server without leading dashes, by name with dashes.
type settings map[string]string

// set takes over others, whichever way their names are spelt.
func (m settings) set(others map[string]string) {
	for k, v := range others {
		m[strings.ReplaceAll(k, "_", "-")] = v
	}
}

// args are the settings as a command line, always in the same order.
func (m settings) args() []string {
	args := make([]string, 0, len(m))
	for k, v := range m {
		args = append(args, "--"+k+"="+v)
	}
	sort.Strings(args)
	return args
}

// baseSettings are those of every server: small, quick to start, on loopback.
func baseSettings(i Installation, dir string) settings {
	m := settings{
		"datadir": filepath.Join(dir, "data"), "tmpdir": filepath.Join(dir, "tmp"), "log-error": filepath.Join(dir, "error.log"),
		"pid-file": filepath.Join(dir, "pid"), "socket": filepath.Join(dir, socketName), "bind-address": "127.0.0.1",
		"skip-name-resolve": "1", "innodb-buffer-pool-size": "128M", "innodb-flush-log-at-trx-commit": "2",
		"innodb-flush-method":      "nosync", // a killed server loses nothing by it, only a machine without power would
		"innodb-use-native-aio":    "0",      // many servers at once would use up the kernel's asynchronous requests
		"innodb-stats-auto-recalc": "0",      // or equal tables have other statistics, and so other plans, now and then
		"sync-binlog":              "0", "max-connections": "2000", "max-allowed-packet": "1G", "local-infile": "1",
		"performance-schema": "OFF", "secure-file-priv": "", "max-prepared-stmt-count": "200000",
		"max-connect-errors": "1000000", "event-scheduler": "OFF", "back-log": "1024",
		"long-query-time": "3600", // a machine under load makes a query slow, which shows in the status flags of its answer
	}
	switch {
	case i.Kind == MariaDB:
		m["innodb-log-file-size"] = "48M"
	case i.old():
		m["innodb-log-file-size"] = "48M"
		m["explicit-defaults-for-timestamp"] = "1"
		if i.Kind == MySQL56 {
			delete(m, "secure-file-priv") // empty is the default, and cannot be given
		}
	default:
		m["loose-innodb-redo-log-capacity"] = "64M" // since 8.0.30
		m["mysqlx"] = "OFF"
		m["disable-log-bin"] = "1"
	}
	return m
}

// logBinary turns on the binary log and what GTID replication needs. Names of files stay the same in a copy.
func (m settings) logBinary(i Installation) {
	delete(m, "disable-log-bin")
	m.set(settings{"log-bin": "binlog", "binlog-format": "ROW", "relay-log": "relay", "report-host": "127.0.0.1", "log-slave-updates": "1"})
	if i.Kind == MariaDB {
		return
	}
	m.set(settings{"gtid-mode": "ON", "enforce-gtid-consistency": "ON"})
	if i.old() {
		m.set(settings{"master-info-repository": "TABLE", "relay-log-info-repository": "TABLE"})
		return
	}
	delete(m, "log-slave-updates") // the default, and not always known by this name
}
