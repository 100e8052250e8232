package estimator

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables in the docs anew")

const (
	lengthsBegin = "<!-- lengths: begin -->\n"
	lengthsEnd   = "<!-- lengths: end -->"
)

// described is an architecture and the lines of its description.
type described struct {
	modelType string
	lines     int
}

// TestDescriptionsAreShort measures the descriptions: the language has its words
// if most families take a few lines and none a page.
func TestDescriptionsAreShort(t *testing.T) {
	all := measureDescriptions(t)
	if len(all) < len(Architectures())*9/10 {
		t.Fatalf("only %d of %d descriptions found in the source", len(all), len(Architectures()))
	}
	slices.SortFunc(all, func(a, b described) int {
		return cmp.Or(cmp.Compare(a.lines, b.lines), cmp.Compare(a.modelType, b.modelType))
	})
	median := all[len(all)/2].lines
	if median > 8 {
		t.Errorf("the median description has %d lines, more than 8", median)
	}
	for _, d := range all {
		if d.lines > 40 {
			t.Errorf("%s takes %d lines, more than 40: the language lacks a word", d.modelType, d.lines)
		}
	}
	t.Logf("%d descriptions, median %d lines", len(all), median)
	checkLengthTable(t, all, median)
}

// measureDescriptions finds the entries of the family lists: a model type, a
// class, and a function literal or the name of a function.
func measureDescriptions(t *testing.T) []described {
	t.Helper()
	files, err := filepath.Glob("arch_*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	functions := make(map[string]int)
	var parsed []*ast.File
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				functions[f.Name.Name] = linesOf(set, f)
			}
		}
	}
	var all []described
	for _, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			entry, ok := n.(*ast.CompositeLit)
			if !ok || len(entry.Elts) != 3 {
				return true
			}
			name, ok := entry.Elts[0].(*ast.BasicLit)
			if !ok || name.Kind != token.STRING {
				return true
			}
			modelType, err := strconv.Unquote(name.Value)
			if err != nil {
				return true
			}
			if _, known := Lookup(modelType); known {
				all = append(all, described{modelType, descriptionLines(set, entry.Elts[2], functions)})
			}
			return true
		})
	}
	return all
}

// descriptionLines is the length of a function literal, or of the function that
// is named or called in the entry.
func descriptionLines(set *token.FileSet, e ast.Expr, functions map[string]int) int {
	switch e := e.(type) {
	case *ast.Ident:
		return functions[e.Name]
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.Ident); ok {
			return functions[f.Name]
		}
	}
	return linesOf(set, e)
}

func linesOf(set *token.FileSet, n ast.Node) int {
	return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1
}

// checkLengthTable compares the shortest and the longest with the docs.
func checkLengthTable(t *testing.T, all []described, median int) {
	t.Helper()
	const file = "../docs/architecture.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%d architectures, median %d lines.\n\n| shortest | lines | longest | lines |\n|---|---:|---|---:|\n", len(all), median)
	for i := range min(10, len(all)/2) {
		short, long := all[i], all[len(all)-1-i]
		fmt.Fprintf(&table, "| %s | %d | %s | %d |\n", short.modelType, short.lines, long.modelType, long.lines)
	}
	before, rest, ok := strings.Cut(string(text), lengthsBegin)
	_, after, closed := strings.Cut(rest, lengthsEnd)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table of lengths", file)
	}
	want := before + lengthsBegin + table.String() + lengthsEnd + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is out of date: run go test ./estimator -run Short -update", file)
	}
}
