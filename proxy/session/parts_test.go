package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// partsInOrder are the parts of a session: each knows earlier ones only.
var partsInOrder = []string{
	"client", "effects", "leases", "routing", "exchanges", "rights", "settings", "login", "kills", "ours", "stmts",
	"shards", "queries", "changes", "definitions", "several", "laned",
}

// wholes know a Session: the loops, which hand sessions to goroutines, and who carries statements out by others.
var wholes = []string{"laned", "composer", "composed"}

// Links between parts point one way, and no other part than wholes knows a Session.
func TestPartsPointOneWay(t *testing.T) {
	links, strangers := 0, 0
	for _, f := range sources(t) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if of := receiver(d); of != "Session" && of != "Lanes" && mentions(d.Type.Params, "Session") {
					t.Errorf("%s takes a Session", d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					ts, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					st, ok := ts.Type.(*ast.StructType)
					if !ok {
						continue
					}
					own := slices.Index(partsInOrder, ts.Name.Name)
					for _, field := range st.Fields.List {
						name := typeName(field.Type)
						if name == "Session" && !slices.Contains(wholes, ts.Name.Name) {
							t.Errorf("%s has a Session", ts.Name.Name)
						} else if name == "Session" {
							strangers++
						}
						other := slices.Index(partsInOrder, name)
						if own < 0 || other < 0 || ts.Name.Name == "exchanges" && name == "several" { // which it makes, and hands out
							continue
						}
						links++
						if other >= own {
							t.Errorf("%s links to %s, which comes after it", ts.Name.Name, name)
						}
					}
				}
			}
		}
	}
	if links < 30 || strangers != len(wholes) {
		t.Errorf("%d links seen, and %d Sessions", links, strangers)
	}
}

// sources parses the package's files, tests aside.
func sources(t *testing.T) (files []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	return files
}

// receiver names the type that a function is a method of; "" for a plain function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	return typeName(d.Recv.List[0].Type)
}

// typeName names a type of the package, or what a pointer to one or a list of them points to; "" for others.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return typeName(e.Elt)
	case *ast.ChanType:
		return typeName(e.Value)
	}
	return ""
}

// mentions reports whether a parameter is of a type.
func mentions(params *ast.FieldList, name string) bool {
	return slices.ContainsFunc(params.List, func(f *ast.Field) bool { return typeName(f.Type) == name })
}
