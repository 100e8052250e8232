package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	"Fe": "width of an expert", "Hv": "features of a value", "Hn": "features of a head without rotation", "Rq": "rank of the queries",
	"b": "sequences", "s": "tokens of each", "t": "keys", "k": "positions with logits", "i": "images",
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
	return lettersText(slices.DeleteFunc(slices.Clone(symbols), func(s estimator.Symbol) bool {
		return !used[s.Name] || strings.Contains(shown, s.Name)
	}))
}

// inNumbers writes a formula with its letters' values: N(12D² + 13D) is
// 48·(12·1600² + 13·1600). Letters side by side are a product.
func inNumbers(formula string, symbols []estimator.Symbol) string {
	longest := slices.SortedFunc(slices.Values(symbols), func(a, b estimator.Symbol) int { return len(b.Name) - len(a.Name) })
	var text strings.Builder
	factor := false // what stands before takes a · before another factor
	for rest := formula; rest != ""; {
		token, value := rest[:1], ""
		if r, size := utf8.DecodeRuneInString(rest); size > 1 {
			token = string(r)
		}
		if at := slices.IndexFunc(longest, func(s estimator.Symbol) bool { return strings.HasPrefix(rest, s.Name) }); at >= 0 {
			token, value = longest[at].Name, strconv.FormatInt(longest[at].Value, 10)
		}
		rest = rest[len(token):]
		digit := token >= "0" && token <= "9" && len(token) == 1
		if factor && (value != "" || token == "(") {
			text.WriteString("·")
		}
		text.WriteString(cmp.Or(value, token))
		factor = value != "" || digit || token == ")" || token == "²" || token == "³" || token == "⁴"
	}
	return text.String()
}

// lettersText writes what letters stand for: their values, and their meaning
// where it is the same in every family.
func lettersText(symbols []estimator.Symbol) string {
	var parts []string
	for _, s := range symbols {
		part := fmt.Sprintf("%s = %s", s.Name, Thousands(s.Value))
		meaning := meanings[s.Name]
		if s.Value == 1 {
			meaning = strings.TrimSuffix(meaning, "s")
		}
		parts = append(parts, strings.TrimSpace(part+" "+meaning))
	}
	return strings.Join(parts, ", ")
}
