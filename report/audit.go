package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hf-inspect/hf-inspect/audit"
)

// AuditFormats are the formats that an audit can be written in.
var AuditFormats = []string{"text", "json", "jsonl", "markdown", "csv", "sarif", "junit"}

// Audits writes the verdicts on all models.
func Audits(w io.Writer, format string, all []*audit.Audit, tool Tool, style Style) error {
	if done, err := several(w, format, all); done {
		return err
	}
	switch format {
	case "sarif":
		return sarifReport(w, all, tool)
	case "junit":
		return junitReport(w, all, tool)
	case "csv":
		return auditRows(w, all)
	case "markdown":
		m := &markdown{w: w}
		for i, a := range all {
			if i > 0 {
				m.printf("\n")
			}
			m.audit(a)
		}
		return m.err
	}
	for i, a := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		auditText(w, a, style)
	}
	return nil
}

// Tool is the program that a report names as its author, and when it ran.
type Tool struct {
	Version string
	Began   time.Time
}

func auditText(w io.Writer, a *audit.Audit, style Style) {
	title(w, style, auditAbout(a)...)
	for _, f := range a.Findings {
		writeFinding(w, f.Finding, known(&f), style)
	}
	if len(a.Gone) > 0 {
		fmt.Fprintf(w, "\n  %s of the baseline no longer found: %s\n", plural(int64(len(a.Gone)), "finding"), strings.Join(goneCodes(a), ", "))
	}
}

// auditAbout is the verdict in a line: the model, its class, its count, whether it
// passed.
func auditAbout(a *audit.Audit) []string {
	if a.Error != "" {
		return []string{a.Model, "not counted: " + a.Error}
	}
	about := []string{a.Model, a.Architecture}
	if n := a.Counts.UniqueParameters; n != nil {
		about = append(about, plural(*n, "unique parameter"))
	} else {
		about = append(about, plural(a.Counts.StoredElements, "stored element"))
	}
	verdict := "passed"
	if !a.Passed {
		verdict = "failed: " + plural(int64(a.Failing), "finding") + " of severity " + string(a.FailOn)
		if a.FailOn != "error" {
			verdict += " or higher"
		}
	}
	return append(about, verdict)
}

func known(f *audit.Finding) string {
	if f.Known {
		return " (known)"
	}
	return ""
}

func goneCodes(a *audit.Audit) []string {
	var codes []string
	for _, k := range a.Gone {
		codes = append(codes, Safe(k.Code))
	}
	return codes
}

func (m *markdown) audit(a *audit.Audit) {
	m.title(auditAbout(a))
	if len(a.Findings) > 0 {
		m.head("severity", "code", "finding", "verdict")
	}
	for _, f := range a.Findings {
		m.row(string(f.Severity), f.Code, f.Message, verdictOf(&f))
	}
	if len(a.Gone) > 0 {
		m.printf("\n%s of the baseline no longer found: %s\n", plural(int64(len(a.Gone)), "finding"), strings.Join(goneCodes(a), ", "))
	}
}

func verdictOf(f *audit.Finding) string {
	switch {
	case f.Fails:
		return "fails"
	case f.Known:
		return "known"
	}
	return "passes"
}

// auditRows writes a row for each finding, and one for each model without any.
func auditRows(w io.Writer, all []*audit.Audit) error {
	c := newCells(w)
	c.Write([]string{"model", "passed", "severity", "code", "name", "verdict", "message", "file", "fields", "tensors"})
	for _, a := range all {
		passed := fmt.Sprint(a.Passed)
		if len(a.Findings) == 0 {
			c.Write([]string{Safe(a.Model), passed, "", "", "", "", Safe(a.Error), "", "", ""})
		}
		for _, f := range a.Findings {
			c.Write([]string{Safe(a.Model), passed, string(f.Severity), f.Code, f.Name, verdictOf(&f), Safe(f.Message), Safe(f.File),
				Safe(strings.Join(f.Fields, " ")), Safe(strings.Join(f.Tensors, " "))})
		}
	}
	c.Flush()
	return c.Error()
}
