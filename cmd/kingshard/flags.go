package main

import (
	"flag"
	"fmt"
	"os"

	"kingshard/config"
)

const usage = `usage: kingshard [flags]
       kingshard explain [flags] 'SQL'           how a statement would run
       kingshard route [flags] DB.TABLE KEY...   the sub-tables of keys
       kingshard demo [flags]                    a look around
       kingshard hash-password PLUGIN < password

`

// flags are the command line of the daemon.
type flags struct {
	config, logLevel        string
	profile                 string
	check, version, lenient bool
}

// parseFlags reads the command line; nil when it is wrong, which has been printed then.
func parseFlags(args []string) *flags {
	f := new(flags)
	set := flag.NewFlagSet("kingshard", flag.ContinueOnError)
	set.StringVar(&f.config, "config", "/etc/ks.yaml", "configuration `file`")
	set.StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error; stronger than log_level of the file")
	set.StringVar(&f.profile, "profile", "", "write a profile of the whole run into the working directory: cpu, mem, mutex, block or trace")
	set.BoolVar(&f.check, "check", false, "validate the configuration, print every fault and exit")
	set.BoolVar(&f.lenient, "lenient", false, "warn of unknown keys in the configuration instead of refusing them")
	set.BoolVar(&f.version, "version", false, "print the version and exit")
	set.BoolVar(&f.version, "v", false, "short for -version")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return nil
	}
	if set.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "kingshard: %q is neither a flag nor a command (explain, route, demo, hash-password)\n", set.Arg(0))
		return nil
	}
	return f
}

// load reads the configuration and prints its faults and warnings.
func (f *flags) load() (*config.Config, bool) {
	cfg, faults := config.Load(f.config, config.Options{Lenient: f.lenient})
	for _, fault := range faults {
		fmt.Fprintf(os.Stderr, "%s: %s\n", f.config, fault)
	}
	if cfg == nil {
		fmt.Fprintf(os.Stderr, "kingshard: %s is not valid\n", f.config)
	}
	return cfg, cfg != nil
}
