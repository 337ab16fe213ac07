package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
)

// login is an account at an instance, and what the server says of it.
type login struct {
	name       string
	grants     backend.Grants
	info       *backend.Info
	changeable bool // its password, by who does not know it
}

// logIn asks by one of the two accounts of a node.
func logIn(i *backend.Instance, name string, own bool, timeout time.Duration) (*login, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	dial := func(ctx context.Context) (*backend.Conn, error) { return i.DialContext(ctx, 0) }
	if own {
		dial = i.Own
	}
	c, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	c.Net.SetDeadline(deadline)
	l := &login{name: name, info: c.Info}
	if l.grants, err = c.Grants(); err == nil {
		l.changeable, err = passwordChangeable(c)
	}
	return l, err
}

// passwordChangeable tells of a server that knows PASSWORD REQUIRE CURRENT whether it is not set for the account of a connection. MySQL
// manual: "Password Management".
func passwordChangeable(c *backend.Conn) (yes bool, err error) {
	if c.Info.MariaDB || c.Info.Number < 80013 {
		return false, nil
	}
	byDefault := false
	err = c.Rows("SHOW CREATE USER CURRENT_USER()", 1, func(row []string) {
		_, clause, _ := strings.Cut(row[0], " PASSWORD REQUIRE CURRENT")
		byDefault, yes = strings.HasPrefix(clause, " DEFAULT"), strings.HasPrefix(clause, " OPTIONAL")
	})
	if err == nil && byDefault {
		err = c.Rows("SELECT @@password_require_current", 1, func(row []string) { yes = row[0] == "0" })
	}
	return yes, err
}

// recommendMissing prints which nodes have one account for everything.
func recommendMissing(cfg *config.Config, file string) {
	var missing []string
	for k := range cfg.Nodes {
		if cfg.Nodes[k].AdminUser == "" {
			missing = append(missing, fmt.Sprintf("nodes[%d].admin_user", k))
		}
	}
	if len(missing) > 0 {
		fmt.Printf("%s: recommendation: %s: with an account for what the proxy does of its own, user needs no rights but those of clients (docs/security.md)\n",
			file, strings.Join(missing, ", "))
	}
}

// recommend prints how the accounts of an instance can be closed further; own is user where the node has no other.
func recommend(place string, user, own *login) {
	say := func(format string, args ...any) { fmt.Printf(place+": recommendation: "+format+"\n", args...) }
	accounts := []*login{user}
	if own != user {
		accounts = append(accounts, own)
	}
	for _, l := range accounts {
		if l.changeable {
			say("ALTER USER %s PASSWORD REQUIRE CURRENT: no statement under it changes its password without the one that it has", l.name)
		}
	}
	if held := user.grants.Holds("CREATE ROUTINE", "ALTER ROUTINE", "EVENT"); len(held) > 0 {
		say("%s has %s: a routine or event can PREPARE a text that the proxy cannot read, and so change the account or the session; take that away", user.name, strings.Join(held, ", "))
	}
	if own == user {
		return
	}
	if held := user.grants.Holds("TRIGGER", "SHOW_ROUTINE", "PROCESS", "REPLICATION CLIENT", "REPLICA MONITOR", "SLAVE MONITOR"); len(held) > 0 {
		say("%s has %s, which %s needs in its place", user.name, strings.Join(held, ", "), own.name)
	}
	kill := "CONNECTION_ADMIN"
	if own.info.MariaDB {
		kill = "CONNECTION ADMIN"
	}
	if len(own.grants.Lacks("", kill)) > 0 {
		say("%s lacks %s: statements are ended by %s, as far as it can log in", own.name, kill, user.name)
	}
}
