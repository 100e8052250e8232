package report

import (
	"fmt"
	"io"

	"github.com/hf-inspect/hf-inspect/cost"
)

// ModelTraining is a training run of one model.
type ModelTraining struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	Device        string `json:"device,omitempty"`
	cost.Training
}

// Training writes a training run.
func Training(w io.Writer, format string, run ModelTraining, style Style, explain bool) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, run, format == "json")
	}
	t := trainingLines(&run)
	switch format {
	case "markdown":
		m := &markdown{w: w}
		m.printf("## %s\n\n", cell(run.Model))
		m.ledger(t)
		return m.err
	case "csv":
		g := &grid{columns: []string{"name", "value", "detail"}}
		for _, l := range t.lines {
			g.rows = append(g.rows, []string{l.label, l.number, l.remark})
		}
		return g.write(w, format)
	}
	fmt.Fprintln(w, clip(Safe(run.Model+" · "+run.Architecture+" · training"), style.Width))
	fmt.Fprintln(w)
	t.write(w, style)
	if explain {
		writeFormulas(w, run.Formulas, style)
	}
	return nil
}

func trainingLines(run *ModelTraining) *table {
	t := &table{indent: "  "}
	t.add("parameters", Thousands(run.Parameters), "that run for a token")
	t.add("tokens", fmt.Sprintf("%.4g", run.Tokens), fmt.Sprintf("compute-optimal: %.4g, %s", run.OptimalTokens, run.OptimalRule))
	t.strong("training FLOPs", fmt.Sprintf("%.4g", run.FLOPs), run.Rule)
	if run.Seconds == 0 {
		return t
	}
	device := run.Device
	if device == "" {
		device = "device"
	}
	t.add("devices", fmt.Sprintf("%g", run.Devices), fmt.Sprintf("%s, peak %.4g TFLOP/s dense", device, run.PeakFLOPs/1e12))
	if run.MFU != nil {
		t.strong("MFU", percent(*run.MFU), run.MFURule)
	} else {
		t.add("efficiency", percent(run.Efficiency), "of the peak: an assumption")
	}
	t.add("tokens per second", fmt.Sprintf("%.4g", run.TokensASec), "all devices")
	t.strong("time", fmt.Sprintf("%.4g days", run.Days), fmt.Sprintf("%.4g seconds", run.Seconds))
	t.add("device-hours", fmt.Sprintf("%.6g", run.DeviceHours), "")
	if run.Cost != nil {
		t.add("price", fmt.Sprintf("%.6g", *run.Cost), "device-hours · rate")
	}
	return t
}
