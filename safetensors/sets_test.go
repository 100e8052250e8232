package safetensors_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/safetensors"
	st "github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
	"github.com/hf-inspect/hf-inspect/source"
)

func files(paths ...string) []source.File {
	var list []source.File
	for i, path := range paths {
		list = append(list, source.File{Path: path, Size: int64(1000 - i)})
	}
	return list
}

func TestChoose(t *testing.T) {
	const s1, s2, index = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"
	for _, c := range []struct {
		name    string
		files   []source.File
		opts    safetensors.ChooseOptions
		want    string // name of the set
		parts   int
		notices []safetensors.NoticeKind
	}{
		{"single", files("config.json", "model.safetensors"), safetensors.ChooseOptions{}, "model.safetensors", 1, nil},
		{"sharded", files(s1, s2, index), safetensors.ChooseOptions{}, index, 2, nil},
		{"single wins over index", files("model.safetensors", s1, s2, index), safetensors.ChooseOptions{}, "model.safetensors", 1,
			[]safetensors.NoticeKind{safetensors.NoticeIndexBesideSingle}},
		{"the index by name", files("model.safetensors", s1, s2, index), safetensors.ChooseOptions{File: index}, index, 2, nil},
		{"one shard by name", files(s1, s2, index), safetensors.ChooseOptions{File: s2}, s2, 1, nil},
		{"no index", files(s1, s2), safetensors.ChooseOptions{}, s1 + " … (2 files)", 2, []safetensors.NoticeKind{safetensors.NoticeNoIndex}},
		{"variant and plain", files("model.fp16.safetensors", "model.safetensors"), safetensors.ChooseOptions{}, "model.safetensors", 1, nil},
		{"variant asked for", files("model.fp16.safetensors", "model.safetensors"), safetensors.ChooseOptions{Variant: "fp16"}, "model.fp16.safetensors", 1, nil},
		{"variant only", files("model.fp16.safetensors"), safetensors.ChooseOptions{}, "model.fp16.safetensors", 1,
			[]safetensors.NoticeKind{safetensors.NoticeVariantOnly}},
		{"variant shards", files("model.fp16-00001-of-00002.safetensors", "model.fp16-00002-of-00002.safetensors", "model.safetensors.index.fp16.json", "model.safetensors"),
			safetensors.ChooseOptions{Variant: "fp16"}, "model.safetensors.index.fp16.json", 2, nil},
		{"old spelling of variant shards", files("model-00001-of-00002.fp16.safetensors", "model-00002-of-00002.fp16.safetensors", "model.safetensors.index.fp16.json"),
			safetensors.ChooseOptions{Variant: "fp16"}, "model.safetensors.index.fp16.json", 2, nil},
		{"consolidated beside shards", files("consolidated.safetensors", s1, s2, index), safetensors.ChooseOptions{}, index, 2, nil},
		{"consolidated alone", files("consolidated.safetensors", "params.json"), safetensors.ChooseOptions{}, "consolidated.safetensors", 1, nil},
		{"original and metal", files("original/model.safetensors", "metal/model.safetensors", s1, s2, index), safetensors.ChooseOptions{}, index, 2, nil},
		{"adapter", files("adapter_config.json", "adapter_model.safetensors"), safetensors.ChooseOptions{}, "adapter_model.safetensors", 1, nil},
		{"bin beside", files("model.safetensors", "pytorch_model.bin", "training_args.bin"), safetensors.ChooseOptions{}, "model.safetensors", 1, nil},
		{"pipeline", files("text_encoder/model.safetensors", "unet/diffusion_pytorch_model.safetensors", "vae/diffusion_pytorch_model.safetensors"), safetensors.ChooseOptions{},
			"unet/diffusion_pytorch_model.safetensors", 1, []safetensors.NoticeKind{safetensors.NoticeSubfolder}},
		{"component", files("text_encoder/model.safetensors", "unet/diffusion_pytorch_model.safetensors"), safetensors.ChooseOptions{Subfolder: "text_encoder/"},
			"text_encoder/model.safetensors", 1, nil},
		{"diffusers takes the index first", files("diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.safetensors.index.json", "diffusion_pytorch_model-00001-of-00001.safetensors"),
			safetensors.ChooseOptions{}, "diffusion_pytorch_model.safetensors.index.json", 1, nil},
		{"one other file", files("flux1-dev.safetensors"), safetensors.ChooseOptions{}, "flux1-dev.safetensors", 1, nil},
		{"several others", files("b.safetensors", "a.safetensors"), safetensors.ChooseOptions{}, "b.safetensors", 1, []safetensors.NoticeKind{safetensors.NoticeSeveral}},
		{"checkpoint only", files("checkpoint-100/model.safetensors", "checkpoint-100/optimizer.pt"), safetensors.ChooseOptions{},
			"checkpoint-100/model.safetensors", 1, []safetensors.NoticeKind{safetensors.NoticeSubfolder}},
		{"index alone", files(index), safetensors.ChooseOptions{}, index, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			choice, err := safetensors.Choose(safetensors.Sets(c.files), c.opts)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []safetensors.NoticeKind
			for _, notice := range choice.Notices {
				kinds = append(kinds, notice.Kind)
			}
			if choice.Set.Name() != c.want || len(choice.Set.Files) != c.parts || !slices.Equal(kinds, c.notices) {
				t.Errorf("got %s with %d files, notices %v", choice.Set.Name(), len(choice.Set.Files), choice.Notices)
			}
			for i := range choice.Others {
				if choice.Others[i].Name() == choice.Set.Name() {
					t.Errorf("%s is among the others", choice.Set.Name())
				}
			}
		})
	}
}

