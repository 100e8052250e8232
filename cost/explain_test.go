package cost

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// explainedConfigs are one of each kind of description: plain, routed, latent,
// windowed, hybrid, encoder and decoder, encoder alone.
var explainedConfigs = []string{
	`{"model_type":"gpt2"}`,
	`{"model_type":"llama"}`,
	`{"model_type":"mixtral"}`,
	`{"model_type":"deepseek_v3"}`,
	`{"model_type":"gemma3_text"}`,
	`{"model_type":"gpt_oss"}`,
	`{"model_type":"jamba"}`,
	`{"model_type":"mamba2"}`,
	`{"model_type":"t5"}`,
	`{"model_type":"bert"}`,
	`{"model_type":"vit"}`,
	`{"model_type":"llava"}`,
}

// TestExplanationsAddUp: the numbers of each figure's formula give its result.
func TestExplanationsAddUp(t *testing.T) {
	h100, err := FindAccelerator("H100")
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range explainedConfigs {
		m := describe(t, []byte(config), "")
		for _, opts := range []Options{{}, {Fused: true, Recompute: true}} {
			f := ForwardFLOPs(m, estimator.Pass{Batch: 2, Seq: 48, EncoderSeq: 32, Sight: estimator.Sight{Images: 2}}, opts)
			addUp(t, config+" flops", f.Formulas, 4)
		}
		f := ForwardFLOPs(m, estimator.Pass{Batch: 2, Seq: 1, Past: 47, EncoderSeq: 32}, Options{})
		addUp(t, config+" decode", f.Formulas, 1)
		for _, opts := range []KVOptions{{}, {Library: true}, {Expanded: true, Block: 16}} {
			kv := KVCache(m, 2, 777, 33, ElementType{Name: "bf16", Bytes: big.NewRat(2, 1)}, opts)
			addUp(t, config+" kv", kv.Formulas, min(1, len(kv.Layers)))
		}
		for _, train := range []bool{false, true} {
			plan := testPlan(t, train)
			plan.EncoderSeq, plan.Accelerators, plan.Recompute, plan.Overhead = 32, []Accelerator{h100}, estimator.RecomputeLayers, big.NewInt(1e9)
			addUp(t, fmt.Sprintf("%s memory, training %t", config, train), memoryOf(t, m, plan).Formulas, 4)
		}
	}
	for _, b := range []Budget{
		{Parameters: 7e9, Total: 8e9, Tokens: 1e12, Peak: 312e12, Devices: 1000, Efficiency: 0.35, Rate: 1.5},
		{Parameters: 7e9, Total: 8e9, FLOPsAToken: 4.5e10, Rule: "exact", Peak: 312e12, Devices: 1000, Measured: 3.2e6, MFUAToken: 4.4e10},
	} {
		run, err := Train(b)
		if err != nil {
			t.Fatal(err)
		}
		addUp(t, "train", run.Formulas, 4)
	}
}

func addUp(t *testing.T, what string, formulas []Formula, least int) {
	t.Helper()
	checked := 0
	for _, f := range formulas {
		want, ok := f.Result.(float64)
		if n, whole := f.Result.(*big.Int); whole {
			want, ok = float(n), true
		}
		e := evaluator{text: strings.NewReplacer(", ", ";", " ", "").Replace(f.Numbers)}
		got, err := e.sum()
		switch {
		case !ok:
			t.Errorf("%s, %s: a result of type %T", what, f.Name, f.Result)
		case err != nil || e.text != "":
			t.Errorf("%s, %s: %q is no arithmetic: %v, %q is left", what, f.Name, f.Numbers, err, e.text)
		case math.Abs(got-want) > 2e-5*math.Abs(want): // seconds and shares are printed to six digits
			t.Errorf("%s, %s: %s = %g, not %g", what, f.Name, f.Numbers, got, want)
		default:
			checked++
		}
	}
	if checked < least {
		t.Errorf("%s: only %d figures", what, checked)
	}
}

// evaluator computes what a formula in numbers says: 2·(3 + 4²) / 5.
type evaluator struct{ text string }

func (e *evaluator) take(token string) bool {
	rest, ok := strings.CutPrefix(e.text, token)
	if ok {
		e.text = rest
	}
	return ok
}

func (e *evaluator) sum() (float64, error) {
	negative := e.take("−")
	total, err := e.product()
	if negative {
		total = -total
	}
	for err == nil {
		var next float64
		switch {
		case e.take("+"):
			next, err = e.product()
			total += next
		case e.take("−"):
			next, err = e.product()
			total -= next
		default:
			return total, nil
		}
	}
	return total, err
}

func (e *evaluator) product() (float64, error) {
	total, err := e.power()
	for err == nil {
		var next float64
		switch {
		case e.take("·"):
			next, err = e.power()
			total *= next
		case e.take("/"):
			next, err = e.power()
			total /= next
		default:
			return total, nil
		}
	}
	return total, err
}

func (e *evaluator) power() (float64, error) {
	n, err := e.operand()
	for power, superscript := range []string{"²", "³", "⁴"} {
		if err == nil && e.take(superscript) {
			return math.Pow(n, float64(power+2)), nil
		}
	}
	return n, err
}

func (e *evaluator) operand() (float64, error) {
	switch {
	case e.take("max("):
		a, err := e.sum()
		if err != nil || !e.take(";") {
			return 0, fmt.Errorf("no second number: %v", err)
		}
		b, err := e.sum()
		e.take(")")
		return max(a, b), err
	case e.take("("):
		n, err := e.sum()
		if !e.take(")") {
			return 0, fmt.Errorf("no closing bracket")
		}
		return n, err
	case e.take("⌈"):
		n, err := e.sum()
		e.take("⌉")
		return math.Ceil(n), err
	}
	return e.number()
}

func (e *evaluator) number() (float64, error) {
	end := 0
	for end < len(e.text) {
		r, size := utf8.DecodeRuneInString(e.text[end:])
		sign := end > 0 && e.text[end-1] == 'e' && (r == '+' || r == '-')
		grouping := r == ',' && end+4 <= len(e.text) && strings.Trim(e.text[end+1:end+4], "0123456789") == ""
		if !sign && !grouping && !strings.ContainsRune("0123456789.e", r) {
			break
		}
		end += size
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(e.text[:end], ",", ""), 64)
	e.text = e.text[end:]
	return n, err
}
