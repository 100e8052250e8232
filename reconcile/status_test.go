package reconcile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// TestStatuses: the list has every constant of the type.
func TestStatuses(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "input.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Status
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Status" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, Status(text))
		}
		return true
	})
	if !slices.Equal(declared, Statuses()) {
		t.Errorf("declared %v, listed %v", declared, Statuses())
	}
}
