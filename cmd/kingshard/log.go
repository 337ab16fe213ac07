package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"kingshard/config"
)

// openLog opens the log that the configuration names: sys.log under log_path, else standard error. The level can be
// changed while it is in use.
func openLog(cfg *config.Config, flag string) (*slog.Logger, *slog.LevelVar, func(), error) {
	l, err := parseLevel(flag, cfg)
	if err != nil {
		return nil, nil, nil, err
	}
	level := new(slog.LevelVar)
	level.Set(l)
	var out io.Writer = os.Stderr
	closeLog := func() {}
	if cfg.LogPath != "" {
		if err := os.MkdirAll(cfg.LogPath, 0o750); err != nil {
			return nil, nil, nil, fmt.Errorf("log_path: %w", err)
		}
		f, err := os.OpenFile(filepath.Join(cfg.LogPath, "sys.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("log_path: %w", err)
		}
		out, closeLog = f, func() { _ = f.Close() }
	}
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options)), level, closeLog, nil
	}
	return slog.New(slog.NewTextHandler(out, options)), level, closeLog, nil
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
