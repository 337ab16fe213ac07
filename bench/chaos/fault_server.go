package chaos

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kingshard/mysql/mysqltest"
)

// serverFaults are of a node's server.
func serverFaults() []Fault {
	return []Fault{
		{
			Name: "server killed", What: "a node's server is killed by SIGKILL, and started again", steady: true, run: func(ctx context.Context, s *subject, lasts time.Duration) error {
				s.servers[failing].Kill()
				return errors.Join(pause(ctx, lasts), s.servers[failing].Restart(ctx))
			},
		},
		{
			Name: "server stopped", What: "the process of a node's server stands still (SIGSTOP) and goes on (SIGCONT)", steady: true, run: func(ctx context.Context, s *subject, lasts time.Duration) error {
				s.servers[failing].Pause()
				defer s.servers[failing].Resume()
				return pause(ctx, lasts)
			},
		},
		{Name: "max_connections", What: "other clients have all connections of a node's server but two, and those of the proxy break", steady: true, run: crowd},
		{Name: "read_only", What: "a node's server becomes read-only", steady: true, run: readOnly},
		{Name: "replication stopped", What: "the replica of a node does not apply what its primary writes", steady: true, replica: true, run: stopReplication},
		{Name: "full", What: "the tablespace of a node's server is full", needs: confined, steady: true, holds: true, run: fillSpace},
		{Name: "clock", What: "the clocks of both servers jump ahead by an hour, back by two, and ahead again", needs: clocked, steady: true, run: jump},
	}
}

// crowd takes a server's connections away.
func crowd(ctx context.Context, s *subject, lasts time.Duration) (err error) {
	const all, left = 30, 2
	control, err := s.admins[failing].Conn(ctx)
	if err != nil {
		return err
	}
	defer control.Close()
	var before int
	if err := control.QueryRowContext(ctx, "SELECT @@GLOBAL.max_connections").Scan(&before); err != nil {
		return err
	}
	defer func() {
		_, healed := control.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", before))
		err = errors.Join(err, healed)
	}()
	if _, err := control.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", all)); err != nil {
		return err
	}
	s.relays[failing].Reset()
	crowd, err := s.servers[failing].DB("")
	if err != nil {
		return err
	}
	defer crowd.Close()
	for taken := 0; taken < all-left-1; { // the control connection is one, too
		if c, err := crowd.Conn(ctx); err == nil {
			defer c.Close()
			taken++
			continue
		}
		s.relays[failing].Reset()
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	if err := pause(ctx, lasts); err != nil {
		return err
	}
	var turnedAway int
	if err := control.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Connection_errors_max_connections'").Scan(new(string), &turnedAway); err != nil {
		return err
	}
	if turnedAway == 0 {
		return errors.New("the server turned nobody away")
	}
	return nil
}

