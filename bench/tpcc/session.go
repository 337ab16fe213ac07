package tpcc

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// session is a client's connection, and another one when it broke. What a transaction sends waits for its answer whatever happens to the
// run: none is left in the middle.
type session struct {
	db         *sql.DB
	prepared   bool
	conn       *sql.Conn
	statements map[string]*sql.Stmt // of conn, by their texts
}

// connect makes a connection where there is none.
func (s *session) connect() error {
	if s.conn != nil {
		return nil
	}
	conn, err := s.db.Conn(context.Background())
	if err != nil {
		return err
	}
	s.conn, s.statements = conn, make(map[string]*sql.Stmt)
	return nil
}

// close ends the connection, if there is one. The pool does not get it back: it may be in a transaction, which the next BEGIN would commit.
func (s *session) close() {
	if s.conn == nil {
		return
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
	s.conn, s.statements = nil, nil
}

// command sends BEGIN, COMMIT or ROLLBACK.
func (s *session) command(text string) error {
	_, err := s.conn.ExecContext(context.Background(), text)
	return err
}

func (s *session) statement(text string) (*sql.Stmt, error) {
	if st := s.statements[text]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(context.Background(), text)
	if err == nil {
		s.statements[text] = st
	}
	return st, err
}

// query sends a SELECT.
func (s *session) query(text string, args ...any) (*sql.Rows, error) {
	if !s.prepared {
		return s.conn.QueryContext(context.Background(), text, args...)
	}
	st, err := s.statement(text)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(context.Background(), args...)
}

// row sends a SELECT of one row at the most and scans it into to; [sql.ErrNoRows] is none.
func (s *session) row(to []any, text string, args ...any) error {
	rows, err := s.query(text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), noRow(rows.Err()))
	}
	if err := rows.Scan(to...); err != nil {
		return err
	}
	if rows.Next() {
		return fmt.Errorf("%w: two rows of %s", errWrongAnswer, text)
	}
	return rows.Err()
}

// noRow is [sql.ErrNoRows], unless there was another error.
func noRow(err error) error {
	if err != nil {
		return nil
	}
	return sql.ErrNoRows
}

// errWrongAnswer is wrapped by what no server answers to a statement of ours.
var errWrongAnswer = errors.New("wrong answer")

// mustRow is row where there is a row.
func (s *session) mustRow(to []any, text string, args ...any) error {
	err := s.row(to, text, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: no row of %s %v", errWrongAnswer, text, args)
	}
	return err
}

// exec sends a change of so many rows.
func (s *session) exec(rows int64, text string, args ...any) error {
	var result sql.Result
	var err error
	if s.prepared {
		var st *sql.Stmt
		if st, err = s.statement(text); err == nil {
			result, err = st.ExecContext(context.Background(), args...)
		}
	} else {
		result, err = s.conn.ExecContext(context.Background(), text, args...)
	}
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != rows {
		return fmt.Errorf("%w: %d rows changed by %s %v, not %d (%v)", errWrongAnswer, n, text, args, rows, err)
	}
	return nil
}
