package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// fileFindings reports what is odd about the files of a set, their headers and
// their index.
func fileFindings(c *safetensors.Checkpoint, in *Inspection) []finding.Finding {
	var list []finding.Finding
	for _, same := range alike(c.AllFaults(), func(e *safetensors.Error) string {
		return fmt.Sprint(e.Kind, e.File, "\n", e.Detail)
	}) {
		if same[0].Kind != safetensors.KindDuplicateTensor { // told below, file by file
			list = append(list, repeated(faultFinding(same[0]), same, func(e *safetensors.Error) string { return e.Tensor }))
		}
	}
	list = append(list, headerNotices(c)...)
	for _, n := range c.Notices {
		list = append(list, noticeFinding(n, ""))
	}
	for _, same := range alike(c.Disagreements, func(d safetensors.Disagreement) string {
		return fmt.Sprint(d.Kind, d.Of, d.Indexed, d.Actual)
	}) {
		if f, ok := disagreementFinding(same[0], in); ok {
			list = append(list, repeated(f, same, func(d safetensors.Disagreement) string { return d.Tensor }))
		}
	}
	for _, same := range alike(c.Duplicates, func(d safetensors.Duplicate) [2]string { return [2]string{d.First.Path, d.Second.Path} }) {
		d := same[0]
		f := finding.New("HFI208", fmt.Sprintf("%q is in %s and in %s", d.Name, d.First.Path, d.Second.Path)).In(d.Second.Path)
		list = append(list, repeated(f, same, func(d safetensors.Duplicate) string { return d.Name }))
	}
	return list
}

// alike groups entries of one key, in the order of their first ones: a file that
// an index forgot is one finding, not one for each of its tensors.
func alike[T any, K comparable](entries []T, key func(T) K) [][]T {
	places := make(map[K]int)
	var groups [][]T
	for _, e := range entries {
		at, known := places[key(e)]
		if !known {
			at = len(groups)
			places[key(e)] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], e)
	}
	return groups
}

