package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"kingshard/config"
	"kingshard/proxy"
	"kingshard/proxy/handover"
)

// flags are the command line of the daemon.
type flags struct {
	file           config.File
	logLevel       string
	profile        string
	check, version bool
	checkServers   bool // what check looks at, too
	coreDumps      bool
}

// daemon is what the command line is about when it names no command.
var daemon = command{
	about: `Without a command it runs the proxy until SIGTERM, which drains it. SIGHUP and SIGUSR1 read the configuration again.
SIGUSR2 starts the binary's file, which may be a new one, and hands listeners and sessions over to its process.`,
	bind: func(set *flag.FlagSet) func([]string) int {
		f := new(flags)
		f.bindConfig(set)
		set.StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error; stronger than log_level of the file")
		set.StringVar(&f.profile, "profile", "", "write a profile of the whole run into the working directory: cpu, mem, mutex, block or trace")
		set.BoolVar(&f.coreDumps, "core-dumps", false, "let the kernel write core dumps, which hold passwords of servers and values of statements, and let debuggers of the same user in")
		set.BoolVar(&f.check, "check", false, "validate the configuration, print every fault and exit")
		set.BoolVar(&f.version, "version", false, "print the version and exit")
		set.BoolVar(&f.version, "v", false, "short for -version")
		return func(args []string) int {
			if len(args) > 0 {
				fmt.Fprintf(os.Stderr, "kingshard: %q is neither a flag nor a command (%s)\n", args[0], strings.Join(names(), ", "))
				return 2
			}
			return f.run()
		}
	},
}

// bindConfig adds the flags that say which configuration is meant.
func (f *flags) bindConfig(set *flag.FlagSet) {
	set.StringVar(&f.file.Path, "config", "/etc/ks.yaml", "configuration `file`")
	set.BoolVar(&f.file.Options.Lenient, "lenient", false, "warn of unknown keys in the configuration instead of refusing them")
}

// load reads the configuration and prints its faults and warnings.
func (f *flags) load() (*config.Config, bool) {
	cfg, faults := f.file.Load()
	for _, fault := range faults {
		fmt.Fprintf(os.Stderr, "%s: %s\n", f.file.Path, fault)
	}
	if cfg == nil {
		fmt.Fprintf(os.Stderr, "kingshard: %s is not valid\n", f.file.Path)
	}
	return cfg, cfg != nil
}

// run does what the flags say: print the version, check the configuration, or serve.
func (f *flags) run() int {
	if f.version {
		fmt.Println(versionText())
		return 0
	}
	if f.check {
		cfg, ok := f.load()
		if !ok {
			return 1
		}
		if err := proxy.Check(cfg); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\nkingshard: %s is not valid\n", f.file.Path, err, f.file.Path)
			return 1
		}
		fmt.Println(f.file.Path + " is valid")
		warnOfCase(cfg, f.file.Path)
		recommendMissing(cfg, f.file.Path)
		if f.checkServers && !all(checkServers(cfg), checkRules(cfg), checkTables(cfg)) {
			return 1
		}
		return 0
	}
	if !f.coreDumps { // before anything secret is read
		if err := noCore(); err != nil {
			fmt.Fprintln(os.Stderr, "kingshard:", err)
			return 1
		}
	}
	from, err := handover.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return 2
	}
	cfg, ok := f.load()
	if !ok {
		if from != nil {
			from.Refuse(f.file.Path + " is not valid: kingshard check says more")
			from.Close()
		}
		return 1
	}
	return serve(f, cfg, from)
}

// check is kingshard -check under a name of its own.
var check = command{
	name: "check", args: "[FILE]", summary: "every fault of the configuration",
	about: `Reads the configuration as the proxy would and prints every fault with its path. Nothing listens, and no server is asked
unless -servers is given: then it logs in to each, by user and admin_user, and says which rights they lack for the sharded
tables, which they have that a proxy needs for nothing, and how to close them further.
Exit status: 0 it is valid, 1 it is not or something is missing, 2 wrong arguments.`,
	bind: func(set *flag.FlagSet) func([]string) int {
		f := &flags{check: true}
		f.bindConfig(set)
		set.BoolVar(&f.checkServers, "servers", false, "log in to the servers, too, and look at the rights of the accounts")
		return func(args []string) int {
			if len(args) > 1 {
				fmt.Fprintln(os.Stderr, "kingshard check: one configuration at a time")
				return 2
			}
			if len(args) == 1 {
				f.file.Path = args[0]
			}
			return f.run()
		}
	},
}
