package mysqltest

import (
	"context"
	"fmt"
)

// User and Password are the account with all rights that every server has, from every host and by its socket. Every
// server has these, too, all with all rights: ks, password ks; nopw, without a password; and with the password ks, where
// the kind has the plugin: ksn by mysql_native_password, kse by ed25519 (MariaDB), kss by sha256_password and ksc by
// caching_sha2_password (MySQL 8 and later). There is a database test in utf8mb4.
const (
	User     = "root"
	Password = "root"
)

// statement makes a part of the accounts.
type statement struct {
	sql      string
	optional bool // the server may lack the plugin
}

// accounts are the statements that a newly initialised server is given by root, who has no password yet.
func accounts(i Installation) []statement {
	var list []statement
	must := func(sql ...string) {
		for _, s := range sql {
			list = append(list, statement{sql: s})
		}
	}
	grant := func(user string) string { return "GRANT ALL PRIVILEGES ON *.* TO " + user + "@'%' WITH GRANT OPTION" }
	may := func(user, how string) {
		list = append(list, statement{"CREATE USER " + user + "@'%' IDENTIFIED " + how, true}, statement{grant(user), true})
	}
	switch {
	case i.Kind == MariaDB:
		must("DELETE FROM mysql.global_priv WHERE user='' OR host<>'localhost'", "FLUSH PRIVILEGES")
	case i.Kind == MySQL56:
		must("DELETE FROM mysql.user WHERE user='' OR host<>'localhost'", "DELETE FROM mysql.db WHERE user=''", "FLUSH PRIVILEGES")
	}
	must("DROP DATABASE IF EXISTS test", "CREATE DATABASE test CHARACTER SET utf8mb4")
	for _, user := range []string{"root", "ks"} {
		must("CREATE USER "+user+"@'%' IDENTIFIED BY '"+user+"'", grant(user))
	}
	must("CREATE USER nopw@'%'", grant("nopw"))
	switch {
	case i.Kind == MariaDB:
		may("ksn", "VIA mysql_native_password USING PASSWORD('ks')")
		list = append(list, statement{"INSTALL SONAME 'auth_ed25519'", true})
		may("kse", "VIA ed25519 USING PASSWORD('ks')")
	case i.Kind == MySQL56:
		may("ksn", "BY 'ks'") // its only plugin, which takes no password by name
	default:
		may("ksn", "WITH mysql_native_password BY 'ks'")
		may("kss", "WITH sha256_password BY 'ks'")
		may("ksc", "WITH caching_sha2_password BY 'ks'")
	}
	if i.Kind == MySQL56 {
		must("SET PASSWORD FOR root@localhost = PASSWORD('root')")
	} else {
		must("ALTER USER root@localhost IDENTIFIED BY 'root'")
	}
	return list
}

// makeAccounts gives a new server, whose root has no password yet, its accounts.
func (s *RealServer) makeAccounts(ctx context.Context) error {
	c := s.driverConfig("")
	c.Net, c.Addr, c.Passwd = "unix", s.Socket, ""
	db, err := openDB(c)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, a := range accounts(s.installation) {
		if _, err := db.ExecContext(ctx, a.sql); err != nil && !a.optional {
			return fmt.Errorf("make the accounts: %w", err)
		}
	}
	return nil
}
