package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"kingshard/cmd/kingshard/demo"
	"kingshard/cmd/kingshard/remote"
)

// command is something that the binary does besides being the proxy.
type command struct {
	name    string // "": the proxy itself
	args    string // what stands behind the flags, as the usage shows it
	summary string // a few words
	about   string // whole sentences for -h
	// bind adds the command's flags to a set and gives what runs it, with the arguments behind the flags, once they are read.
	// The outcome is the exit code: 0 done, 1 failed, 2 wrong arguments.
	bind func(set *flag.FlagSet) func(args []string) int
}

// commands are all, in the order of -h.
var commands []*command

func init() {
	commands = []*command{
		&check, &initCommand, &explainCommand, &routeCommand,
		{name: "admin", args: "[-e 'SQL']", summary: "admin SQL at a running proxy", about: remote.AdminAbout, bind: remote.Admin},
		{name: "top", summary: "what a running proxy does, live", about: remote.TopAbout, bind: remote.Top},
		{name: "upgrade", summary: "a running proxy hands over to a new binary", about: remote.UpgradeAbout, bind: remote.Upgrade},
		&hashPasswordCommand,
		{name: "demo", summary: "two nodes with replicas, a small sharded shop and the proxy", about: demo.About, bind: demo.Bind},
		&completionCommand,
	}
}

func names() []string {
	var all []string
	for _, c := range commands {
		all = append(all, c.name)
	}
	return all
}

// named finds a command; the proxy itself where there is none of that name.
func named(name string) *command {
	for _, c := range commands {
		if c.name == name {
			return c
		}
	}
	return &daemon
}

// set makes the flags of the command, and what runs it.
func (c *command) set() (*flag.FlagSet, func(args []string) int) {
	set := flag.NewFlagSet(c.title(), flag.ContinueOnError)
	set.SetOutput(io.Discard) // errors are printed once, and without all of the usage
	run := c.bind(set)
	return set, run
}

func (c *command) title() string {
	if c.name == "" {
		return "kingshard"
	}
	return "kingshard " + c.name
}

// exec reads the command's flags and runs it.
func (c *command) exec(args []string) int {
	set, run := c.set()
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		c.help(os.Stdout, set)
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v; %s -h shows what there is\n", c.title(), err, c.title())
		return 2
	}
	return run(set.Args())
}

// help prints what -h shows.
func (c *command) help(w io.Writer, set *flag.FlagSet) {
	fmt.Fprintf(w, "usage: %s [flags]", c.title())
	if c.args != "" {
		fmt.Fprint(w, " "+c.args)
	}
	fmt.Fprintln(w)
	if c.name == "" {
		t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		for _, one := range commands {
			fmt.Fprintf(t, "       %s\t%s\n", one.title(), one.summary)
		}
		_ = t.Flush()
	}
	fmt.Fprintf(w, "\n%s\n", c.about)
	flags := 0
	set.VisitAll(func(*flag.Flag) { flags++ })
	if flags > 0 {
		fmt.Fprint(w, "\nflags:\n")
		set.SetOutput(w)
		set.PrintDefaults()
	}
	if c.name == "" {
		fmt.Fprintln(w, "\nkingshard COMMAND -h says more of a command.")
	}
}
