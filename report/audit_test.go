package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/hf-inspect/hf-inspect/audit"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/source"
)

// someAudits are one that fails, with names that a file made up to do harm, one
// that passes, and one that could not be counted.
func someAudits() []*audit.Audit {
	n := int64(1234567)
	counts := &inspect.Counts{StoredElements: n, UniqueParameters: &n}
	return []*audit.Audit{
		{SchemaVersion: "1", Model: "./a b", Source: &inspect.Source{Info: source.Info{Kind: source.Folder, Location: "/x/a b"}}, Architecture: "LlamaForCausalLM",
			Counts: counts, FailOn: finding.Warning, Failing: 2, Findings: []audit.Finding{
				{Finding: finding.New("HFI402", "x\x1b[31m\u202e]]>&<b> is not of this architecture").About("x\x1b[31m\u202e]]>&<b>").In("model.safetensors"), Fails: true},
				{Finding: finding.New("HFI805", "config.json: eos_token_id is 9, the embedding has 4 rows").Field("eos_token_id").In("config.json"), Fails: true},
				{Finding: finding.New("HFI802", "a pickle beside the safetensors: pytorch_model.bin").In("pytorch_model.bin"), Known: true},
				{Finding: finding.New("HFI408", `names begin with "model." instead of ""`)},
			}, Gone: []audit.KnownFinding{{Code: "HFI101", Message: "gone"}}},
		{SchemaVersion: "1", Model: "org/name", Source: &inspect.Source{Info: source.Info{Kind: source.Hub, Location: "org/name"}}, Counts: counts,
			FailOn: finding.Error, Passed: true, Findings: []audit.Finding{}},
		audit.Uncountable("./none", errors.New("no weights \x1b[2J"), audit.Options{FailOn: finding.Error}),
	}
}

func writtenAudits(t *testing.T, format string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Audits(&out, format, someAudits(), Tool{"1.2.3", time.Unix(0, 0)}, Style{}); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexAny(out.Bytes(), "\x1b"); i >= 0 || strings.Contains(out.String(), "\u202e") {
		t.Errorf("%s: a mark of a name is written raw", format)
	}
	return out.Bytes()
}

// TestSARIF validates the report against the schema of OASIS.
func TestSARIF(t *testing.T) {
	out := writtenAudits(t, "sarif")
	report, err := sarif.FromBytes(out, sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Error(err)
	}
	run := report.Runs[0]
	if len(run.Results) != 4 || len(run.Tool.Driver.Rules) != 4 {
		t.Fatalf("%d results of %d rules", len(run.Results), len(run.Tool.Driver.Rules))
	}
	first, known := run.Results[0], run.Results[2]
	if first.Level != "error" || *first.RuleID != "HFI402" || *run.Tool.Driver.Rules[first.RuleIndex].ID != "HFI402" ||
		*first.Locations[0].PhysicalLocation.ArtifactLocation.URI != "/x/a%20b/model.safetensors" {
		t.Errorf("first result %+v", first)
	}
	if len(first.Suppressions) != 0 || len(known.Suppressions) != 1 || *known.Suppressions[0].Status != "accepted" {
		t.Error("what the baseline knows has to be suppressed, and nothing else")
	}
	if *run.Invocations[0].ExecutionSuccessful || len(run.Invocations[0].ToolExecutionNotifications) != 1 {
		t.Error("a model that could not be counted is not told of")
	}
}

// TestJUnit validates the report against JUnit's schema.
func TestJUnit(t *testing.T) {
	out := writtenAudits(t, "junit")
	if err := validateXML(t, "testdata/junit.xsd", out); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, words := range []string{`<testsuite name="./a b" tests="5" failures="2" errors="0"`, `<failure message=`, `<skipped message="known to the baseline`,
		`tests="1" failures="0" errors="1"`, "1,234,567"} {
		if !bytes.Contains(out, []byte(words)) {
			t.Errorf("no %s in\n%s", words, out)
		}
	}
	for _, broken := range []string{`<testsuites><testsuite/></testsuites>`, `<testsuites a="1"/>`, `<other/>`,
		strings.Replace(string(out), ` time="0"`, ` time="soon"`, 1), strings.Replace(string(out), "<system-err>", "<more></more><system-err>", 1),
		strings.Replace(string(out), ` hostname="localhost"`, "", 1)} {
		if validateXML(t, "testdata/junit.xsd", []byte(broken)) == nil {
			t.Errorf("the schema accepts %.80s", broken)
		}
	}
}

// TestAuditText checks what a reader sees first.
func TestAuditText(t *testing.T) {
	text := string(writtenAudits(t, "text"))
	for _, words := range []string{"./a b · LlamaForCausalLM · 1,234,567 unique parameters · failed: 2 findings of severity warning or higher\n",
		"  warning HFI802  a pickle beside the safetensors: pytorch_model.bin; remove it, or load safetensors only (known)\n",
		"1 finding of the baseline no longer found: HFI101", "org/name · 1,234,567 unique parameters · passed", "./none · not counted: no weights"} {
		if !strings.Contains(text, words) {
			t.Errorf("no %q in\n%s", words, text)
		}
	}
	rows := strings.Split(strings.TrimSpace(string(writtenAudits(t, "csv"))), "\n")
	if len(rows) != 1+4+1+1 || !strings.HasPrefix(rows[1], "./a b,false,error,HFI402,tensor_unexpected,fails,") {
		t.Errorf("rows %q", rows)
	}
	for line := range strings.Lines(string(writtenAudits(t, "json"))) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not one value a line: %s", line)
		}
	}
	if markdown := string(writtenAudits(t, "markdown")); !strings.Contains(markdown, "| error | HFI402 |") {
		t.Errorf("markdown\n%s", markdown)
	}
}
