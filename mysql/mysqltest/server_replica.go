package mysqltest

import (
	"context"
	"fmt"
	"time"
)

// replicate makes s a read-only replica of source, by GTID, and waits until it has caught up once.
func (s *RealServer) replicate(ctx context.Context, source *RealServer) error {
	db, err := s.DB("")
	if err != nil {
		return err
	}
	defer db.Close()
	statements := []string{
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='%s', MASTER_PASSWORD='%s', MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=slave_pos", source.Port, User, Password),
		"START SLAVE", "SET GLOBAL read_only=1",
	}
	if s.Kind != MariaDB {
		statements = []string{
			fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=%d, SOURCE_USER='%s', SOURCE_PASSWORD='%s', SOURCE_CONNECT_RETRY=1, SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1", source.Port, User, Password),
			"START REPLICA", "SET GLOBAL read_only=1",
		}
	}
	for _, sql := range statements {
		if _, err := db.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("replicate: %w", err)
		}
	}
	return s.waitReplica(ctx, source)
}

// waitReplica makes a mark on the source and waits until it has arrived.
func (s *RealServer) waitReplica(ctx context.Context, source *RealServer) error {
	from, err := source.DB("")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := s.DB("")
	if err != nil {
		return err
	}
	defer to.Close()
	for _, sql := range []string{
		"CREATE TABLE IF NOT EXISTS test.replica_mark (at BIGINT)", "DELETE FROM test.replica_mark",
		fmt.Sprintf("INSERT INTO test.replica_mark VALUES (%d)", s.Port),
	} {
		if _, err := from.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		var at int
		if err := to.QueryRowContext(ctx, "SELECT at FROM test.replica_mark").Scan(&at); err == nil && at == s.Port {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the replica at %s does not follow %s:\n%s", s.Addr, source.Addr, s.errorLog())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
