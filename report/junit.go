package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/hf-inspect/hf-inspect/audit"
)

// junitReport writes the verdicts as JUnit's XML: a suite for each model, a case
// for its count and one for each finding.
func junitReport(w io.Writer, all []*audit.Audit, tool Tool) error {
	var suites junit.Testsuites
	for i, a := range all {
		suite := junit.Testsuite{Name: Safe(a.Model), ID: i, Package: "hf-inspect", Hostname: "localhost", Time: "0", Timestamp: tool.Began.UTC().Format("2006-01-02T15:04:05"),
			SystemOut: &junit.Output{}, SystemErr: &junit.Output{}}
		suite.AddProperty("hf-inspect", tool.Version)
		suite.AddProperty("fail-on", string(a.FailOn))
		counted := junit.Testcase{Name: "counted", Classname: Safe(a.Model), Time: "0"}
		if a.Error != "" {
			counted.Error = &junit.Result{Message: Safe(a.Error), Type: "error"}
		} else {
			suite.SystemOut.Data = countsText(a)
		}
		suite.AddTestcase(counted)
		for j := range a.Findings {
			suite.SystemOut.Data += fmt.Sprintf("%s %s: %s\n", a.Findings[j].Severity, a.Findings[j].Code, Safe(a.Findings[j].Message))
			suite.AddTestcase(junitCase(a, &a.Findings[j]))
		}
		suites.Suites = append(suites.Suites, suite)
	}
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return suites.WriteXML(w)
}

// junitCase is a case that fails where the finding does.
func junitCase(a *audit.Audit, f *audit.Finding) junit.Testcase {
	name := fmt.Sprintf("%s %s", f.Code, f.Name)
	for _, about := range slices.Concat(f.Tensors[:min(1, len(f.Tensors))], f.Fields[:min(1, len(f.Fields))], []string{f.File}) {
		if about != "" { // cases of one name are one case to some readers
			name += " " + Safe(about)
			break
		}
	}
	c := junit.Testcase{Name: strings.Join(strings.Fields(name), " "), Classname: Safe(a.Model), Time: "0"}
	switch {
	case f.Fails:
		c.Failure = &junit.Result{Message: Safe(f.Message), Type: string(f.Severity)}
	case f.Known:
		c.Skipped = &junit.Result{Message: Safe("known to the baseline: " + f.Message)}
	}
	return c
}

func countsText(a *audit.Audit) string {
	text := ""
	for _, d := range a.Counts.Definitions() {
		text += fmt.Sprintf("%s: %s (%s)\n", d.Name, orUnknown(d.Value), d.Meaning)
	}
	return text
}
