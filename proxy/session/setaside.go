package session

import (
	"errors"
	"fmt"

	"kingshard/backend"
	"kingshard/mysql"
)

// variableValue is a variable and a value as SQL text.
type variableValue struct{ name, value string }

// ofScratch are variables that a client has set for its own tables, and what they have to be where scratch tables are made and filled.
var ofScratch = [...]variableValue{
	{"transaction_read_only", "0"}, {"sql_safe_updates", "0"}, {"sql_require_primary_key", "0"}, {"explicit_defaults_for_timestamp", "1"},
	{"default_storage_engine", "'InnoDB'"}, {"default_tmp_storage_engine", "'InnoDB'"},
}

// writable lets scratch tables be made on a connection whatever the session has set for its own, until restore is called.
func (sh *shards) writable(p backend.Pooled) (restore func(error) error, err error) {
	var back []func(error) error
	restore = func(failure error) error {
		for _, one := range back {
			failure = one(failure)
		}
		return failure
	}
	for _, v := range ofScratch {
		if has := sh.client.state.Value(v.name); has == "" || has == v.value {
			continue
		}
		one, err := sh.setAside(p, v.name, v.value)
		if err != nil {
			return nil, restore(err)
		}
		back = append(back, one)
	}
	return restore, nil
}

// ownCharsets has a server send texts in their columns' own character sets, until restore is called, as that of setAside.
func (sh *shards) ownCharsets(p backend.Pooled) (restore func(error) error, err error) {
	return sh.setAside(p, "character_set_results", "NULL")
}

// utc is the time zone in which no local time repeats itself.
const utc = "'+00:00'"

// setAside gives a variable of a connection another value than the session's. restore gives it back the session's, whatever became of
// what was done meanwhile, whose error it takes and hands on: a connection that has another value must not go to anybody else. A KILL that the server hears of
// only then has ended nothing else, so that restore, where there is no other error, returns that of the KILL.
func (sh *shards) setAside(p backend.Pooled, name, value string) (restore func(error) error, err error) {
	return sh.carryAside(p, sh.client.state.Setting().With(name, value)) // each of several variables by itself: Apply sends the differences
}

// carryAside has a connection carry another setting than the session's until restore is called; see setAside.
func (sh *shards) carryAside(p backend.Pooled, other *backend.Setting) (restore func(error) error, err error) {
	have := sh.client.state.Setting()
	if err := p.Conn.Apply(have, other); err != nil {
		return nil, err
	}
	return func(failure error) error {
		var refused *mysql.SQLError
		if failure != nil && !errors.As(failure, &refused) {
			return failure // the connections are closed
		}
		killed, err := applyThroughKill(p.Conn, other, have)
		switch {
		case err != nil:
			return fmt.Errorf("variables cannot be set back: %w", notSQL(err))
		case failure == nil && killed != nil:
			return killed
		}
		return failure
	}, nil
}

// killsMax is how many statements in a row may be ended by KILL before a connection is given up.
const killsMax = 3

// applyThroughKill has a connection that carries have carry want though a KILL of the client's statement comes meanwhile, whose error is killed then.
func applyThroughKill(c *backend.Conn, have, want *backend.Setting) (killed, err error) {
	for range killsMax {
		var refused *mysql.SQLError
		if err = c.Apply(have, want); !errors.As(err, &refused) || !timedOut(refused.Code) {
			return killed, err
		}
		killed = err
	}
	return killed, err
}

// notSQL makes an error one that closes the connections, even if a server has given it.
func notSQL(err error) error { return errors.New(err.Error()) }
