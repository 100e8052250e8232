package audit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// config is a model of 64 tokens whose two layers have four matrices of
// attention and three of the feed-forward block.
const config = `{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8,"intermediate_size":16,"num_hidden_layers":2,
	"num_attention_heads":2,"num_key_value_heads":2,"vocab_size":64,"bos_token_id":1,"eos_token_id":[2,63],"tie_word_embeddings":false}`

// parameters of it: two tables of 64·8, two layers of 4·64 + 3·128 + 2·8, a norm.
const parameters = 2*512 + 2*(256+384+16) + 8

func tensors() []safetensorstest.Tensor {
	list := []safetensorstest.Tensor{safetensorstest.T("model.embed_tokens.weight", "BF16", 64, 8), safetensorstest.T("lm_head.weight", "BF16", 64, 8),
		safetensorstest.T("model.norm.weight", "BF16", 8)}
	for layer := range 2 {
		at := fmt.Sprintf("model.layers.%d.", layer)
		for _, name := range []string{"q", "k", "v", "o"} {
			list = append(list, safetensorstest.T(at+"self_attn."+name+"_proj.weight", "BF16", 8, 8))
		}
		list = append(list, safetensorstest.T(at+"mlp.gate_proj.weight", "BF16", 16, 8), safetensorstest.T(at+"mlp.up_proj.weight", "BF16", 16, 8),
			safetensorstest.T(at+"mlp.down_proj.weight", "BF16", 8, 16), safetensorstest.T(at+"input_layernorm.weight", "BF16", 8),
			safetensorstest.T(at+"post_attention_layernorm.weight", "BF16", 8))
	}
	return list
}

type files = map[string]safetensorstest.Blob

func audited(t *testing.T, more files, opts Options) *Audit {
	t.Helper()
	all := files{"config.json": safetensorstest.Whole([]byte(config)), "model.safetensors": safetensorstest.Sparse(tensors()...)}
	for name, blob := range more {
		all[name] = blob
		if blob.Size == 0 {
			delete(all, name)
		}
	}
	folder := safetensorstest.NewFolder(all)
	in, err := inspect.Inspect(context.Background(), folder, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Model(context.Background(), "m", folder, in, opts)
}

func text(s string) safetensorstest.Blob { return safetensorstest.Whole([]byte(s)) }

func retyped(name, dtype string) safetensorstest.Blob {
	list := tensors()
	for i := range list {
		if list[i].Name == name {
			list[i].DType = dtype
		}
	}
	return safetensorstest.Sparse(list...)
}

// TestBeside checks what an audit finds that an inspection does not look for.
func TestBeside(t *testing.T) {
	zip, pickle := "PK\x03\x04 torch", "\x80\x02}q\x00."
	vocabulary := func(n int) string {
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf(`"w%d":%d`, i, i))
		}
		return `{"model":{"vocab":{` + strings.Join(words, ",") + `}},"added_tokens":[]}`
	}
	half := func(keep func(i int) bool) safetensorstest.Blob {
		var list []safetensorstest.Tensor
		for i, one := range tensors() {
			if keep(i) {
				list = append(list, one)
			}
		}
		return safetensorstest.Sparse(list...)
	}
	first, second := half(func(i int) bool { return i < 9 }), half(func(i int) bool { return i >= 9 })
	index := func(a, b string) safetensorstest.Blob {
		names := make(map[string]string)
		for i, one := range tensors() {
			names[one.Name] = a
			if i >= 9 {
				names[one.Name] = b
			}
		}
		return safetensorstest.Whole(safetensorstest.Index(fmt.Sprint(2*parameters), names))
	}
	for _, c := range []struct {
		name  string
		files files
		code  string // "" for none of 8xx
		words []string
	}{
		{"nothing beside", nil, "", nil},
		{"torch's archive", files{"pytorch_model.bin": text(zip)}, "HFI802", []string{"pytorch_model.bin"}},
		{"a bare pickle", files{"optimizer.pt": text(pickle)}, "HFI802", []string{"optimizer.pt"}},
		{"a .bin that is no pickle", files{"metal/model.bin": text("GGUF....")}, "", nil},
		{"two pickles", files{"a.pkl": text(pickle), "b.pth": text(zip)}, "HFI802", []string{"2 pickles", "a.pkl", "b.pth"}},
		{"a tar that is no pickle", files{"data.tar": text("ustar...")}, "", nil},
		{"a matrix in another dtype", files{"model.safetensors": retyped("model.layers.1.mlp.up_proj.weight", "F32")}, "HFI803", []string{"mlp", "BF16", "F32"}},
		{"a norm in another dtype", files{"model.safetensors": retyped("model.norm.weight", "F32")}, "", nil},
		{"a gap in the numbers", files{"model.safetensors": {}, "model-00001-of-00003.safetensors": first, "model-00003-of-00003.safetensors": second,
			"model.safetensors.index.json": index("model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors")}, "HFI804", []string{"no number 2"}},
		{"numbers of two sets", files{"model.safetensors": {}, "model-00001-of-00002.safetensors": first, "model-00002-of-00003.safetensors": second,
			"model.safetensors.index.json": index("model-00001-of-00002.safetensors", "model-00002-of-00003.safetensors")}, "HFI804", []string{"2 and of 3"}},
		{"whole numbers", files{"model.safetensors": {}, "model-00001-of-00002.safetensors": first, "model-00002-of-00002.safetensors": second,
			"model.safetensors.index.json": index("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")}, "", nil},
		{"an id beyond the rows", files{"generation_config.json": text(`{"eos_token_id":[2,64]}`)}, "HFI805", []string{"generation_config.json", "eos_token_id is 64", "64 rows"}},
		{"as many tokens as rows", files{"tokenizer.json": text(vocabulary(64))}, "", nil},
		{"more tokens than rows", files{"tokenizer.json": text(vocabulary(66))}, "HFI806", []string{"up to 65", "64 rows"}},
		{"fewer tokens than rows", files{"tokenizer.json": text(vocabulary(60))}, "HFI807", []string{"60 tokens", "4 rows"}},
		{"an added token beyond", files{"tokenizer.json": text(`{"model":{"vocab":[["a",0],["b",0]]},"added_tokens":[{"id":64}]}`)}, "HFI806", []string{"up to 64"}},
		{"added in the tokenizer's config", files{"tokenizer.json": text(vocabulary(64)), "tokenizer_config.json": text(`{"added_tokens_decoder":{"70":{}}}`)},
			"HFI806", []string{"tokenizer_config.json", "up to 70"}},
		{"no JSON", files{"tokenizer.json": text(`{"model":`)}, "HFI808", []string{"tokenizer.json"}},
		{"no vocabulary", files{"tokenizer.json": text(`{"model":{}}`)}, "HFI808", []string{"no vocabulary"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := audited(t, c.files, Options{})
			var of8 []string
			for _, f := range a.Findings {
				if strings.HasPrefix(f.Code, "HFI8") {
					of8 = append(of8, f.Code+" "+f.Message)
				}
			}
			switch {
			case c.code == "" && len(of8) > 0, c.code != "" && (len(of8) != 1 || !strings.HasPrefix(of8[0], c.code)):
				t.Fatalf("findings %q, want %q", of8, c.code)
			}
			for _, word := range c.words {
				if !strings.Contains(of8[0], word) {
					t.Errorf("%q does not say %q", of8[0], word)
				}
			}
		})
	}
}

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		meet bool
	}{
		{"7615616512", 7615616512, true}, {"7,615,616,512", 7615616512, true}, {"7615616511", 7615616512, false},
		{"7.6B", 7615616512, true}, {"7.62b", 7615616512, true}, {"7.61B", 7615616512, false}, {"8B", 7615616512, true}, {"7B", 7615616512, false},
		{"7.6B", 7550000000, true}, {"7.6B", 7549999999, false}, {"7.6B", 7650000000, true}, {"124M", 124439808, true}, {"1.56B", 1557611200, true},
		{"0.124B", 124439808, true}, {"671B", 671026404352, true}, {"2K", parameters, true},
	} {
		e, err := Expect(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.hold(&inspect.Counts{UniqueParameters: &c.n})) == 0; got != c.meet {
			t.Errorf("%s of %d: %t", c.text, c.n, got)
		}
	}
	for _, text := range []string{"", "B", "7.6", "-1", "7.6X", "1e9", "0x10", ".5B", strings.Repeat("9", 30)} {
		if _, err := Expect(text); err == nil {
			t.Errorf("%q is taken for a number", text)
		}
	}
	if f := (&Expectation{Text: "1"}).hold(&inspect.Counts{}); len(f) != 1 || !strings.Contains(f[0].Message, "not known") {
		t.Errorf("an unknown count: %+v", f)
	}
}

