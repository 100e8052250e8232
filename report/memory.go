package report

import (
	"fmt"
	"io"

	"github.com/hf-inspect/hf-inspect/cost"
)

// ModelMemory is what one model takes.
type ModelMemory struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	*cost.Memory
}

// Memory writes what models take: one in full, several as a table.
func Memory(w io.Writer, format string, all []ModelMemory, style Style, explain bool) error {
	if done, err := several(w, format, all); done {
		return err
	}
	if format == "csv" {
		return memorySheet(all).write(w)
	}
	if len(all) == 1 {
		return memoryPage(&all[0], explain).write(w, format, style)
	}
	g := &grid{columns: []string{"model", "dtype", "batch:", "seq:", "weights:", "KV:", "activations:", "gradients:", "optimizer:", "total bytes:", "total:", "fits on"}}
	for i := range all {
		m := &all[i]
		g.rows = append(g.rows, []string{Safe(m.Model), dtypeText(m), Thousands(m.Batch), Thousands(m.Seq), bigOrNone(m.Weights), bigOrNone(m.KV),
			bigOrNone(m.Activations), bigOrNone(m.Gradients), bigOrNone(m.Optimizer), Big(m.Total), BothBytes(m.Total), fitsText(m.Fits)})
	}
	return g.fitted(w, format, style, "activations:", "gradients:", "optimizer:", "total bytes:", "KV:", "dtype", "weights:", "batch:")
}

// dtypeText says in what the weights are.
func dtypeText(m *ModelMemory) string {
	if m.Quantization != "" {
		return m.Quantization + " + " + m.DType
	}
	return m.DType
}

// memorySheet has a row for each plan with every figure.
func memorySheet(all []ModelMemory) *sheet {
	s := new(sheet)
	for i := range all {
		m := &all[i]
		s.row()
		s.fill([]field{{"model", Safe(m.Model)}, {"architecture", m.Architecture}, {"mode", m.Mode}, {"dtype", m.DType}, {"quantization", m.Quantization},
			{"kv_dtype", m.KVDType}, {"batch_sequences", m.Batch}, {"sequence_tokens", m.Seq}, {"devices", m.Devices}, {"parameters", m.Parameters}})
		for _, part := range append(m.Parts(), cost.MemoryPart{Name: "total", Bytes: m.Total}, cost.MemoryPart{Name: "overhead", Bytes: m.Overhead}) {
			s.set(columnName(part.Name)+"_bytes", part.Bytes)
		}
		s.set("config_positions", m.Positions)
		if m.Master != nil {
			s.set("trainable_parameters", m.Trainable)
			s.set("master_weights_bytes", m.Master)
		}
		for _, n := range m.NotLoaded {
			s.set("not_loaded_"+columnName(n.What)+"_bytes", n.Bytes)
		}
		if m.Korthikanti != nil {
			s.set("activations_by_korthikanti_bytes", m.Korthikanti.TotalBytes)
		}
		for j := range m.Fits {
			fitCells(s, &m.Fits[j])
		}
	}
	return s
}

func fitCells(s *sheet, f *cost.Fit) {
	name := f.Accelerator + "_"
	s.set(name+"memory_bytes", f.MemoryBytes)
	s.set(name+"fits", f.Fits)
	if f.Devices != nil {
		s.set(name+"devices_needed", *f.Devices)
	}
	if f.LargestB != nil {
		s.set(name+"largest_batch_sequences", *f.LargestB)
	}
	if f.LargestS != nil {
		s.set(name+"largest_sequence_tokens", *f.LargestS)
	}
	if f.Speed == nil {
		return
	}
	s.set(name+"prefill_bytes", f.PrefillBytes)
	s.set(name+"prefill_flops", f.PrefillFLOPs)
	s.set(name+"prefill_at_best_seconds", f.PrefillSeconds)
	s.set(name+"peak_flops_per_second", f.PeakFLOPs)
	s.set(name+"ridge_flops_per_byte", f.Ridge)
	if f.Decode == nil {
		return
	}
	s.set(name+"decode_step_bytes", f.DecodeBytes)
	s.set(name+"decode_step_flops", f.DecodeFLOPs)
	s.set(name+"decode_step_at_best_seconds", f.DecodeSeconds)
	s.set(name+"decode_at_best_tokens_per_second", f.TokensPerSecond)
	s.set(name+"decode_flops_per_byte", f.Intensity)
}

// fitsText names the accelerators that it fits on, or how many of them hold it if
// all is shared out evenly.
func fitsText(fits []cost.Fit) string {
	text := ""
	for i, f := range fits {
		if i > 0 {
			text += ", "
		}
		switch {
		case f.Fits:
			text += f.Accelerator
		case f.Devices != nil:
			text += fmt.Sprintf("%s × %s", Thousands(*f.Devices), f.Accelerator)
		default:
			text += "not " + f.Accelerator
		}
	}
	return text
}

