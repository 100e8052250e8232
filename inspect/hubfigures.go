package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// hubFindings holds what the Hub says of a repository against the headers. The
// Hub speaks of the weights that it chose, so that a choice of the user's own
// leaves nothing to compare, and neither does a set that is not complete.
func (in *Inspection) hubFindings(src source.Source, choice *safetensors.Choice, opts Options) []finding.Finding {
	f, ok := src.(source.FigureSource)
	if !ok {
		return nil
	}
	figures, ok := f.Figures()
	if !ok {
		return nil
	}
	in.Source.Declared = &figures
	if !in.Source.Complete || opts.Weights != (safetensors.ChooseOptions{}) {
		return nil
	}
	c := hubComparison{in: in, figures: figures, others: choice.Others}
	return c.findings()
}

// hubComparison compares the Hub's figures with an inspection.
type hubComparison struct {
	in      *Inspection
	figures source.Figures
	others  []safetensors.Set
}

func (c *hubComparison) findings() []finding.Finding {
	sum := int64(0)
	for _, n := range c.figures.Parameters {
		sum += n
	}
	total := cmp.Or(c.figures.Total, sum)
	counts := &c.in.Counts
	switch {
	case counts.UniqueParameters != nil && total == *counts.UniqueParameters:
		return nil
	case total == counts.StoredElements && len(c.beside()) == 0:
		return nil
	case total == counts.StoredElements:
		return c.note("every stored element", total, strings.Join(c.beside(), ", ")+" among them")
	case c.known(total) != "":
		return c.note("", total, c.known(total))
	case sum == counts.StoredElements && c.sameDTypes():
		return []finding.Finding{finding.New("HFI213", fmt.Sprintf("the Hub says %s parameters, while its own figures by dtype sum to %s, as the headers do",
			finding.Number(total), finding.Number(sum)))}
	}
	message := fmt.Sprintf("the Hub says %s parameters%s, the headers hold %s elements%s; %s",
		finding.Number(total), byDType(c.figures.Parameters), finding.Number(counts.StoredElements), byDType(c.stored()), c.guess(total))
	return []finding.Finding{finding.New("HFI213", message)}
}

// note words a figure that is another count of the same weights.
func (c *hubComparison) note(what string, total int64, why string) []finding.Finding {
	message := fmt.Sprintf("the Hub says %s", finding.Count(total, "parameter"))
	for _, part := range []string{what, why} {
		if part != "" {
			message += ": " + part
		}
	}
	return []finding.Finding{finding.New("HFI215", message)}
}

// besideKinds are what is stored beside the parameters that are loaded, in words.
var besideKinds = [...]struct {
	status reconcile.Status
	words  string
}{
	{reconcile.Buffer, "buffers"},
	{reconcile.Quantisation, "scales and other bookkeeping of the quantisation"},
	{reconcile.Tied, "copies of tied tensors"},
	{reconcile.Section, "parts beside the model"},
	{reconcile.OtherHead, "another head"},
	{reconcile.Beyond, "what is beyond the config"},
	{reconcile.Duplicate, "tensors stored twice"},
	{reconcile.Unexpected, "tensors of no known use"},
}

// beside lists what of the stored elements is no parameter of the model, or
// stands for more parameters than elements.
func (c *hubComparison) beside() []string {
	var parts []string
	elements, logical := c.sums()
	if packed := elements[reconcile.Quantised]; packed != logical[reconcile.Quantised] {
		parts = append(parts, fmt.Sprintf("%s packed ones that stand for %s parameters", finding.Number(packed), finding.Number(logical[reconcile.Quantised])))
	}
	for _, kind := range besideKinds {
		if n := elements[kind.status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", finding.Number(n), kind.words))
		}
	}
	return parts
}

// sums gives elements and logical parameters by status.
func (c *hubComparison) sums() (elements, logical map[reconcile.Status]int64) {
	elements, logical = map[reconcile.Status]int64{}, map[reconcile.Status]int64{}
	for i := range c.in.Result.Claims {
		claim := &c.in.Result.Claims[i]
		logical[claim.Status] += claim.Logical
		for m := range claim.Members() {
			elements[claim.Status] += m.Tensor.Elements()
		}
	}
	return elements, logical
}

// known names the count that a number is, if it is one.
func (c *hubComparison) known(total int64) string {
	counts := &c.in.Counts
	elements, _ := c.sums()
	buffers, bookkeeping := elements[reconcile.Buffer], elements[reconcile.Quantisation]
	is := func(n *int64) bool { return n != nil && *n == total }
	switch {
	case is(counts.LogicalParameters):
		return "the stored parameters, quantised storage unpacked"
	case total == counts.StoredElements-buffers:
		return fmt.Sprintf("the stored elements without %s of buffers", finding.Number(buffers))
	case total == counts.StoredElements-bookkeeping:
		return fmt.Sprintf("the stored elements without %s of the quantisation's bookkeeping", finding.Number(bookkeeping))
	case is(counts.EstimatedParameters):
		return "what the config calls for"
	case total == counts.StoredBytes:
		return "the bytes of the weights rather than their elements"
	}
	return ""
}

// guess says what may be behind a figure that is no count of these weights.
func (c *hubComparison) guess(total int64) string {
	if len(c.others) > 0 {
		return "it may have counted another set of weights (" + c.others[0].Name() + ") or an earlier commit"
	}
	if stored := c.in.Counts.StoredElements; stored > 0 && total > 0 && total%stored == 0 {
		return fmt.Sprintf("it is %d times as many, as when copies are added up", total/stored)
	}
	return "it may be of an earlier commit"
}

func (c *hubComparison) stored() map[string]int64 {
	sums := map[string]int64{}
	for _, s := range c.in.ByDType {
		sums[s.DType] = s.Elements
	}
	return sums
}

func (c *hubComparison) sameDTypes() bool { return maps.Equal(c.stored(), c.figures.Parameters) }

// byDType writes sums by dtype: " (BF16 7, F32 3)".
func byDType(sums map[string]int64) string {
	if len(sums) == 0 {
		return ""
	}
	var parts []string
	for _, dtype := range slices.Sorted(maps.Keys(sums)) {
		parts = append(parts, fmt.Sprintf("%s %s", dtype, finding.Number(sums[dtype])))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
