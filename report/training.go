package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/hf-inspect/hf-inspect/cost"
)

// ModelTraining is a training run of one model.
type ModelTraining struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	Device        string `json:"device,omitempty"`
	Products      string `json:"products_dtype,omitempty"` // of which the device's peak is
	cost.Training
}

// Training writes a training run.
func Training(w io.Writer, format string, run ModelTraining, style Style, explain bool) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, run, format == "json")
	}
	if format == "csv" {
		return trainingSheet(&run).write(w)
	}
	p := &page{about: []string{run.Model, run.Architecture, "training"}, tables: []*table{trainingLines(&run)}, notes: run.Assumptions}
	if explain {
		p.explain(run.Formulas)
	}
	return p.write(w, format, style)
}

func trainingLines(run *ModelTraining) *table {
	t := &table{indent: "  ", wraps: true, columns: [3]string{"", "figure", ""}}
	t.add("parameters", Thousands(run.Parameters), "that run for a token")
	t.add("tokens", rounded(run.Tokens), "")
	if run.OptimalTokens != nil {
		t.add("compute-optimal tokens", rounded(*run.OptimalTokens), run.OptimalRule)
	}
	t.strong("training FLOPs", tenPower(run.FLOPs), run.Rule)
	if run.Seconds == 0 {
		t.add("time and price", "", "name what it runs on: --gpu H100 --devices 8, and --rate for a price")
		return t
	}
	device := run.Device
	if device == "" {
		device = "device"
	}
	t.add("devices", rounded(run.Devices), fmt.Sprintf("%s peak of %s TFLOP/s, dense", strings.TrimSpace(device+", "+run.Products), rounded(run.PeakFLOPs/1e12)))
	if run.MFU != nil {
		rule := run.MFURule
		if *run.MFU > 1 {
			rule += "; more than all: look at speed, devices and peak"
		}
		t.strong("MFU", percent(*run.MFU), rule)
		t.add("efficiency", percent(run.Efficiency), "of the peak by the training FLOPs above; the MFU's count is PaLM's and has attention besides")
	} else {
		t.add("efficiency", percent(run.Efficiency), "of the peak by the training FLOPs above, an assumption; an MFU counts attention besides 6N and is higher for the same speed")
	}
	t.add("tokens per second", rounded(run.TokensASec), "all devices")
	t.strong("time", rounded(run.Days)+" days", rounded(run.Seconds)+" seconds")
	t.add("device-hours", rounded(run.DeviceHours), "")
	if run.Cost != nil {
		t.add("price", rounded(*run.Cost), fmt.Sprintf("device-hours · %g, in the currency of that rate", run.Rate))
	}
	return t
}

// trainingSheet is one row with every figure.
func trainingSheet(run *ModelTraining) *sheet {
	s := new(sheet)
	s.row()
	s.fill([]field{{"model", Safe(run.Model)}, {"architecture", run.Architecture}, {"parameters", run.Parameters}, {"tokens", run.Tokens}})
	if run.OptimalTokens != nil {
		s.set("compute_optimal_tokens", *run.OptimalTokens)
	}
	s.fill([]field{{"training_flops", run.FLOPs}, {"rule", run.Rule}})
	if run.Seconds == 0 {
		return s
	}
	s.fill([]field{{"device", run.Device}, {"devices", run.Devices}, {"peak_flops_per_second", run.PeakFLOPs}, {"efficiency_share", run.Efficiency},
		{"tokens_per_second", run.TokensASec}, {"time_seconds", run.Seconds}, {"time_days", run.Days}, {"device_hours", run.DeviceHours}})
	if run.MFU != nil {
		s.set("mfu_share", *run.MFU)
	}
	if run.Cost != nil {
		s.set("rate_per_device_hour", run.Rate)
		s.set("price", *run.Cost)
	}
	return s
}