// readOnly has a server take no writes of the proxy's account.
func readOnly(ctx context.Context, s *subject, lasts time.Duration) error {
	variable := "super_read_only"
	if s.kind == mysqltest.MariaDB {
		variable = "read_only"
	}
	admin, err := s.admins[failing].Conn(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	if err := turnReadOnly(ctx, admin, variable); err != nil {
		return err
	}
	err = pause(ctx, lasts)
	_, healed := admin.ExecContext(context.WithoutCancel(ctx), "SET GLOBAL read_only = 0")
	return errors.Join(err, healed)
}

// turnReadOnly sets the variable as an administrator of a server under load does. MySQL waits for statements that run, and lets no others begin meanwhile: one
// that runs may wait for a row of a transaction whose next statement may not begin, for as long as a row lock is waited for.
func turnReadOnly(ctx context.Context, admin *sql.Conn, variable string) error {
	if _, err := admin.ExecContext(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	// Between two tries statements go on for longer and longer, so that what was waited for comes to its end on a slow machine, too.
	wait := 100 * time.Millisecond
	for end := time.Now().Add(time.Minute); ; wait = min(2*wait, 2*time.Second) {
		_, err := admin.ExecContext(ctx, "SET GLOBAL "+variable+" = 1")
		if err == nil || !strings.Contains(err.Error(), "1205") { // ER_LOCK_WAIT_TIMEOUT
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w, with %s", err, underWay(ctx, admin))
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// underWay lists what runs on a server, the longest first, and what is prepared there.
func underWay(ctx context.Context, admin *sql.Conn) string {
	var list []string
	for _, query := range []string{
		"SELECT CONCAT(TIME, ' s ', COALESCE(STATE, ''), ': ', LEFT(COALESCE(INFO, ''), 80)) FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep' ORDER BY TIME DESC LIMIT 20",
		"SELECT CONCAT('transaction ', trx_mysql_thread_id, ' since ', trx_started, ' ', trx_state) FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT 20",
	} {
		rows, err := admin.QueryContext(ctx, query)
		if err != nil {
			return err.Error()
		}
		for rows.Next() {
			var one string
			if rows.Scan(&one) == nil {
				list = append(list, one)
			}
		}
		rows.Close()
	}
	return strings.Join(list, "; ")
}

// stopReplication lets the replica of the first node fall behind.
func stopReplication(ctx context.Context, s *subject, lasts time.Duration) error {
	word := "REPLICA"
	if s.kind == mysqltest.MariaDB {
		word = "SLAVE"
	}
	replica := s.admins[len(s.servers)]
	if _, err := replica.ExecContext(ctx, "STOP "+word+" SQL_THREAD"); err != nil {
		return err
	}
	err := pause(ctx, 2*staleness+lasts)
	_, healed := replica.ExecContext(context.WithoutCancel(ctx), "START "+word+" SQL_THREAD")
	return errors.Join(err, healed, s.replica.CatchUp(ctx))
}

// fillSpace fills a server's tablespace, and empties it again.
func fillSpace(ctx context.Context, s *subject, lasts time.Duration) error {
	admin := s.admins[failing]
	for _, text := range []string{
		"CREATE TABLE " + database + ".filler (id BIGINT AUTO_INCREMENT PRIMARY KEY, pad VARCHAR(8000) NOT NULL)", "INSERT INTO " + database + ".filler (pad) VALUES (REPEAT('x', 7000))",
	} {
		if _, err := admin.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	err := fillUp(ctx, admin, time.Now().Add(lasts))
	_, healed := admin.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+database+".filler")
	return errors.Join(err, healed)
}

// fillUp takes what room there is until an end.
func fillUp(ctx context.Context, admin *sql.DB, end time.Time) error {
	full := false
	for rows := 1000; time.Now().Before(end); {
		_, err := admin.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s.filler (pad) SELECT REPEAT('x', 7000) FROM %[1]s.account_000%d LIMIT %d", database, failing, rows))
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "1114"): // ER_RECORD_FILE_FULL
			full = full || rows == 1
			rows = max(1, rows/4)
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		default:
			return err
		}
	}
	if !full {
		return errors.New("the tablespace did not become full")
	}
	return nil
}

// clockEnv is the environment of servers whose clocks can be set.
func (s *subject) clockEnv() ([]string, error) {
	libraries, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if err != nil || len(libraries) == 0 {
		return nil, errors.Join(errors.New("there is no libfaketime: run mysql/mysqltest/install/faketime.sh"), err)
	}
	if err := os.Chmod(s.dir, 0o755); err != nil { // servers of root run as another user
		return nil, err
	}
	return []string{
		"LD_PRELOAD=" + libraries[0], "FAKETIME_TIMESTAMP_FILE=" + s.clock(), "FAKETIME_CACHE_DURATION=1", "DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}, s.setClock("+0")
}

func (s *subject) setClock(off string) error { return os.WriteFile(s.clock(), []byte(off+"\n"), 0o644) }

// jump sets the servers' clocks.
func jump(ctx context.Context, s *subject, lasts time.Duration) error {
	for _, off := range []string{"+3600", "-3600"} {
		if err := s.setClock(off); err != nil {
			return err
		}
		if err := pause(ctx, max(lasts/2, 3*time.Second)); err != nil {
			return err
		}
		if err := s.clockIs(ctx, off); err != nil {
			return err
		}
	}
	return s.setClock("+0")
}

// clockIs makes sure that the servers' clocks are off by that.
func (s *subject) clockIs(ctx context.Context, off string) error {
	var seconds int
	if _, err := fmt.Sscanf(off, "%d", &seconds); err != nil {
		return err
	}
	for _, admin := range s.admins {
		var now int64
		if err := admin.QueryRowContext(ctx, "SELECT UNIX_TIMESTAMP()").Scan(&now); err != nil {
			return err
		}
		if ahead := now - time.Now().Unix(); ahead < int64(seconds)-60 || ahead > int64(seconds)+60 {
			return fmt.Errorf("the clock of a server is %d s off, not %s", ahead, off)
		}
	}
	return nil
}
