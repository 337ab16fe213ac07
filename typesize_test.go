package kingshard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// A type with more methods or fields than these is several. Those of the configuration have a field for each option.
const (
	methodsMax = 60
	fieldsMax  = 30
)

// typeSize is how many methods and fields a type has.
type typeSize struct{ methods, fields int }

func TestTypeSizes(t *testing.T) {
	sizes := map[string]typeSize{}
	walk(t, func(dir, file string) {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") || dir == "config" {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := receiverOf(d); name != "" {
					s := sizes[dir+"."+name]
					s.methods++
					sizes[dir+"."+name] = s
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					ts, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					if st, ok := ts.Type.(*ast.StructType); ok {
						s := sizes[dir+"."+ts.Name.Name]
						for _, field := range st.Fields.List {
							s.fields += max(1, len(field.Names))
						}
						sizes[dir+"."+ts.Name.Name] = s
					}
				}
			}
		}
	})
	if len(sizes) < 500 {
		t.Errorf("only %d types seen", len(sizes))
	}
	for name, s := range sizes {
		if s.methods > methodsMax || s.fields > fieldsMax {
			t.Errorf("%s has %d methods and %d fields, more than %d and %d: it is several things", name, s.methods, s.fields, methodsMax, fieldsMax)
		}
	}
}

// receiverOf is the name of the type that a function is a method of; "" of a plain function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
