package inspect

import (
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// declaring is a recording whose host says something else.
type declaring struct {
	source.Source
	figures source.Figures
}

func (d declaring) Figures() (source.Figures, bool) { return d.figures, true }

func TestHubFigures(t *testing.T) {
	total := func(n int64) source.Figures { return source.Figures{Total: n} }
	byDType := func(n int64, dtypes ...any) source.Figures {
		f := source.Figures{Total: n, Parameters: map[string]int64{}}
		for i := 0; i < len(dtypes); i += 2 {
			f.Parameters[dtypes[i].(string)] = int64(dtypes[i+1].(int))
		}
		return f
	}
	for _, tt := range []struct {
		name, model string
		figures     source.Figures
		opts        Options
		code, says  string // "": no finding
	}{
		{"unique", "gpt2", total(124_439_808), Options{}, "", ""},
		{"stored", "gpt2", byDType(137_022_720, "F32", 137_022_720), Options{}, "HFI215", "says 137,022,720 parameters: every stored element: 12,582,912 of buffers among them"},
		{"by dtype alone", "gpt2", byDType(0, "F32", 137_022_720), Options{}, "HFI215", "12,582,912 of buffers"},
		{"all agree", "Llama-3.1-8B", byDType(8_030_261_248, "BF16", 8_030_261_248), Options{}, "", ""},
		{"bytes", "Llama-3.1-8B", total(16_060_522_496), Options{}, "HFI215", "the bytes of the weights"},
		{"twice", "gpt2", total(2 * 137_022_720), Options{}, "HFI213", "it is 2 times as many"},
		{"other dtype", "gpt2", byDType(7, "BF16", 7), Options{}, "HFI213", "the Hub says 7 parameters (BF16 7), the headers hold 137,022,720 elements (F32 137,022,720); it may be of an earlier commit"},
		{"own sum", "bert-base-uncased", byDType(110_106_428-512, "F32", 110_106_428), Options{}, "HFI213", "while its own figures by dtype sum to 110,106,428, as the headers do"},
		{"own choice", "gpt2", total(7), Options{Weights: safetensors.ChooseOptions{File: "model.safetensors"}}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, ok := fixtures.Find(tt.model)
			if !ok {
				t.Fatal("no recording")
			}
			in, err := Inspect(t.Context(), declaring{src, tt.figures}, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			var found []finding.Finding
			for _, f := range in.Findings {
				if f.Code == "HFI213" || f.Code == "HFI215" {
					found = append(found, f)
				}
			}
			switch {
			case tt.code == "" && len(found) > 0, tt.code != "" && len(found) != 1:
				t.Fatalf("findings %v", found)
			case tt.code != "" && (found[0].Code != tt.code || !strings.Contains(found[0].Message, tt.says)):
				t.Errorf("%s: %s", found[0].Code, found[0].Message)
			case len(found) > 0:
				t.Log(found[0].Message)
			}
			if in.Source.Declared == nil || in.Source.Declared.Total != tt.figures.Total {
				t.Error("the figures are not in the result")
			}
		})
	}
}
