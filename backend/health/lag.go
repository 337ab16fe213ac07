package health

import (
	"errors"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// JudgeLag tells whether reads are to pass a replica over: it is behind by more than max, or nobody knows. One that was passed
// over comes back at half of max, so that it does not come and go. A max of 0 never passes one over.
func JudgeLag(passedOver bool, l backend.Lag, max time.Duration) bool {
	switch {
	case max == 0:
		return false
	case !l.Known:
		return true
	case passedOver:
		return l.Behind > max/2
	}
	return l.Behind > max
}

// askLag asks a replica how far it is behind its source, the one furthest ahead of it if it has several. refused is the
// server's error, with which the lag is not known; err is a failure of the connection. MySQL manual: "SHOW REPLICA STATUS".
func askLag(c *backend.Conn) (l backend.Lag, refused *mysql.SQLError, err error) {
	sources, known := 0, true
	err = c.NamedRows(lagQuery(c.Info), func(row map[string]string) {
		sources++
		behind, ok := row["Seconds_Behind_Source"]
		if !ok {
			behind = row["Seconds_Behind_Master"]
		}
		seconds, err := strconv.ParseUint(behind, 10, 31)
		if err != nil { // NULL: replication does not run
			known = false
		}
		l.Behind = max(l.Behind, time.Duration(seconds)*time.Second)
	})
	if errors.As(err, &refused) {
		return backend.Lag{}, refused, nil
	}
	l.Known = known && sources > 0
	return l, nil, err
}

// lagQuery is the statement in the server's own words.
func lagQuery(info *backend.Info) string {
	switch {
	case info.MariaDB:
		return "SHOW ALL SLAVES STATUS"
	case info.Number >= 80022:
		return "SHOW REPLICA STATUS"
	}
	return "SHOW SLAVE STATUS"
}

// watchLag asks a replica for its lag and stores it. err is a failure of the connection.
func (m *Monitor) watchLag(i *backend.Instance, c *backend.Conn) error {
	if i.Role != backend.Replica || i.IsSource {
		return nil
	}
	l, refused, err := askLag(c)
	if err != nil {
		return err
	}
	_, asked := i.Lag()
	was := i.PassedOver()
	passOver := JudgeLag(was && asked, l, m.cfg.LagMax[i.Node])
	i.SetLag(l, passOver)
	attrs := []any{"node", i.Node, "instance", i.Addr, "lag_known", l.Known, "lag", l.Behind}
	if refused != nil && !asked {
		m.cfg.Log.Warn("the server does not tell its replica lag: does the account have REPLICATION CLIENT, in MariaDB REPLICA MONITOR?", append(attrs, "error", refused)...)
	}
	if asked && was == passOver || !asked && !passOver {
		return nil
	}
	if passOver {
		m.cfg.Log.Warn("replica is behind: reads pass it over", attrs...)
	} else {
		m.cfg.Log.Info("replica has caught up", attrs...)
	}
	if m.cfg.Lagged != nil {
		m.cfg.Lagged(i, l, passOver)
	}
	return nil
}
