package chaos

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"kingshard/proxy/kserror"
)

// kind is what an operation does.
type kind uint8

const (
	insert kind = iota // of a row, without a transaction
	local              // a transfer between accounts of one node, in a transaction
	across             // a transfer between accounts of two nodes, in a transaction
	read               // of a row that was inserted, from its primary
	stale              // of a row that was inserted a while ago, from a replica if there is one
)

// outcome is what a client knows of an operation.
type outcome uint8

const (
	done    outcome = iota // it was told so
	refused                // it was told, or can know, that nothing is kept of it
	unknown                // nobody said what became of it
	wrong                  // it was told what is not so
)

// operation is one that was due, and what became of it. Its id is that of its row.
type operation struct {
	id                int64
	kind              kind
	payer, payee      int64 // of a transfer
	due, began, ended time.Time
	outcome           outcome
	fault             string // what errors are counted by, "" without one
	text              string // of the error
}

// valueOf is what the row of an id holds.
func valueOf(id int64) int64 { return id * 2654435761 % 1_000_000_007 }

// run carries the operation out on a connection.
func (o *operation) run(ctx context.Context, conn *sql.Conn) error {
	switch o.kind {
	case insert:
		return change(ctx, conn, fmt.Sprintf("INSERT INTO entry (id, v, pad) VALUES (%d, %d, REPEAT('x', 400))", o.id, valueOf(o.id)))
	case read:
		return o.look(ctx, conn, "SELECT /*master*/ v FROM entry WHERE id = %d")
	case stale:
		return o.look(ctx, conn, "SELECT v FROM entry WHERE id = %d")
	}
	return o.transfer(ctx, conn)
}

// look reads the row of an id that was inserted.
func (o *operation) look(ctx context.Context, conn *sql.Conn, text string) error {
	var v int64
	err := conn.QueryRowContext(ctx, fmt.Sprintf(text, o.id)).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) || err == nil && v != valueOf(o.id) {
		return fmt.Errorf("%w: row %d has %d, %v", errWrong, o.id, v, err)
	}
	return err
}

// transfer moves 1 from the payer to the payee and notes it, in one transaction. Accounts are changed in the order of their ids, so that no two
// transfers wait for each other.
func (o *operation) transfer(ctx context.Context, conn *sql.Conn) error {
	update := func(id int64) string {
		sign := "-"
		if id == o.payee {
			sign = "+"
		}
		return fmt.Sprintf("UPDATE account SET balance = balance %s 1 WHERE id = %d", sign, id)
	}
	for _, text := range []string{
		"BEGIN", update(min(o.payer, o.payee)), update(max(o.payer, o.payee)),
		fmt.Sprintf("INSERT INTO transfer (id, payer, payee) VALUES (%d, %d, %d)", o.id, o.payer, o.payee),
	} {
		if err := change(ctx, conn, text); err != nil {
			return ahead{err}
		}
	}
	return change(ctx, conn, "COMMIT")
}

func change(ctx context.Context, conn *sql.Conn, text string) error {
	result, err := conn.ExecContext(ctx, text)
	if err != nil || text == "BEGIN" || text == "COMMIT" {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%w: %d rows changed by %s, %v", errWrong, n, text, err)
	}
	return nil
}

// ahead is an error ahead of COMMIT.
type ahead struct{ error }

func (a ahead) Unwrap() error { return a.error }

// errWrong is wrapped by what no server answers.
var errWrong = errors.New("wrong answer")

// connecting is an error of a connection that is not there yet.
type connecting struct{ error }

func (c connecting) Unwrap() error { return c.error }

// unsure are the numbers of errors behind which a statement may have been carried out.
var unsure = map[uint16]bool{kserror.BackendLost: true, kserror.StatementBroken: true, 1180: true /* ER_ERROR_DURING_COMMIT */}

// judge says what a client knows by an error, and what the error is counted by.
func judge(err error) (o outcome, fault string) {
	if err == nil {
		return done, ""
	}
	e, told := errors.AsType[*mysql.MySQLError](err)
	switch {
	case told:
		fault = strconv.Itoa(int(e.Number))
	case errors.As(err, new(connecting)):
		fault = "connect"
	default:
		fault = "connection"
	}
	switch {
	case errors.Is(err, errWrong):
		return wrong, "wrong answer"
	case told && e.Number == kserror.Internal:
		return wrong, fault
	case errors.As(err, new(ahead)), errors.As(err, new(connecting)), errors.Is(err, driver.ErrBadConn), told && !unsure[e.Number]:
		return refused, fault
	}
	return unknown, fault
}
