package lockwaits

import (
	"errors"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// askTimeout bounds a login and a question.
const askTimeout = 3 * time.Second

// question is what tells who waits for whom: the ids of connections, each that waits with one that it waits for.
func question(info *backend.Info) string {
	const columns = "SELECT DISTINCT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM "
	if !info.MariaDB && info.Number >= 80000 {
		return columns + "performance_schema.data_lock_waits w JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_engine_transaction_id " +
			"JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_engine_transaction_id"
	}
	return columns + "information_schema.innodb_lock_waits w JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id " +
		"JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id"
}

// asker asks one server, on a connection of its own.
type asker struct {
	instance *backend.Instance
	conn     *backend.Conn
	knows    bool
}

// ask adds the server's edges. denied says that it answered, but not that.
func (a *asker) ask(edges map[edge]bool) (denied bool, err error) {
	deadline := time.Now().Add(askTimeout)
	if a.conn == nil {
		if a.conn, err = a.instance.OwnUntil(deadline); err != nil {
			return false, err
		}
	}
	a.conn.Net.SetDeadline(deadline)
	if err = a.mayKnow(); err != nil {
		return errors.Is(err, errNoSchema), err
	}
	err = a.conn.Rows(question(a.conn.Info), 2, func(row []string) {
		from, bad := strconv.ParseUint(row[0], 10, 32)
		to, worse := strconv.ParseUint(row[1], 10, 32)
		if bad == nil && worse == nil {
			edges[edge{Thread{a.instance.Addr, uint32(from)}, Thread{a.instance.Addr, uint32(to)}}] = true
		}
	})
	if _, ok := errors.AsType[*mysql.SQLError](err); ok {
		return true, err
	}
	if err != nil {
		a.close()
	}
	return false, err
}

// errNoSchema says that a server keeps no record of who waits for whom.
var errNoSchema = errors.New("performance_schema is off there")

// mayKnow asks a server once whether it has what the question reads.
func (a *asker) mayKnow() error {
	if a.knows || a.conn.Info.MariaDB || a.conn.Info.Number < 80000 {
		return nil
	}
	err := a.conn.Rows("SELECT @@performance_schema", 1, func(row []string) { a.knows = row[0] == "1" })
	if err == nil && !a.knows {
		err = errNoSchema
	}
	return err
}

func (a *asker) close() {
	if a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

// Missing lists what a connection's account lacks, or its server, to be told who waits for whom.
func Missing(c *backend.Conn) (missing []string, err error) {
	type need struct{ query, what string }
	needs := []need{{"SELECT COUNT(*) FROM information_schema.innodb_trx", "PROCESS"}}
	if !c.Info.MariaDB && c.Info.Number >= 80000 {
		a := asker{conn: c}
		if err := a.mayKnow(); errors.Is(err, errNoSchema) {
			missing = append(missing, "performance_schema = ON")
		} else if err != nil {
			return nil, err
		}
		needs = append(needs, need{"SELECT COUNT(*) FROM performance_schema.data_lock_waits", "SELECT on performance_schema.data_lock_waits"})
	}
	for _, n := range needs {
		err := c.Rows(n.query, 1, func([]string) {})
		if _, ok := errors.AsType[*mysql.SQLError](err); ok {
			missing = append(missing, n.what)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}
