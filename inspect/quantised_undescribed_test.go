package inspect

import (
	"context"
	"strings"
	"testing"
)

// notTold are layouts whose tensors do not tell rows and columns, or whose last
// bits are padding, without a description.
var notTold = map[string]string{
	"gemma-srq-2bit-odd": "rows are padded to bytes",
	"gemma-srq-4bit-odd": "rows are padded to bytes",
}

// TestQuantisedUndescribed takes the description away: the tensors alone give
// the logical sizes.
func TestQuantisedUndescribed(t *testing.T) {
	for _, c := range readQuantised(t) {
		t.Run(c.Name, func(t *testing.T) {
			if why := notTold[c.Name]; why != "" {
				t.Skip(why)
			}
			text := c.Files["config.json"]
			for _, known := range []string{"llama", "mixtral", "gpt_oss"} {
				text = strings.ReplaceAll(text, `"model_type": "`+known+`"`, `"model_type": "unheard_of"`)
			}
			c.Files["config.json"] = text
			in, err := Inspect(context.Background(), c.folder(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if in.Model.Described {
				t.Fatal("described")
			}
			if *in.Counts.LogicalParameters != c.Logical {
				t.Errorf("logical %d, want %d", *in.Counts.LogicalParameters, c.Logical)
			}
			if n := in.Ledger.Unexplained; n == nil || *n != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
				t.Errorf("unexplained %v: %q", n, in.Ledger.UnexplainedTensors)
			}
		})
	}
}
