package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"kingshard/config"
	"kingshard/router"
)

// schemaFlags are those of the commands that ask the rules of a configuration and no server.
type schemaFlags struct {
	file    flags
	user    string
	db      string
	account config.User // filled by router, as is nodes
	nodes   []string    // of the schema
}

// bindSchema adds the flags to a command's.
func bindSchema(set *flag.FlagSet) *schemaFlags {
	f := new(schemaFlags)
	f.file.bindConfig(set)
	set.StringVar(&f.user, "user", "", "`user` of schema_list; may be left out if there is one only")
	set.StringVar(&f.user, "u", "", "short for -user")
	return f
}

// router makes the router of the user's schema; nil with an exit code when it cannot, which has been printed then.
func (f *schemaFlags) router() (*router.Router, int) {
	cfg, code := f.config()
	if cfg == nil {
		return nil, code
	}
	return f.routerOf(cfg, false)
}

// config reads the configuration; nil with an exit code when it cannot, which has been printed then.
func (f *schemaFlags) config() (*config.Config, int) {
	cfg, ok := f.file.load()
	if !ok {
		return nil, 1
	}
	return cfg, 0
}

// routerOf builds the router for the user of these flags. folded says that the servers do not tell names of tables apart by case.
func (f *schemaFlags) routerOf(cfg *config.Config, folded bool) (*router.Router, int) {
	schema, err := f.schema(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return nil, 2
	}
	f.nodes = schema.Nodes
	for _, u := range cfg.UserList {
		if u.User == schema.User {
			f.account = u
		}
	}
	r, err := router.New(*schema, router.Options{Zone: time.Local, LowerCase: folded})
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return nil, 1
	}
	return r, 0
}

// hintedNodes are the nodes that the user's hints may name.
func (f *schemaFlags) hintedNodes() []string {
	if !f.account.Hints {
		return nil
	}
	return f.nodes
}

// schema finds that of the user, or the only one.
func (f *schemaFlags) schema(cfg *config.Config) (*config.Schema, error) {
	var users []string
	for k := range cfg.SchemaList {
		if cfg.SchemaList[k].User == f.user {
			return &cfg.SchemaList[k], nil
		}
		users = append(users, cfg.SchemaList[k].User)
	}
	switch {
	case f.user != "":
		return nil, fmt.Errorf("schema_list has no user %s: it has %s", f.user, strings.Join(users, ", "))
	case len(users) == 1:
		return &cfg.SchemaList[0], nil
	}
	return nil, fmt.Errorf("schema_list has several users: choose one of %s with -user", strings.Join(users, ", "))
}
