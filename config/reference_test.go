package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/config.md")

const referenceFile = "../docs/config.md"

// sections are the mappings of the file in the order of the reference.
var sections = []struct {
	path  string
	typ   reflect.Type
	value reflect.Value // holds the defaults
}{
	{"", reflect.TypeFor[Config](), reflect.ValueOf(*Default())},
	{"tls", reflect.TypeFor[ServerTLS](), reflect.ValueOf(Default().TLS)},
	{"user_list[]", reflect.TypeFor[User](), withDefaults(new(User))},
	{"query_rules[]", reflect.TypeFor[QueryRule](), reflect.ValueOf(QueryRule{})},
	{"tracing", reflect.TypeFor[Tracing](), reflect.ValueOf(Default().Tracing)},
	{"web_tokens[]", reflect.TypeFor[WebToken](), withDefaults(new(WebToken))},
	{"nodes[]", reflect.TypeFor[Node](), withDefaults(new(Node))},
	{"nodes[].tls", reflect.TypeFor[NodeTLS](), reflect.ValueOf(NodeTLS{Mode: tlsDisabled})},
	{"schema_list[]", reflect.TypeFor[Schema](), reflect.ValueOf(Schema{})},
	{"schema_list[].shard[]", reflect.TypeFor[Shard](), reflect.ValueOf(Shard{})},
	{"schema_list[].shard[].sequence", reflect.TypeFor[Sequence](), reflect.ValueOf(Sequence{})},
	{"schema_list[].shard[].unique[]", reflect.TypeFor[Index](), reflect.ValueOf(Index{})},
	{"schema_list[].shard[].tables[]", reflect.TypeFor[PhysicalTable](), reflect.ValueOf(PhysicalTable{})},
}

func withDefaults(d defaulter) reflect.Value {
	d.setDefaults(func(string) string { return "" })
	return reflect.ValueOf(d).Elem()
}

// TestReference checks that docs/config.md says what the structs say; -update writes it.
func TestReference(t *testing.T) {
	want := reference(t)
	if *update {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/config.md is not current: run go generate ./config")
	}
}

const introduction = `<!-- Generated from config/config.go by go generate ./config; do not edit. -->

# Configuration

One YAML file. It is read at start and again on reload; a file with a fault is refused as a whole, with every fault
named by key and line, and on reload the running configuration stays. Unknown keys and keys given twice are faults.
Samples: [etc/ks.yaml](../etc/ks.yaml) to start from, [etc/full.yaml](../etc/full.yaml) with every key.

- A key that is absent or empty has its default. The reload column says "no" for what cannot
  change while the proxy runs: a reload that would change it is refused. It says "set" for what KS SET can change, too.
- ` + "`${NAME}` and `${NAME:-default}`" + ` in a value are replaced by environment variables; the default also stands in for an
  empty one, and a variable that is not set and has no default is a fault. ` + "`$$`" + ` is one ` + "`$`" + `; any other ` + "`$`" + ` stays. Keys are not replaced.
- Sizes are bytes, or powers of 1024 with K, M or G: ` + "`64M`" + `. Times are such as ` + "`250ms`, `5s`, `10m`, `8h`" + `; a number alone is seconds.
- Files named by relative paths are looked for in the folder of the configuration file; only log_path starts at the
  working directory.
- Quote values that begin with one of ` + "`* & ! # @ %`" + `, as YAML gives them a meaning of its own.
- YAML anchors, aliases and merge keys (` + "`<<`" + `) work, within 100000 values; tags do not. A file has at most 16 MiB.
`

func reference(t *testing.T) string {
	comments := fieldComments(t)
	var b strings.Builder
	b.WriteString(introduction)
	for _, s := range sections {
		title := "Top level"
		if s.path != "" {
			title = "`" + s.path + "`"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | type | default | reload | meaning |\n| --- | --- | --- | --- | --- |\n", title, comments[s.typ.Name()])
		for k := range s.typ.NumField() {
			field := s.typ.Field(k)
			comment := comments[s.typ.Name()+"."+field.Name]
			if comment == "" {
				t.Errorf("%s.%s has no comment", s.typ.Name(), field.Name)
			}
			names := "`" + field.Tag.Get("yaml") + "`"
			if alias := field.Tag.Get("alias"); alias != "" {
				names += " or `" + alias + "`"
			}
			reload := "yes"
			if tag := field.Tag.Get("reload"); tag != "" {
				reload = tag
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", names, typeName(field.Type), defaultText(s.value.Field(k)), reload, comment)
		}
	}
	return b.String()
}

// fieldComments gives the comments of config.go by "Type" and "Type.Field", on one line each.
func fieldComments(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, decl := range file.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		spec := types.Specs[0].(*ast.TypeSpec)
		name := spec.Name.Name
		sentence := strings.TrimPrefix(oneLine(types.Doc.Text()), name+" is ")
		if name == "Config" {
			sentence = "The whole file."
		}
		comments[name] = strings.ToUpper(sentence[:1]) + sentence[1:]
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			for _, ident := range field.Names {
				comments[name+"."+ident.Name] = oneLine(field.Doc.Text())
			}
		}
	}
	return comments
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "time"
	case reflect.TypeFor[LagBound]():
		return "time or auto"
	case reflect.TypeFor[ByteSize]():
		return "size"
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[Verifiers]():
		return "plugin: secret"
	case reflect.TypeFor[Headers]():
		return "name: secret"
	case reflect.TypeFor[Zones]():
		return "address: zone"
	case reflect.TypeFor[Pins]():
		return "key: node"
	case reflect.TypeFor[Ratio]():
		return "number"
	case reflect.TypeFor[Columns]():
		return "text or list of texts"
	}
	switch t.Kind() {
	case reflect.Struct:
		return "mapping"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "list of mappings"
		}
		if t.Elem().Kind() == reflect.Slice {
			return "list of lists of " + typeName(t.Elem().Elem()) + "s"
		}
		return "list of " + typeName(t.Elem()) + "s"
	case reflect.Int:
		return "number"
	case reflect.Bool:
		return "true or false"
	}
	return "text"
}

func defaultText(v reflect.Value) string {
	if k := v.Kind(); k == reflect.Struct || k == reflect.Slice || k == reflect.Map || v.Type() == reflect.TypeFor[Secret]() || v.IsZero() && k == reflect.String {
		return ""
	}
	return "`" + show(v) + "`"
}