func memoryPage(m *ModelMemory, explain bool) *page {
	devices := ""
	if m.Devices > 1 {
		devices = fmt.Sprintf("each of %s devices", Thousands(m.Devices))
	}
	t := &table{indent: "  ", wraps: true, columns: [3]string{"", "figure", ""}}
	sequences, tokens, images := passWords(m.Batch, m.Seq, "token", &m.Shown)
	memoryLines(t, m)
	for i := range m.Fits {
		fitLines(t, &m.Fits[i], m)
	}
	p := &page{about: []string{m.Model, m.Architecture, m.Mode, sequences, tokens, images, dtypeText(m), devices},
		tables: []*table{t}, notes: m.Assumptions}
	if explain {
		p.explain(m.Formulas)
	}
	return p
}

func memoryLines(t *table, m *ModelMemory) {
	for _, part := range m.Parts() {
		if part.Bytes.Sign() > 0 {
			t.add("+ "+part.Name, Big(part.Bytes), BothBytes(part.Bytes)+partText(m, part.Name))
		}
	}
	t.strong("= bytes in all", Big(m.Total), BothBytes(m.Total))
	t.add("  overhead, beside", Big(m.Overhead), "an assumption")
	for _, n := range m.NotLoaded {
		t.add("  stored, not loaded", Big(n.Bytes), n.What)
	}
	if m.Korthikanti != nil {
		t.add("  activations by Korthikanti", Big(m.Korthikanti.TotalBytes), "plain attention, dropout, GELU: "+m.Korthikanti.Formula)
	}
}

// partText says what is within a figure.
func partText(m *ModelMemory, name string) string {
	if name != "optimizer" || m.Master.Sign() == 0 {
		return ""
	}
	return ", of it 32-bit weights " + Big(m.Master)
}

func fitLines(t *table, f *cost.Fit, m *ModelMemory) {
	t.blank()
	answer := "fits"
	if !f.Fits {
		answer = "does not fit"
	}
	t.strong(f.Accelerator, answer, BinaryBytes(f.MemoryBytes)+" each, "+f.Source)
	switch {
	case m.Devices > 1:
		t.add("  devices", Thousands(m.Devices), "of the layout that is given")
	case f.Devices != nil:
		t.add("  devices needed", Thousands(*f.Devices), "if all is shared out evenly")
	}
	largestLines(t, f, m)
	if s := f.Speed; s != nil {
		speedLines(t, s)
	} else if m.Mode == "inference" && !f.Fits {
		t.add("  speed", "none", "does not fit: no speed")
	}
}

// largestLines says how much more there is room for.
func largestLines(t *table, f *cost.Fit, m *ModelMemory) {
	if f.LargestB != nil {
		unit := ""
		if m.ImageOnly {
			unit = "images, "
		}
		t.add("  largest batch", orNone(*f.LargestB), fmt.Sprintf("%sat %s", unit, plural(m.Seq, "token")))
	}
	if f.LargestS == nil {
		return
	}
	at := fmt.Sprintf("at batch %s", Thousands(m.Batch))
	switch {
	case m.Positions == 0:
	case *f.LargestS == m.Positions:
		at += "; all of the config's positions"
	case *f.LargestS > m.Positions:
		at += fmt.Sprintf("; the config has %s positions", Thousands(m.Positions))
	}
	t.add("  largest sequence", orNone(*f.LargestS), at)
}

// speedLines writes the shortest times that the roofline allows.
func speedLines(t *table, s *cost.Speed) {
	pass := "forward pass"
	if s.Decode != nil {
		pass = "prefill"
		t.add("  decode step, at best", duration(s.DecodeSeconds), fmt.Sprintf("%s tokens/s, bound by %s: %s over %s are %s FLOP/byte, the ridge is at %s",
			rounded(s.TokensPerSecond), s.DecodeBound, scientific(s.DecodeFLOPs), BinaryBytes(s.DecodeBytes), rounded(s.Intensity), rounded(s.Ridge)))
	}
	t.add("  "+pass+", at best", duration(s.PrefillSeconds),
		fmt.Sprintf("bound by %s: %s over %s, at the %s peak of %s TFLOP/s", s.PrefillBound, scientific(s.PrefillFLOPs), BinaryBytes(s.PrefillBytes), s.PeakDType, rounded(s.PeakFLOPs/1e12)))
}

func orNone(n int64) string {
	if n == 0 {
		return "none"
	}
	return Thousands(n)
}
