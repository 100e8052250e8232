package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/hf-inspect/hf-inspect/audit"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/source"
)

// home is where the program and its codes are documented.
const home = "https://github.com/hf-inspect/hf-inspect"

// sarifReport writes the findings as SARIF 2.1.0 (OASIS, 2020), all models in one
// run. What the baseline knows is suppressed; a model that could not be counted is
// a notification of the tool.
func sarifReport(w io.Writer, all []*audit.Audit, tool Tool) error {
	run := sarif.NewRunWithInformationURI("hf-inspect", home)
	run.Tool.Driver.WithVersion(tool.Version)
	invocation := sarif.NewInvocation().WithExecutionSuccessful(true)
	for _, a := range all {
		if a.Error != "" {
			invocation.WithExecutionSuccessful(false)
			invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel("error").
				WithMessage(sarif.NewTextMessage(Safe(a.Model + ": " + a.Error))))
		}
		for i := range a.Findings {
			run.AddResult(sarifResult(run, a, &a.Findings[i]))
		}
	}
	run.AddInvocation(invocation)
	report := sarif.NewReport().AddRun(run)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(report)
}

func sarifResult(run *sarif.Run, a *audit.Audit, f *audit.Finding) *sarif.Result {
	code, _ := finding.Lookup(f.Code)
	rule := run.AddRule(f.Code)
	if rule.Name == nil {
		rule.WithName(code.Name).WithHelpURI(home + "/blob/main/docs/findings.md").
			WithShortDescription(sarif.NewMultiformatMessageString().WithText(code.Cause)).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(string(code.Severity)))
		if code.Remedy != "" {
			rule.WithHelp(sarif.NewMultiformatMessageString().WithText(code.Remedy))
		}
	}
	sum := sha256.Sum256([]byte(a.Model + "\n" + f.Fingerprint()))
	result := sarif.NewRuleResult(f.Code).WithRuleIndex(run.GetRuleIndex(f.Code)).WithLevel(string(f.Severity)).
		WithMessage(sarif.NewTextMessage(Safe(f.Message))).
		WithPartialFingerprints(map[string]string{"hf-inspect/v1": hex.EncodeToString(sum[:16])}).
		AddLocation(sarifLocation(a, f))
	if f.Known {
		result.AddSuppression(sarif.NewSuppression().WithKind("external").WithStatus("accepted").WithJustification("known to the baseline"))
	}
	return result
}

// sarifLocation is the file concerned, or the model as a whole, and the tensors
// and fields within it.
func sarifLocation(a *audit.Audit, f *audit.Finding) *sarif.Location {
	location := sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation(artifactURI(a, f.File))))
	for _, name := range f.Tensors {
		location.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(Safe(name)).WithKind("variable"))
	}
	for _, name := range f.Fields {
		location.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(Safe(name)).WithKind("property"))
	}
	return location
}

// artifactURI is the address of a file of the model, or of the model.
func artifactURI(a *audit.Audit, file string) string {
	where := a.Model
	if a.Source.Kind == source.Folder || a.Source.Kind == source.SingleFile || a.Source.Kind == source.Cache {
		where = a.Source.Location
	}
	if a.Source.Kind == source.SingleFile {
		file = ""
	}
	where = strings.TrimSuffix(filepath.ToSlash(where), "/")
	if file != "" {
		where += "/" + file
	}
	if strings.Contains(where, "://") {
		return strings.ReplaceAll(where, " ", "%20")
	}
	return (&url.URL{Path: where}).EscapedPath()
}
