// Command kingshard is a MySQL sharding proxy: one binary, one YAML file.
//
//	kingshard -config /etc/ks.yaml        run the proxy
//	kingshard check ks.yaml               validate the configuration: every fault is printed
//	kingshard init ks.yaml                make the proxy's own tables and procedures on the servers
//	kingshard explain -config ks.yaml SQL how a statement would run, without a server
//	kingshard route -config ks.yaml T KEY the sub-tables of keys
//	kingshard admin -e SQL                admin SQL at a running proxy
//	kingshard top                         what a running proxy does, live
//	kingshard upgrade                     a running proxy hands its clients over to a new binary
//	kingshard hash-password PLUGIN        read a password, print the verifier to put into user_list
//	kingshard demo                        two nodes with replicas, a small sharded shop and the proxy, for a look around
//	kingshard completion SHELL            completion for bash, zsh and fish
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"kingshard/config"
	"kingshard/proxy"
	"kingshard/proxy/handover"
)

// version is set by the Makefile.
var version = "development"

func main() { os.Exit(run(os.Args[1:])) }

// run carries out the command line and returns the exit code: 0 done, 1 failed, 2 wrong arguments.
func run(args []string) int {
	if len(args) > 0 {
		if c := named(args[0]); c != &daemon {
			return c.exec(args[1:])
		}
	}
	return daemon.exec(args)
}

// serve runs the proxy until a signal ends it, or it has handed over to another process. from is the process that hands over
// to this one; nil without one.
func serve(f *flags, cfg *config.Config, from *handover.Predecessor) int {
	if from != nil {
		f.profile = "" // the old process writes its own to the same file
	}
	stopProfile, err := startProfile(f.profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return 2
	}
	defer stopProfile()
	log, err := openLog(cfg, f.logLevel)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return 1
	}
	defer log.close()
	server, err := start(cfg, log.Logger, from)
	if err != nil {
		log.Error("start failed", "error", err)
		return 1
	}
	server.SetFile(f.file)
	server.OwnProcess = true
	server.InForce = func(cfg *config.Config) { log.apply(cfg, f.logLevel) }
	log.Info("kingshard started", "version", version, "config", f.file.Path)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	super := findSupervisor()
	defer super.close()
	alive, stop := super.ticks()
	defer stop()
	const serving = "READY=1\nSTATUS=serving"
	server.Upgrading = upgrading(super, serving)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	if from == nil { // else the supervisor hears of it from the process that it knows
		super.tell(serving)
	}
	reload := reloader(server, log, super, serving)
	defer close(reload)
	for {
		select {
		case <-alive:
			super.tell("WATCHDOG=1")
		case err := <-served:
			if err == nil { // it accepts no clients any more: another process does
				alive, served, super = nil, nil, supervisor{silent: new(atomic.Bool)}
				continue
			}
			log.Error("stopped", "error", err)
			return 1
		case <-server.Left():
			return drain(server, log.Logger, "upgrade", signals)
		case sig := <-signals:
			if sig == syscall.SIGUSR2 {
				go func() { _ = server.UpgradeBySignal() }() // logged; it may take longer than a supervisor waits for a sign of life
				continue
			}
			if sig == syscall.SIGHUP || sig == syscall.SIGUSR1 {
				select {
				case reload <- struct{}{}:
				default: // the next one has not begun yet
				}
				continue
			}
			super.tell("STOPPING=1")
			super.silent.Store(true) // whatever is under way
			return drain(server, log.Logger, sig.String(), signals)
		}
	}
}

// reloader has the configuration read again at each send, until the channel is closed, on a goroutine: the servers that it is about may
// take longer to answer than a supervisor waits for a sign of life.
func reloader(server *proxy.Server, log *processLog, super supervisor, serving string) chan<- struct{} {
	reload := make(chan struct{}, 1)
	go func() {
		for range reload {
			super.reloading()
			log.reopen()
			if server.ReloadFile() != nil { // logged
				super.tell(serving + "; the last reload was refused, see the log")
			} else {
				super.tell(serving)
			}
		}
	}()
	return reload
}

// start makes the server, and takes over from another process where there is one, which hears why not.
func start(cfg *config.Config, log *slog.Logger, from *handover.Predecessor) (*proxy.Server, error) {
	if from == nil {
		return proxy.New(cfg, log)
	}
	err := from.Receive(time.Now().Add(offerPatience))
	var server *proxy.Server
	if err == nil {
		server, err = proxy.TakeOver(cfg, log, from, versionText())
	}
	if err != nil {
		from.Refuse(err.Error())
		from.Close()
	}
	return server, err
}

// offerPatience is how long the process that hands over may take to say what it has.
const offerPatience = 10 * time.Second

// upgrading is how another binary is started, and what the supervisor hears of it.
func upgrading(super supervisor, serving string) proxy.Upgrading {
	return proxy.Upgrading{
		Command: itself, Program: versionText(),
		Begun:  super.reloading,
		Failed: func() { super.tell(serving + "; the last upgrade was refused, see the log") },
		Successor: func(pid int) {
			super.tell(fmt.Sprintf("MAINPID=%d\n%s", pid, serving))
			super.silent.Store(true)
		},
		Resumed: func() {
			super.silent.Store(false)
			super.tell(fmt.Sprintf("MAINPID=%d\n%s; the last upgrade was undone, see the log", os.Getpid(), serving))
		},
	}
}

// itself starts this program anew. It is looked for at the start, when relative paths mean what they meant to the shell; where
// it cannot be found there is no upgrade.
var itself, _ = handover.CommandOf(os.Args)

// drain shuts down in order; a second signal does not wait.
func drain(server *proxy.Server, log *slog.Logger, why string, signals <-chan os.Signal) int {
	timeout := server.Config().DrainTimeout
	log.Info("draining", "signal", why, "drain_timeout", timeout.String())
	ctx, cancel := context.WithTimeout(context.Background(), timeout.Duration())
	defer cancel()
	go func() {
		for s := range signals {
			if s != syscall.SIGHUP && s != syscall.SIGUSR1 && s != syscall.SIGUSR2 {
				cancel()
				return
			}
		}
	}()
	if err := server.Shutdown(ctx); err != nil {
		log.Warn("stopped", "error", err)
	} else {
		log.Info("stopped")
	}
	return 0
}

func versionText() string {
	text := "kingshard " + version
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " " + info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				text += " commit " + s.Value
			}
		}
	}
	return text
}
