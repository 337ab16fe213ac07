package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestBadFiles parses testdata/*.bad.yaml, one for each thing that can be wrong: the faults must be exactly those of the
// "# want:" lines at the top.
func TestBadFiles(t *testing.T) {
	t.Setenv("KS_TEST_WORD", "sesame")
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".bad.yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for line := range strings.Lines(string(data)) {
				if text, ok := strings.CutPrefix(line, "# want: "); ok {
					want = append(want, strings.TrimSpace(text))
				}
			}
			c, faults := Parse(data, "testdata", Options{})
			for _, f := range faults {
				if f.Line == 0 && strings.ContainsAny(f.Path, ".[") {
					t.Errorf("%v: no line", f)
				}
				if strings.Contains(f.String(), "sesame") && !strings.Contains(f.String(), "KS_") {
					t.Errorf("%v: shows a secret", f)
				}
				f.Line = 0
				got = append(got, f.String())
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if (c == nil) != fatal(faults) {
				t.Errorf("configuration %v with faults %v", c != nil, faults)
			}
		})
	}
}

func TestFaultLines(t *testing.T) {
	data := `addr: 127.0.0.1:9696
low_log_time: 5
user_list:
- user: app
  password: sesame
  hosts: nowhere
nodes:
- name: node1
  user: ks
  master: 10.0.0.1
- name: node2
  user: ks
schema_list:
- user: app
  nodes: [node1]
  default: node1
`
	_, faults := Parse([]byte(data), "", Options{})
	var got []string
	for _, f := range faults {
		got = append(got, f.String())
	}
	want := []string{
		"line 2: low_log_time: unknown key; did you mean slow_log_time?",
		`line 6: user_list[0].hosts: "nowhere" is neither an IP address nor a network such as 10.0.0.0/8`,
		"line 10: nodes[0].master: must be host:port with a port of 1 to 65535, or the absolute path of a unix socket",
		"line 11: nodes[1].master: is required: the address of the primary",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestYAMLErrorHasLine(t *testing.T) {
	_, faults := Parse([]byte("addr: x\nnodes: [\n  a\n"), "", Options{})
	if len(faults) != 1 || faults[0].Line == 0 || strings.Contains(faults[0].Text, "line") {
		t.Errorf("%+v", faults)
	}
}

func TestLenient(t *testing.T) {
	data, err := os.ReadFile("testdata/unknown_key.bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, faults := Parse(data, "", Options{Lenient: true})
	if c == nil || len(faults) != 1 || !faults[0].Warning || faults[0].Path != "low_log_time" {
		t.Errorf("configuration %v, faults %v", c != nil, faults)
	}
}

func TestSizeLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(file, []byte("#"+strings.Repeat("x", sizeMax)), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, faults := Load(file, Options{}); c != nil || len(faults) != 1 || faults[0].Text != "the file is larger than 16 MiB" {
		t.Errorf("%v", faults)
	}
}

func TestLoadMissingFile(t *testing.T) {
	c, faults := Load(filepath.Join(t.TempDir(), "absent.yaml"), Options{})
	if c != nil || len(faults) != 1 || faults[0].Warning || !strings.Contains(faults[0].Text, "absent.yaml") {
		t.Errorf("%v", faults)
	}
}

func TestDefaultIsNotComplete(t *testing.T) {
	var paths []string
	for _, f := range Default().Validate() {
		paths = append(paths, f.Path)
	}
	if want := []string{"addr", "user_list", "nodes"}; !slices.Equal(paths, want) {
		t.Errorf("faults of %v, want of %v", paths, want)
	}
}

// Every key that is not a text refuses what is none of its values, by name and line.
func TestEveryKeyRefusesNonsense(t *testing.T) {
	base := saveBase + "web_tokens:\n- {name: one, token: sixteencharacters}\ntracing: {endpoint: \"collector:4318\"}\n"
	checked := 0
	for _, p := range mustParse(t, base).places() {
		if k := p.value.Kind(); k == reflect.String || k == reflect.Map {
			continue
		}
		data, err := editScalar([]byte(base), p.in, p.names, `"no such value"`)
		if err != nil {
			if p.in != nil && p.in[0] != "tls" && len(p.in) < 3 && p.value.Kind() != reflect.Slice {
				t.Errorf("%s: %v", p.Path, err)
			}
			continue // a mapping that the file has not
		}
		checked++
		at := ""
		for _, step := range p.in {
			if n, element := step.(int); element {
				at += fmt.Sprintf("[%d]", n)
			} else {
				at = join(at, step.(string))
			}
		}
		at = join(at, p.names[0])
		c, faults := Parse(data, "", Options{})
		if c != nil || len(faults) == 0 {
			t.Errorf("%s: taken, faults %v", at, faults)
			continue
		}
		for _, f := range faults {
			if !strings.HasPrefix(f.Path, at) || f.Line == 0 {
				t.Errorf("%s: fault %v", at, f)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d keys", checked)
	}
}
