package finding

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/findings.md")

// groups are the hundreds of the codes.
var groups = []struct{ digit, title string }{
	{"1", "Files and headers"}, {"2", "Sets of files and their index"}, {"3", "config.json"}, {"4", "The ledger"},
	{"5", "Quantisation"}, {"6", "Adapters"}, {"7", "Layouts and damage"}, {"8", "Audit"}, {"9", "Others"},
}

// document writes the table of codes for readers.
func document() string {
	var b strings.Builder
	b.WriteString(`# Findings

Every finding has a stable code, a severity, and names the tensors, fields or
file concerned. An **error** makes the command exit with 1: the reference library
refuses the checkpoint, or would load it wrong. A **warning** leaves a doubt. A
**note** explains.

This page is written from the table in ` + "`finding/codes.go`" + `; a test compares the two.
`)
	for _, g := range groups {
		rows := slices.DeleteFunc(Codes(), func(c Code) bool { return c.Code[3:4] != g.digit })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| code | name | severity | cause | remedy |\n|---|---|---|---|---|\n", g.title)
		for _, c := range rows {
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", c.Code, c.Name, c.Severity, c.Cause, c.Remedy)
		}
	}
	return b.String()
}

// TestDocument holds docs/findings.md to the table.
func TestDocument(t *testing.T) {
	const path = "../docs/findings.md"
	want := document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/findings.md is not what the table says: run go test ./finding -update")
	}
}

// TestCodes checks the table's form.
func TestCodes(t *testing.T) {
	code, name := regexp.MustCompile(`^HFI[1-9][0-9]{2}$`), regexp.MustCompile(`^[a-z0-9_]+$`)
	codes := make(map[string]bool)
	names := make(map[string]bool)
	for i, c := range Codes() {
		switch {
		case !code.MatchString(c.Code) || codes[c.Code]:
			t.Errorf("%s: no code, or there twice", c.Code)
		case !name.MatchString(c.Name) || names[c.Name]:
			t.Errorf("%s %s: no name, or there twice", c.Code, c.Name)
		case c.Severity.rank() < 0:
			t.Errorf("%s: severity %q", c.Code, c.Severity)
		case !strings.HasSuffix(c.Cause, ".") || strings.HasSuffix(c.Remedy, ".") || strings.Contains(c.Cause+c.Remedy, "|"):
			t.Errorf("%s: cause %q, remedy %q", c.Code, c.Cause, c.Remedy)
		case i > 0 && Codes()[i-1].Code >= c.Code:
			t.Errorf("%s stands after %s", c.Code, Codes()[i-1].Code)
		}
		codes[c.Code], names[c.Name] = true, true
	}
}

// TestCodesAreUsed finds each code in the program, and no code that the table
// lacks.
func TestCodesAreUsed(t *testing.T) {
	used := make(map[string]bool)
	for _, dir := range []string{"../reconcile", "../inspect", "../cmd/hf-inspect", "../report", "../locate", "../audit", "../record"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a package that is not there yet
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			text, err := os.ReadFile(dir + "/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range regexp.MustCompile(`"HFI[0-9]{3}"`).FindAllString(string(text), -1) {
				used[strings.Trim(c, `"`)] = true
			}
		}
	}
	for c := range used {
		if _, ok := Lookup(c); !ok {
			t.Errorf("%s is used and not in the table", c)
		}
	}
	for _, c := range Codes() {
		if !used[c.Code] {
			t.Errorf("%s %s is never found", c.Code, c.Name)
		}
	}
}
