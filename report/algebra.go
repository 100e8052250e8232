package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// negated writes a formula for the amount that is taken away: −a + b becomes
// a − b, a term without a sign first where there is one.
func negated(formula string) string {
	terms := splitTerms(formula)
	for i := range terms {
		if rest, negative := strings.CutPrefix(terms[i], "−"); negative {
			terms[i] = rest
		} else {
			terms[i] = "−" + terms[i]
		}
	}
	slices.SortStableFunc(terms, func(a, b string) int {
		return negativeRank(a) - negativeRank(b)
	})
	var text strings.Builder
	for i, t := range terms {
		rest, negative := strings.CutPrefix(t, "−")
		switch {
		case i == 0:
			text.WriteString(t)
		case negative:
			text.WriteString(" − " + rest)
		default:
			text.WriteString(" + " + t)
		}
	}
	return text.String()
}

func negativeRank(term string) int {
	if strings.HasPrefix(term, "−") {
		return 1
	}
	return 0
}

// splitTerms takes a sum apart; negative terms keep their sign. Formulas of
// rows have no brackets.
func splitTerms(formula string) []string {
	marked := strings.ReplaceAll(strings.ReplaceAll(formula, " − ", "\x00−"), " + ", "\x00")
	return strings.Split(marked, "\x00")
}

// meanings says what the letters of formulas stand for in every family.
var meanings = map[string]string{
	"N": "layers", "D": "hidden size", "V": "vocabulary", "C": "positions", "A": "query heads",
	"K": "key and value heads", "H": "head dim", "F": "MLP width", "E": "experts", "T": "experts per token",
	"Fe": "width of an expert",
}

// explained writes what the letters in some formulas stand for: C = 1,024
// positions. Letters that legend has shown are left out; those whose meaning
// differs between families have their value alone.
func explained(symbols []estimator.Symbol, formulas []string, shown string) string {
	used := make(map[string]bool)
	for _, f := range formulas {
		for _, word := range strings.FieldsFunc(f, func(r rune) bool { return !unicode.IsLetter(r) }) {
			used[word] = true
			for _, r := range word {
				used[string(r)] = true // letters side by side are a product
			}
		}
	}
	var parts []string
	for _, s := range symbols {
		if !used[s.Name] || strings.Contains(shown, s.Name) {
			continue
		}
		part := fmt.Sprintf("%s = %s", s.Name, Thousands(s.Value))
		parts = append(parts, strings.TrimSpace(part+" "+meanings[s.Name]))
	}
	return strings.Join(parts, ", ")
}
