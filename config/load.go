package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// sizeMax bounds a configuration file, in bytes.
const sizeMax = 16 << 20

// Options changes how a file is read.
type Options struct {
	// Lenient makes unknown keys warnings instead of errors.
	Lenient bool
}

// Load reads the file at path as Parse does; relative paths in it start at its folder. Who may read it, and the keys that it names, is
// looked at as well.
func Load(path string, opts Options) (*Config, []Fault) {
	return (&File{Path: path, Options: opts}).Load()
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, sizeMax+1))
}

// Parse decodes one YAML document, replaces environment variables, reads the password files it names, and checks
// everything: its structure, Validate's rules, and that the files of keys and certificates are what they should be. Files
// named by relative paths are looked for in dir. All faults are given, in the order of the file; the configuration is
// nil if one of them is not a warning.
func Parse(data []byte, dir string, opts Options) (*Config, []Fault) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, []Fault{yamlFault(err)}
	}
	d := newDecoder(opts)
	c := Default()
	d.document(root, c)
	c.normalize(dir)
	var checks report
	c.validate(&checks)
	c.readFiles(&checks)
	faults := append(d.faults, d.placed(checks.faults)...)
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	if fatal(faults) {
		return nil, faults
	}
	return c, faults
}

// parseYAML gives the document's tree, nil for an empty document.
func parseYAML(data []byte) (*yaml.Node, error) {
	if len(data) > sizeMax {
		return nil, fmt.Errorf("the file is larger than %d MiB", sizeMax>>20)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err != io.EOF {
		return nil, fmt.Errorf("line %d: the file holds more than one YAML document", max(more.Line, 1))
	}
	if err := checkAliases(&doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// yamlFault words an error of the YAML parser. An unquoted value that begins with * is an alias to the parser, whose error
// would show it; it may be a password.
func yamlFault(err error) Fault {
	text := err.Error()
	if strings.Contains(text, "unknown anchor") {
		return Fault{Text: "an alias (*name) has no anchor (&name): quote a value that begins with *"}
	}
	f := Fault{Text: strings.TrimPrefix(text, "yaml: ")}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		f.Text = text[len(m[0]):]
	}
	return f
}

// normalize brings values that may be written in several ways to one form, and paths to absolute ones.
func (c *Config) normalize(dir string) {
	c.Addr = strings.TrimSpace(c.Addr)
	c.WebAddr = localAddr(strings.TrimSpace(c.WebAddr))
	c.AdminAddr = localAddr(strings.TrimSpace(c.AdminAddr))
	c.Tracing.Endpoint = strings.TrimSpace(c.Tracing.Endpoint)
	c.LogLevel = strings.ToLower(c.LogLevel)
	c.LogSQL = strings.ToLower(c.LogSQL)
	c.ProxyCharset = strings.ToLower(c.ProxyCharset)
	for k := range c.Nodes {
		n := &c.Nodes[k]
		n.Master = strings.TrimSpace(n.Master)
		if n.MaxConnsLimit <= 0 {
			n.MaxConnsLimit = maxConnsDefault
		}
	}
	for _, p := range c.files() {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
}

// files gives the fields that name a file to read.
func (c *Config) files() []*string {
	f := []*string{&c.BlacklistSQLFile, &c.AuthRSAKey, &c.WebTLSCert, &c.WebTLSKey, &c.TLS.Cert, &c.TLS.Key, &c.TLS.CA}
	for k := range c.UserList {
		f = append(f, &c.UserList[k].PasswordFile)
	}
	for k := range c.WebTokens {
		f = append(f, &c.WebTokens[k].TokenFile)
	}
	for k := range c.Nodes {
		n := &c.Nodes[k]
		f = append(f, &n.PasswordFile, &n.AdminPasswordFile, &n.ReplicationPasswordFile, &n.ServerPublicKey, &n.TLS.CA, &n.TLS.Cert, &n.TLS.Key)
	}
	return f
}