func TestNoWeights(t *testing.T) {
	for _, c := range []struct {
		files []source.File
		opts  safetensors.ChooseOptions
		want  []string
	}{
		{files("config.json"), safetensors.ChooseOptions{}, []string{"no safetensors weights", "model.safetensors or its shards"}},
		{files("pytorch_model.bin", "training_args.bin"), safetensors.ChooseOptions{}, []string{"found only pytorch_model.bin", "save them as safetensors"}},
		{files("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin", "pytorch_model.bin.index.json"), safetensors.ChooseOptions{}, []string{"pytorch_model.bin.index.json"}},
		{files("q4.gguf", "q8.gguf", "a.gguf", "b.gguf", "c.gguf"), safetensors.ChooseOptions{}, []string{"2 more", "GGUF"}},
		{files("model.safetensors"), safetensors.ChooseOptions{Variant: "fp16"}, []string{"of variant fp16", "found only model.safetensors"}},
		{files("model.safetensors"), safetensors.ChooseOptions{Subfolder: "unet"}, []string{"in unet"}},
		{files("model.safetensors"), safetensors.ChooseOptions{File: "other.safetensors"}, []string{"no weight file other.safetensors"}},
		{files("tf_model.h5"), safetensors.ChooseOptions{}, []string{"convert them"}},
	} {
		_, err := safetensors.Choose(safetensors.Sets(c.files), c.opts)
		var none *safetensors.NoWeightsError
		if !errors.As(err, &none) {
			t.Errorf("%v: %v", c.files, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q lacks %q", err, part)
			}
		}
	}
}

func TestSets(t *testing.T) {
	sets := safetensors.Sets(files("model-00001-of-00005.safetensors", "model-00005-of-00005.safetensors", "model-00004-of-00005.safetensors"))
	if len(sets) != 1 || !slices.Equal(sets[0].Missing, []string{"model-00002-of-00005.safetensors", "model-00003-of-00005.safetensors"}) {
		t.Errorf("%+v", sets)
	}
	sets = safetensors.Sets(files("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model-00003-of-00003.safetensors",
		"model.safetensors.index.json", "model_mtp.safetensors", "mtp.safetensors", "vision.safetensors", "model.safetensors"))
	var names []string
	for i := range sets {
		names = append(names, sets[i].Name())
	}
	if !slices.Equal(names, []string{"model.safetensors", "model.safetensors.index.json", "vision.safetensors"}) {
		t.Errorf("%v", names)
	}
	if strays := sets[1].Strays; len(strays) != 3 || sets[1].Size() != 1999 {
		t.Errorf("%+v", sets[1])
	}
	// A name may claim any number; nothing is as large as the claim.
	sets = safetensors.Sets(files("model-00001-of-999999999.safetensors"))
	if len(sets) != 1 || len(sets[0].Missing) > 10_000 {
		t.Errorf("%d sets", len(sets))
	}
}

func TestLeft(t *testing.T) {
	blobs := map[string]st.Blob{
		"layer-a.safetensors":          st.Sparse(st.T("a", "F32", 1)),
		"layer-b.safetensors":          st.Sparse(st.T("b", "F32", 1)),
		"model.safetensors.index.json": st.Whole(st.Index("8", map[string]string{"a": "layer-a.safetensors", "b": "./layer-b.safetensors"})),
		"original/model.safetensors":   st.Sparse(st.T("a", "F32", 1)),
	}
	src := st.NewFolder(blobs)
	c := open(t, src, safetensors.ReadOptions{})
	if c.Totals().Elements != 2 || !c.Complete || !c.Countable() || len(describe(c)) > 0 {
		t.Errorf("%+v, %q", c.Totals(), describe(c))
	}
	list, _ := src.List(t.Context())
	left := c.Left(safetensors.Sets(list))
	if len(left) != 2 || left[1].Name() != "original/model.safetensors" {
		t.Errorf("%+v", left)
	}
}