// TestVerdict checks what fails at which severity, and that a baseline accepts
// what it knows and nothing else.
func TestVerdict(t *testing.T) {
	pickled := files{"pytorch_model.bin": text("PK\x03\x04")}
	for _, c := range []struct {
		failOn finding.Severity
		passes bool
	}{{"", true}, {finding.Error, true}, {finding.Warning, false}, {finding.Note, false}} {
		if a := audited(t, pickled, Options{FailOn: c.failOn}); a.Passed != c.passes || c.passes != (a.Failing == 0) {
			t.Errorf("--fail-on %q: passed %t, %d failing", c.failOn, a.Passed, a.Failing)
		}
	}
	wrong, err := Expect("1B")
	if err != nil {
		t.Fatal(err)
	}
	if a := audited(t, nil, Options{Expected: wrong}); a.Passed || a.Failing != 1 {
		t.Errorf("another count than expected: %+v", a)
	}

	known := NewBaseline([]*Audit{audited(t, pickled, Options{})}, &Baseline{Models: map[string][]KnownFinding{"other": {{Code: "HFI101"}}}})
	if len(known.Models["other"]) != 1 {
		t.Error("what is known of another model is lost")
	}
	if a := audited(t, pickled, Options{FailOn: finding.Note, Baseline: known}); !a.Passed || len(a.Gone) > 0 {
		t.Errorf("known findings fail: %+v", a)
	}
	if a := audited(t, nil, Options{FailOn: finding.Note, Baseline: known}); len(a.Gone) != 2 || a.Gone[0].Code != "HFI802" || a.Gone[1].Code != "HFI211" {
		t.Errorf("gone: %+v", a.Gone)
	}
	pickled["more.pt"] = text("PK\x03\x04")
	pickled["generation_config.json"] = text(`{"pad_token_id":99}`)
	a := audited(t, pickled, Options{FailOn: finding.Warning, Baseline: known})
	if a.Passed || a.Failing == 0 {
		t.Errorf("a new finding passes: %+v", a)
	}
}

// TestNothingFails: a sound checkpoint has no finding that could fail.
func TestNothingFails(t *testing.T) {
	a := audited(t, nil, Options{FailOn: finding.Warning})
	if !a.Passed || *a.Counts.UniqueParameters != parameters {
		t.Errorf("%+v, %d parameters", a.Findings, *a.Counts.UniqueParameters)
	}
}