// repeated makes the finding of the first entry speak of all.
func repeated[T any](f finding.Finding, same []T, name func(T) string) finding.Finding {
	var names []string
	for _, e := range same {
		if n := name(e); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 1 {
		f.Message += fmt.Sprintf(" (and %d more)", len(names)-1)
	}
	if len(names) > 0 {
		f = f.About(names...)
	}
	return f
}

// headerNotices reports oddities of headers. One that does not concern a single
// tensor and that several files have in common is said once.
func headerNotices(c *safetensors.Checkpoint) []finding.Finding {
	var list []finding.Finding
	first := make(map[safetensors.NoticeKind]int) // place in the list
	others := make(map[int]int)                   // place → further files
	for _, f := range c.Files {
		if f.Header == nil {
			continue
		}
		for _, same := range alike(f.Header.Notices, func(n safetensors.Notice) string { return fmt.Sprint(n.Kind, n.Detail) }) {
			n := same[0]
			at, said := first[n.Kind]
			if said && n.Tensor == "" {
				others[at]++
				continue
			}
			if n.Tensor == "" {
				first[n.Kind] = len(list)
			}
			list = append(list, repeated(noticeFinding(n, f.Path), same, func(n safetensors.Notice) string { return n.Tensor }))
		}
	}
	for at, n := range others {
		list[at].Message += fmt.Sprintf(" (likewise in %s)", finding.Count(int64(n), "more file"))
	}
	return list
}

// faultCodes gives the faults of files their codes; the others are refusals of
// a header.
var faultCodes = map[safetensors.Kind]string{
	safetensors.KindMissingShard:    "HFI201",
	safetensors.KindUnreadable:      "HFI102",
	safetensors.KindIndex:           "HFI209",
	safetensors.KindUnsafePath:      "HFI210",
	safetensors.KindDuplicateTensor: "HFI208",
	safetensors.KindTotalOverflow:   "HFI214",
}

func faultFinding(e *safetensors.Error) finding.Finding {
	code, ok := faultCodes[e.Kind]
	if !ok {
		code = "HFI101"
	}
	f := finding.New(code, e.Error()).In(e.File)
	if e.Tensor != "" {
		f = f.About(e.Tensor)
	}
	return f
}

func noticeFinding(n safetensors.Notice, file string) finding.Finding {
	code := "HFI103"
	switch n.Kind {
	case safetensors.NoticeDuplicateTensor, safetensors.NoticeIndexDuplicate:
		code = "HFI104"
	case safetensors.NoticeIndexBesideSingle, safetensors.NoticeVariantOnly, safetensors.NoticeSubfolder, safetensors.NoticeSeveral, safetensors.NoticeNoIndex:
		code = "HFI212"
	}
	message := n.Detail
	if file != "" {
		message = file + ": " + message
	}
	f := finding.New(code, message).In(file)
	if n.Tensor != "" {
		f = f.About(n.Tensor)
	}
	return f
}

// disagreementFinding words a disagreement between index and headers. A declared
// number of parameters is right where it is any of the counts: its writers count
// by different definitions.
func disagreementFinding(d safetensors.Disagreement, in *Inspection) (finding.Finding, bool) {
	switch d.Kind {
	case safetensors.IndexedButAbsent:
		return finding.New("HFI202", fmt.Sprintf("%q is not in %s, where the index has it", d.Tensor, d.Indexed)).About(d.Tensor).In(d.Indexed), true
	case safetensors.InAnotherShard:
		return finding.New("HFI203", fmt.Sprintf("%q is in %s, the index says %s", d.Tensor, d.Actual, d.Indexed)).About(d.Tensor).In(d.Actual), true
	case safetensors.NotIndexed:
		return finding.New("HFI204", fmt.Sprintf("%q is in %s and not in the index", d.Tensor, d.Actual)).About(d.Tensor).In(d.Actual), true
	case safetensors.UnusedShard:
		what := "and is not counted"
		if d.Counts {
			what = "and is counted, since its number belongs to the set"
		}
		return finding.New("HFI205", fmt.Sprintf("%s is not in the index %s", d.Actual, what)).In(d.Actual), true
	case safetensors.TotalSizeDiffers:
		message := fmt.Sprintf("the index says total_size %s, the headers sum to %d bytes", d.Declared, d.Counted)
		if cause := sizeCause(safetensors.Declared{Raw: d.Declared}, in); cause != "" {
			message += "; " + cause
		}
		return finding.New("HFI206", message), true
	case safetensors.TotalParametersDiffers:
		if in.Counts.isOneOf(d.Declared) || in.isUnpacked(d.Declared) {
			return finding.Finding{}, false
		}
		return finding.New("HFI207", fmt.Sprintf("the index says total_parameters %s, the headers hold %d elements", d.Declared, d.Counted)), true
	}
	return finding.New("HFI207", fmt.Sprintf("the index declares %s, which is no whole number", d.Declared)), true
}

// isUnpacked reports whether a declared number counts what is not packed: the
// reference library's modules hold packed weights as buffers.
func (in *Inspection) isUnpacked(declared string) bool {
	return in.Quantisation != nil && fmt.Sprint(*in.Counts.LogicalParameters-in.Quantisation.Parameters) == declared
}

// isOneOf reports whether a declared number is one of the counts.
func (c *Counts) isOneOf(declared string) bool {
	for _, d := range c.Definitions() {
		if d.Value != nil && fmt.Sprint(*d.Value) == declared {
			return true
		}
	}
	return false
}

// choiceFindings names the weights that were not counted.
func choiceFindings(choice *safetensors.Choice, c *safetensors.Checkpoint) []finding.Finding {
	var list []finding.Finding
	for _, n := range choice.Notices {
		list = append(list, noticeFinding(n, ""))
	}
	var others []string
	for i := range choice.Others {
		s := &choice.Others[i]
		if len(s.Files) == 0 || counted(s.Files, c) {
			continue // an index alone, or the index's shards under names of another pattern
		}
		name := s.Name()
		if size := s.Size(); size >= 0 {
			name += fmt.Sprintf(" (%d bytes)", size)
		}
		others = append(others, name)
	}
	if len(others) > 0 {
		list = append(list, finding.New("HFI211", "other weights are there and not counted: "+strings.Join(finding.Names(others), ", ")))
	}
	return list
}

// counted reports whether all parts of a set are among the counted files.
func counted(parts []safetensors.Part, c *safetensors.Checkpoint) bool {
	for _, p := range parts {
		if !slices.ContainsFunc(c.Files, func(f *safetensors.File) bool { return f.Path == p.Path }) {
			return false
		}
	}
	return true
}
