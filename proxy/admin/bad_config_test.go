package admin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/config"
)

// A reload with a fault, of every kind that there is, changes nothing, and the answer names each field.
func TestReloadWithFaults(t *testing.T) {
	p := start(t, nil)
	root, app := p.client("root"), p.client("app")
	files, err := filepath.Glob("../../config/testdata/*.bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before := p.Config()
	generation := func() string { return rows(t, root, "SHOW KS STATUS LIKE 'Config_generation'")[0][1] }
	first := generation()
	refused := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p.write(string(data))
		cfg, faults := (&config.File{Path: p.file}).Load()
		if cfg != nil {
			continue // a warning only
		}
		refused++
		words := []string{"the running configuration stays"}
		for _, f := range faults {
			if !f.Warning {
				words = append(words, f.Path, f.Text)
			}
		}
		for _, text := range []string{"KS RELOAD CHECK", "KS RELOAD"} {
			fails(t, root, text, 9032, words...)
		}
		if p.Config() != before {
			t.Fatalf("%s: the configuration changed", filepath.Base(file))
		}
	}
	if refused < 40 {
		t.Errorf("only %d faulty files", refused)
	}
	if got := generation(); got != first {
		t.Errorf("generation %s, was %s", got, first)
	}
	if got := rows(t, app, "SELECT name"); got[0][0] != "n2" {
		t.Errorf("served by %s", got)
	}
	if got := rows(t, root, "SHOW KS EVENTS WHERE what = 'reload' AND outcome LIKE 'reload refused%'"); len(got) != refused {
		t.Errorf("%d events of %d refused reloads", len(got), refused)
	}
	if strings.Contains(p.log.String(), "level=INFO msg=reloaded") {
		t.Error("the log says reloaded")
	}
}
