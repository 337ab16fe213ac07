package health

import (
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
)

// askLogged asks a primary whether it gives transactions GTIDs. err is a failure of the connection. MySQL manual: "gtid_mode", "log_bin".
func askLogged(i *backend.Instance, c *backend.Conn) error {
	ask := "SELECT @@GLOBAL.log_bin AND @@GLOBAL.gtid_mode LIKE 'ON%'"
	if c.Info.MariaDB {
		ask = "SELECT @@GLOBAL.log_bin"
	}
	logged := false
	err := c.Rows(ask, 1, func(row []string) { logged = row[0] == "1" })
	if _, refused := errors.AsType[*mysql.SQLError](err); refused { // MySQL 5.5 has none
		err = nil
	}
	i.GTIDs.SetLogged(logged)
	return err
}

// followGTIDs logs once that nobody tells the proxy what is committed on a primary.
func (m *Monitor) followGTIDs(i *backend.Instance, w *watched) {
	why := ""
	switch {
	case !i.GTIDs.Tracked.Load() || asksLag(i):
	case !i.GTIDs.Logged():
		why = "the server gives transactions no GTIDs: at replica_consistency session, a session that has changed something reads from the primary"
	case i.GTIDs.Refused():
		why = "the server does not tell what a session commits: at replica_consistency session, the first read behind a change asks the primary"
	}
	if why != "" && !w.untold {
		m.cfg.Log.Warn(why, "node", i.Node, "instance", i.Addr)
	}
	w.untold = why != ""
}
