package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestInLine: columns of counts stand over those of the ledger, unless that would
// cut a remark.
func TestInLine(t *testing.T) {
	counts, ledger := &table{indent: "  "}, &table{indent: "  "}
	counts.add("count", "1", strings.Repeat("x", 20))
	ledger.add("a longer label", "1,000", "")
	for width, want := range map[int]string{0: "  count               1   xxxx", 48: "  count               1   xxxx", 40: "  count  1   xxxx"} {
		var out bytes.Buffer
		inLine(&out, Style{Width: width}, counts, ledger)
		if first, _, _ := strings.Cut(out.String(), "\n"); !strings.HasPrefix(first, want) || strings.Contains(first, "…") {
			t.Errorf("width %d: %q", width, first)
		}
	}
}
