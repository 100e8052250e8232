package locate

import (
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	for _, tt := range []struct {
		model string
		want  Ref
	}{
		{"gpt2", Ref{"gpt2", "", ""}},
		{"gpt2@v1", Ref{"gpt2", "v1", ""}},
		{"org/name", Ref{"org/name", "", ""}},
		{"org/name@refs/pr/7", Ref{"org/name", "refs/pr/7", ""}},
		{"org/name@feature/x//unet", Ref{"org/name", "feature/x", "unet"}},
		{"org/name//unet/", Ref{"org/name", "", "unet"}},
		{"org/name//a/b.safetensors", Ref{"org/name", "", "a/b.safetensors"}},
		{"hf://gpt2", Ref{"gpt2", "", ""}},
		{"hf://org/name", Ref{"org/name", "", ""}},
		{"hf://models/org/name", Ref{"org/name", "", ""}},
		{"hf://org/name@dev/original/x.safetensors", Ref{"org/name", "dev", "original/x.safetensors"}},
		{"hf://org/name@refs/pr/7/x", Ref{"org/name", "refs/pr/7", "x"}},
		{"hf://org/name@feature%2Fx/x", Ref{"org/name", "feature/x", "x"}},
		{"hf://org/name/a/b@c", Ref{"org/name", "", "a/b@c"}},
		{"https://huggingface.co/gpt2", Ref{"gpt2", "", ""}},
		{"https://huggingface.co/org/name", Ref{"org/name", "", ""}},
		{"https://huggingface.co/org/name/", Ref{"org/name", "", ""}},
		{"http://hf.co/org/name?library=x#y", Ref{"org/name", "", ""}},
		{"huggingface.co/org/name", Ref{"org/name", "", ""}},
		{"https://huggingface.co/org/name/tree/main", Ref{"org/name", "main", ""}},
		{"https://huggingface.co/org/name/tree/refs%2Fpr%2F7/unet", Ref{"org/name", "refs/pr/7", "unet"}},
		{"https://huggingface.co/org/name/tree/refs/pr/7", Ref{"org/name", "refs/pr/7", ""}},
		{"https://huggingface.co/gpt2/tree/main/x", Ref{"gpt2", "main", "x"}},
		{"https://huggingface.co/org/name/blob/main/a%20b.safetensors", Ref{"org/name", "main", "a b.safetensors"}},
		{"https://huggingface.co/org/name/resolve/v1/x.safetensors?download=true", Ref{"org/name", "v1", "x.safetensors"}},
		{"https://mirror.test/hub/org/name/tree/main", Ref{"org/name", "main", ""}},
		{"https://huggingface.co/org/name/commit/abc", Ref{"org/name", "abc", ""}},
	} {
		got, err := ParseRef(tt.model, "https://mirror.test/hub")
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.model, got, err, tt.want)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	for model, says := range map[string]string{
		"org/name/unet": "org/name//folder", "org/na me": "cannot be in a name", "org/name@": "no revision after the @",
		"https://example.com/org/name":                       "not an address of the Hub",
		"https://huggingface.co/datasets/org/name":           "leads to datasets",
		"hf://spaces/org/name":                               "leads to spaces",
		"org/name@../x":                                      "not a branch",
		"org/name//../x":                                     "not a path inside the model",
		"https://huggingface.co/org/name/blob":               "names no revision",
		"https://huggingface.co/org/name/settings":           "is not a repository",
		"https://huggingface.co/org/name/blob/main/%2e%2e/x": "not a path inside",
		"hf://": "empty", "a--b": "--", "ftp://x/y": "not an address of the Hub", "s3://bucket/x": "not an address of the Hub",
	} {
		_, err := ParseRef(model, "https://mirror.test")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", model, err, says)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"gpt2", "org/name@rev//x", "hf://a/b@c/d", "https://huggingface.co/a/b/tree/c%2Fd/e?f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, model string) {
		ref, err := ParseRef(model, "https://huggingface.co")
		if err != nil {
			return
		}
		again, err := ParseRef(ref.String(), "https://huggingface.co")
		if err != nil || again != ref {
			t.Errorf("%q is %+v, whose text %q is %+v, %v", model, ref, ref, again, err)
		}
	})
}
