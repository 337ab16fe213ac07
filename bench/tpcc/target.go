package tpcc

import (
	"database/sql"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Target is where clients log in.
type Target struct {
	Addr, User, Password string
	// Prepared has clients prepare each statement and execute it; without it values are in the texts.
	Prepared bool
}

// answerTimeout is how long a client waits for an answer before it takes its connection for broken: longer than a server has a statement
// wait for a row.
const answerTimeout = 90 * time.Second

// Open returns a pool of connections to the database of the tables, which the caller closes.
func (t Target) Open() (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = t.User, t.Password, "tcp", t.Addr, DB
	c.InterpolateParams = !t.Prepared
	c.Timeout, c.ReadTimeout = 10*time.Second, answerTimeout
	c.Logger = &mysql.NopLogger{} // a connection that breaks is counted
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
