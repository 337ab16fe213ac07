package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/config"
)

// The log follows a reload: its level, and its file, which somebody has renamed.
func TestProcessLog(t *testing.T) {
	cfg := config.Default()
	cfg.LogPath = filepath.Join(t.TempDir(), "logs")
	path := filepath.Join(cfg.LogPath, "sys.log")
	log, err := openLog(cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	log.reopen()
	log.Debug("below the level")
	cfg.LogLevel = "debug"
	log.apply(cfg, "")
	log.Debug("after the reload")
	log.close()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "after the reload") || strings.Contains(string(text), "below the level") {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := openLog(cfg, "loud"); err == nil {
		t.Error("any level is taken")
	}
}
