package mysqltest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// replicate makes s follow its source by GTID and waits until it has caught up.
func (s *RealServer) replicate(ctx context.Context) error {
	db, err := s.DB("")
	if err != nil {
		return err
	}
	defer db.Close()
	host := fmt.Sprintf("MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_CONNECT_RETRY=1, ",
		s.source.Port, User, Password)
	var statements []string
	switch {
	case s.Kind == MariaDB:
		statements = []string{"STOP SLAVE", "CHANGE MASTER TO " + host + "MASTER_USE_GTID=slave_pos", "START SLAVE"}
	case s.installation.old():
		statements = []string{"STOP SLAVE", "CHANGE MASTER TO " + host + "MASTER_AUTO_POSITION=1", "START SLAVE"}
	default:
		host = strings.ReplaceAll(host, "MASTER_", "SOURCE_")
		statements = []string{
			"STOP REPLICA", "CHANGE REPLICATION SOURCE TO " + host + "SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1", "START REPLICA",
		}
	}
	for k, text := range statements {
		// What never ran cannot be stopped; a directory used again has it running.
		if _, err := db.ExecContext(ctx, text); err != nil && k > 0 {
			verb, _, _ := strings.Cut(text, " TO ")
			return fmt.Errorf("%s: %w", verb, err)
		}
	}
	return s.CatchUp(ctx)
}

// CatchUp waits until a replica runs and has all that its source had when CatchUp was called.
func (s *RealServer) CatchUp(ctx context.Context) error {
	if s.source == nil {
		return fmt.Errorf("the server at %s is no replica", s.Addr)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	source, err := s.source.DB("")
	if err != nil {
		return err
	}
	defer source.Close()
	replica, err := s.DB("")
	if err != nil {
		return err
	}
	defer replica.Close()
	// MariaDB has a position in each domain, MySQL a set of transactions; neither question waits.
	written, has := "SELECT @@GLOBAL.gtid_executed", "SELECT GTID_SUBSET(?, @@GLOBAL.gtid_executed)"
	if s.Kind == MariaDB {
		written, has = "SELECT @@GLOBAL.gtid_binlog_pos", "SELECT MASTER_GTID_WAIT(?, 0) = 0"
	}
	var position string
	if err := source.QueryRowContext(ctx, written).Scan(&position); err != nil {
		return fmt.Errorf("position of %s: %w", s.source.Addr, err)
	}
	for {
		var arrived bool
		state, running, err := replicaState(ctx, replica)
		if err == nil && running {
			if err = replica.QueryRowContext(ctx, has, position).Scan(&arrived); err == nil && arrived {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the replica at %s does not follow %s (%s): %w", s.Addr, s.source.Addr, state, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// replicaState tells whether both halves of replication run, and in words what they say.
func replicaState(ctx context.Context, db *sql.DB) (state string, running bool, err error) {
	// MySQL before 8.0.22 does not know the first, MySQL since 8.4 not the second.
	rows, err := db.QueryContext(ctx, "SHOW REPLICA STATUS")
	if err != nil {
		if rows, err = db.QueryContext(ctx, "SHOW SLAVE STATUS"); err != nil {
			return "no status", false, err
		}
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "no status", false, err
	}
	values := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for k := range values {
		into[k] = &values[k]
	}
	if !rows.Next() {
		return "replication is not configured", false, rows.Err()
	}
	if err := rows.Scan(into...); err != nil {
		return "no status", false, err
	}
	runs := 0
	for k, name := range columns {
		switch name {
		case "Slave_IO_Running", "Replica_IO_Running", "Slave_SQL_Running", "Replica_SQL_Running":
			state += name + " " + values[k].String + " "
			if values[k].String == "Yes" {
				runs++
			}
		case "Last_IO_Error", "Last_SQL_Error":
			state += values[k].String + " "
		}
	}
	return strings.TrimSpace(state), runs == 2, rows.Err()
}
