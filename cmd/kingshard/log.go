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

// openLog opens the log that the configuration names: sys.log under log_path, else standard error.
func openLog(cfg *config.Config, level string) (*slog.Logger, func(), error) {
	var out io.Writer = os.Stderr
	closeLog := func() {}
	if cfg.LogPath != "" {
		if err := os.MkdirAll(cfg.LogPath, 0o750); err != nil {
			return nil, nil, fmt.Errorf("log_path: %w", err)
		}
		f, err := os.OpenFile(filepath.Join(cfg.LogPath, "sys.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
		if err != nil {
			return nil, nil, fmt.Errorf("log_path: %w", err)
		}
		out, closeLog = f, func() { _ = f.Close() }
	}
	if level == "" {
		level = cfg.LogLevel
	}
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(level))); err != nil {
		return nil, nil, fmt.Errorf("log level %q: debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: l}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options)), closeLog, nil
	}
	return slog.New(slog.NewTextHandler(out, options)), closeLog, nil
}
