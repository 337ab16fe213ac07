// Command kingshard is a MySQL sharding proxy: one binary, one YAML file.
//
//	kingshard -config /etc/ks.yaml        run the proxy
//	kingshard check ks.yaml               validate the configuration: every fault is printed
//	kingshard explain -config ks.yaml SQL how a statement would run, without a server
//	kingshard route -config ks.yaml T KEY the sub-tables of keys
//	kingshard admin -e SQL                admin SQL at a running proxy
//	kingshard top                         what a running proxy does, live
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
	"syscall"

	"kingshard/config"
	"kingshard/proxy"
)

// version is set by the Makefile.
var version = "development"

func main() { os.Exit(run(os.Args[1:])) }

// run is main with an exit code: 0 done, 1 failed, 2 wrong arguments.
func run(args []string) int {
	if len(args) > 0 {
		if c := named(args[0]); c != &daemon {
			return c.exec(args[1:])
		}
	}
	return daemon.exec(args)
}

// serve runs the proxy until a signal ends it.
func serve(f *flags, cfg *config.Config) int {
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
	server, err := proxy.New(cfg, log.Logger)
	if err != nil {
		log.Error("start failed", "error", err)
		return 1
	}
	server.SetFile(f.file)
	server.InForce = func(cfg *config.Config) { log.apply(cfg, f.logLevel) }
	log.Info("kingshard started", "version", version, "config", f.file.Path)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	super := findSupervisor()
	defer super.close()
	alive, stop := super.ticks()
	defer stop()
	const serving = "READY=1\nSTATUS=serving"
	super.tell(serving)
	for {
		select {
		case <-alive:
			super.tell("WATCHDOG=1")
		case err := <-served:
			log.Error("stopped", "error", err)
			return 1
		case sig := <-signals:
			if sig == syscall.SIGHUP || sig == syscall.SIGUSR1 {
				super.reloading()
				log.reopen()
				if server.ReloadFile() != nil { // logged
					super.tell(serving + "; the last reload was refused, see the log")
				} else {
					super.tell(serving)
				}
				continue
			}
			super.tell("STOPPING=1")
			return drain(server, log.Logger, sig, signals)
		}
	}
}

// drain shuts down in order; a second signal does not wait.
func drain(server *proxy.Server, log *slog.Logger, sig os.Signal, signals <-chan os.Signal) int {
	timeout := server.Config().DrainTimeout
	log.Info("draining", "signal", sig.String(), "drain_timeout", timeout.String())
	ctx, cancel := context.WithTimeout(context.Background(), timeout.Duration())
	defer cancel()
	go func() {
		for s := range signals {
			if s != syscall.SIGHUP && s != syscall.SIGUSR1 {
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
