// Package finding holds what an inspection has to say besides numbers: stable
// codes, each with a severity, a cause and a remedy, and the findings that carry
// them. The table in codes.go is the only place where a code is made;
// docs/findings.md repeats it for readers, and a test compares the two.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says what a finding does to the result.
type Severity string

// The severities. An error makes the command exit with 1: the reference library
// refuses the checkpoint, or would load it wrong. A warning leaves a doubt; a
// note explains.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// AtLeast reports whether the severity is as high as another.
func (s Severity) AtLeast(other Severity) bool { return s.rank() <= other.rank() }

// Finding is one thing to know about a checkpoint.
type Finding struct {
	Code     string   `json:"code"`
	Name     string   `json:"name"` // the code in words: tensor_missing
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // one sentence: what is so, and what to do
	Tensors  []string `json:"tensors,omitempty"`
	Fields   []string `json:"fields,omitempty"` // of config.json
	File     string   `json:"file,omitempty"`
}

// New makes a finding of that code. The message says what is so in this case;
// the code's remedy is added to it.
func New(code, message string) Finding {
	c, ok := Lookup(code)
	if !ok {
		return Finding{Code: code, Severity: Error, Message: message}
	}
	if c.Remedy != "" {
		message += "; " + c.Remedy
	}
	return Finding{Code: c.Code, Name: c.Name, Severity: c.Severity, Message: Shorten(message, longestMessage)}
}

// longestMessage and LongestName bound, in bytes, what names from a file can do
// to a result: a name can have as many bytes as a header.
const (
	longestMessage = 4000
	LongestName    = 1000
)

// Shorten cuts the middle out of a text that is longer than most bytes.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	half := most / 2
	return strings.ToValidUTF8(text[:half], "") + fmt.Sprintf(" … %s bytes … ", Number(int64(len(text)-2*half))) + strings.ToValidUTF8(text[len(text)-half:], "")
}

// About names the tensors concerned, at most MostNames of them.
func (f Finding) About(tensors ...string) Finding {
	f.Tensors = Names(tensors)
	return f
}

// Field names the config fields concerned.
func (f Finding) Field(fields ...string) Finding {
	f.Fields = fields
	return f
}

// In names the file concerned.
func (f Finding) In(file string) Finding {
	f.File = file
	return f
}

// MostNames is how many names a finding or a row lists; more are cut.
const MostNames = 20

// Names cuts a list to MostNames, and each name to LongestName.
func Names(names []string) []string {
	kept := slices.Clone(names[:min(len(names), MostNames)])
	for i := range kept {
		kept[i] = Shorten(kept[i], LongestName)
	}
	return kept
}

// Sort orders findings by severity, then by code, and drops repetitions.
func Sort(findings []Finding) []Finding {
	if findings == nil {
		findings = []Finding{} // in JSON a list, not null
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(a.Severity.rank()-b.Severity.rank(), cmp.Compare(a.Code, b.Code))
	})
	return slices.CompactFunc(findings, func(a, b Finding) bool {
		return a.Code == b.Code && a.Message == b.Message && a.File == b.File && slices.Equal(a.Tensors, b.Tensors)
	})
}

// Worst returns the highest severity among the findings, "" if there are none.
func Worst(findings []Finding) Severity {
	var worst Severity
	for _, f := range findings {
		if worst == "" || f.Severity.rank() < worst.rank() {
			worst = f.Severity
		}
	}
	return worst
}
