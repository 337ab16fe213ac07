package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/health"
	"kingshard/config"
	"kingshard/mysql"
)

// checkRoles prints what the proxy's own account lacks at a primary to follow the role, to write heartbeats and to find replicas. It works without, but not as well.
func checkRoles(place string, i *backend.Instance, own *login, nc *config.Node, timeout time.Duration) error {
	tables := health.Tables(nc)
	if len(tables) == 0 {
		return nil
	}
	if lacks := replicasRight(own); nc.Discovers() && lacks != "" {
		fmt.Printf("%s: warning: %s lacks %s: no replicas are found\n", place, own.name, lacks)
	}
	deadline := time.Now().Add(timeout)
	c, err := i.OwnUntil(deadline)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	var refused *mysql.SQLError
	if _, err := backend.Members(c); errors.As(err, &refused) {
		fmt.Printf("%s: warning: %s lacks SELECT on performance_schema.replication_group_members (%s): which members are in step with the group is not known\n", place, own.name, refused.Message)
	} else if err != nil {
		return err
	}
	for _, t := range tables {
		there, refused, err := t.Usable(c)
		if err != nil {
			return err
		}
		rights := []string{"CREATE", "SELECT", "INSERT", "UPDATE"}
		switch schema, _, _ := strings.Cut(t.Name, "."); {
		case refused != nil:
			fmt.Printf("%s: warning: %s cannot write %s (%s): %s\n", place, own.name, t.Name, refused.Message, t.Without)
		case !there && len(own.grants.Lacks(schema, rights...)) > 0:
			fmt.Printf("%s: warning: %s is not there, and %s lacks %s on %s (kingshard init -print lists the statements): %s\n",
				place, t.Name, own.name, strings.Join(own.grants.Lacks(schema, rights...), ", "), schema, t.Without)
		}
	}
	return nil
}

// replicasRight is the right to ask a primary for its replicas, if the account lacks it.
func replicasRight(own *login) string {
	rights := []string{"REPLICATION SLAVE"}
	if own.info.MariaDB { // which asks for one or the other, by its version
		rights = append(rights, "REPLICATION MASTER ADMIN")
	}
	if lacks := own.grants.Lacks("", rights...); len(lacks) == len(rights) {
		return lacks[len(lacks)-1]
	}
	return ""
}
