package inspect

import (
	_ "embed"
	"strings"
	"sync"
)

// evidenceTable says, for each described model type, what has confirmed its
// description: configs under which it gives what the reference library builds,
// and real repositories whose index it explains. A test counts them anew.
//
//go:embed evidence.tsv
var evidenceTable string

// Evidence is how many cases of each kind confirm a description.
type Evidence struct {
	Default    int `json:"default"`    // classes under the library's default config
	Randomised int `json:"randomised"` // configs with other sizes and switches flipped
	Published  int `json:"published"`  // published configs, built by the library
	Index      int `json:"index"`      // real repositories whose index was met
}

// None reports whether nothing has confirmed the description: it was written
// from public facts.
func (e Evidence) None() bool { return e == Evidence{} }

// evidence indexes the table by model type.
var evidence = sync.OnceValue(func() map[string]Evidence {
	table := make(map[string]Evidence)
	for line := range strings.Lines(evidenceTable) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 5 || fields[0] == "model_type" {
			continue
		}
		table[fields[0]] = Evidence{number(fields[1]), number(fields[2]), number(fields[3]), number(fields[4])}
	}
	return table
})

func number(digits string) int {
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}
