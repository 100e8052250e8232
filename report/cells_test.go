package report

import (
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	for text, want := range map[string]string{
		`=HYPERLINK("http://x")`: `"'=HYPERLINK(""http://x"")"`, "+1+1": "'+1+1", "@SUM(A1)": "'@SUM(A1)", "-cmd|calc": "'-cmd|calc", "\tx": "'\tx",
		"-12": "-12", "-1.5e-3": "-1.5e-3", "+7": "+7", "-": "-", "": "", "a=b": "a=b", "model.layers.0": "model.layers.0",
	} {
		for name, write := range map[string]func(cells) error{
			"Write":    func(c cells) error { defer c.Flush(); return c.Write([]string{"x", text}) },
			"WriteAll": func(c cells) error { return c.WriteAll([][]string{{"x", text}}) },
		} {
			var out strings.Builder
			if err := write(newCells(&out)); err != nil || out.String() != "x,"+want+"\n" {
				t.Errorf("%s %q: %q, want %q (%v)", name, text, out.String(), want, err)
			}
		}
	}
}

// TestFormulaInName: a tensor can be called like a formula.
func TestFormulaInName(t *testing.T) {
	var out strings.Builder
	g := grid{columns: []string{"name", "elements:"}, rows: [][]string{{"=cmd|' /c calc'!A1", "-5"}}}
	if err := g.write(&out, "csv"); err != nil || out.String() != "name,elements\n'=cmd|' /c calc'!A1,-5\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
