package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"kingshard/config"
	"kingshard/proxy/querylog"
)

// processLog is sys.log under log_path, else standard error. Lines for the file do not wait for the disk.
type processLog struct {
	*slog.Logger
	level slog.LevelVar
	file  *querylog.Writer // nil: standard error
}

// openLog opens the log that the configuration names; the flag's level, if there is one, is stronger. The caller closes it.
func openLog(cfg *config.Config, flag string) (*processLog, error) {
	level, err := parseLevel(flag, cfg)
	if err != nil {
		return nil, err
	}
	l := new(processLog)
	l.level.Set(level)
	var out io.Writer = os.Stderr
	if cfg.LogPath != "" {
		if err := os.MkdirAll(cfg.LogPath, 0o750); err != nil {
			return nil, fmt.Errorf("log_path: %w", err)
		}
		if l.file, err = querylog.OpenWriter(filepath.Join(cfg.LogPath, "sys.log"), querylog.RotationOf(cfg)); err != nil {
			return nil, fmt.Errorf("log_path: %w", err)
		}
		out = l.file
	}
	options := &slog.HandlerOptions{Level: &l.level}
	if cfg.LogFormat == "json" {
		l.Logger = slog.New(slog.NewJSONHandler(out, options))
	} else {
		l.Logger = slog.New(slog.NewTextHandler(out, options))
	}
	return l, nil
}

// reopen has the file opened anew, as somebody may have renamed it.
func (l *processLog) reopen() {
	if l.file != nil {
		l.file.Reopen()
	}
}

// apply follows a reload.
func (l *processLog) apply(cfg *config.Config, flag string) {
	if level, err := parseLevel(flag, cfg); err == nil {
		l.level.Set(level)
	}
	if l.file != nil {
		l.file.Rotate(querylog.RotationOf(cfg))
	}
}

// close writes what is queued.
func (l *processLog) close() {
	if l.file == nil {
		return
	}
	if err := l.file.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
	}
}

// parseLevel gives the level of the command line, else that of the configuration.
func parseLevel(flag string, cfg *config.Config) (slog.Level, error) {
	if flag == "" {
		flag = cfg.LogLevel
	}
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(flag))); err != nil {
		return l, fmt.Errorf("log level %q: debug, info, warn or error", flag)
	}
	return l, nil
}
