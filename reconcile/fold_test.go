package reconcile

import (
	"strings"
	"testing"
)

// TestTemplatesBearTheirNames holds the quick way of folding against the plain
// one.
func TestTemplatesBearTheirNames(t *testing.T) {
	names := []string{"", ".", "a", "a.b", "0", "0.1.2.3.4.5", "h.0.ln_1.weight", "h.10.ln_1.weight", "h.01.ln_1.weight", "h..x", "x.0",
		"x.9999999999.y", "model.layers.3.mlp.experts.12.w1.weight", "*.a", "a.*.b", "a.1.*", "a.1.b.2.c.3.d.4.e.5.f"}
	for _, template := range names {
		folded, _ := foldName(nil, template)
		bearer := newTemplate(string(folded))
		for _, name := range names {
			want, numbers := foldName(nil, name)
			var got [mostNumbers]int32
			if bears := bearer.bears(name, &got); bears && (string(want) != bearer.text || got != numbers) {
				t.Errorf("%q bears %q with %v; it folds to %q with %v", bearer.text, name, got, want, numbers)
			}
		}
		var got [mostNumbers]int32
		if literal := strings.Contains(bearer.text, `\*`); !literal && !bearer.bears(template, &got) {
			t.Errorf("%q does not bear %q", bearer.text, template)
		}
	}
}
