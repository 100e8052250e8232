package safetensors

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Choice is the set that is counted, and those that are not.
type Choice struct {
	Set     Set
	Others  []Set // all others, in other formats too; never added up
	Notices []Notice
}

// ChooseOptions narrows what Choose may take. The zero value takes what
// from_pretrained takes.
type ChooseOptions struct {
	Variant   string // "fp16" for model.fp16.safetensors
	Subfolder string // "unet"
	File      string // path of a weight file or of an index: its set, or that file alone
}

// NoWeightsError says that there is no set to count. Found holds the weights in
// other formats, or those that the options exclude.
type NoWeightsError struct {
	Options ChooseOptions
	Found   []Set
}

// Error says what was found and what to do.
func (e *NoWeightsError) Error() string {
	where := "no safetensors weights"
	switch {
	case e.Options.File != "":
		where = "no weight file " + printable(e.Options.File)
	case e.Options.Variant != "":
		where += " of variant " + printable(e.Options.Variant)
	}
	if e.Options.Subfolder != "" {
		where += " in " + printable(e.Options.Subfolder)
	}
	if len(e.Found) == 0 {
		return where + "; name a folder or repository that holds model.safetensors or its shards"
	}
	names := make([]string, 0, 4)
	for i := range e.Found {
		if len(names) == 3 {
			names = append(names, fmt.Sprintf("%d more", len(e.Found)-3))
			break
		}
		names = append(names, printable(e.Found[i].Name()))
	}
	return where + "; found only " + strings.Join(names, ", ") + e.remedy()
}

func (e *NoWeightsError) remedy() string {
	switch e.Found[0].Format {
	case FormatPickle:
		return ", pickled PyTorch weights: load them with torch and save them as safetensors"
	case FormatGGUF:
		return ", GGUF weights: read them with a GGUF tool, or get the safetensors weights"
	case FormatSafetensors:
		return ": name one of these"
	}
	return ": convert them to safetensors"
}

// Choose picks one set as from_pretrained would: model.safetensors, then the
// index beside it and its shards, then shards without an index, then what else
// the root holds, then a subfolder. A notice says where the choice was not
// plain. The error is a *[NoWeightsError].
func Choose(sets []Set, opts ChooseOptions) (*Choice, error) {
	candidates := slices.Clone(sets)
	if opts.File != "" {
		return chooseFile(sets, opts)
	}
	candidates = slices.DeleteFunc(candidates, func(s Set) bool {
		return s.Format != FormatSafetensors ||
			opts.Subfolder != "" && s.Folder != path.Clean(opts.Subfolder) ||
			opts.Variant != "" && s.Variant != opts.Variant
	})
	if len(candidates) == 0 {
		return nil, &NoWeightsError{opts, sets}
	}
	slices.SortStableFunc(candidates, compareSets)
	choice := &Choice{Set: candidates[0]}
	choice.Others = others(sets, &choice.Set)
	choice.explain(candidates, opts)
	return choice, nil
}

// chooseFile takes the set of an index, the set that consists of a file, or the
// file out of its set.
func chooseFile(sets []Set, opts ChooseOptions) (*Choice, error) {
	file := path.Clean(opts.File)
	for i := range sets {
		s := sets[i]
		if s.Format != FormatSafetensors {
			continue
		}
		at := slices.IndexFunc(s.Files, func(p Part) bool { return p.Path == file })
		if at < 0 && s.Index != file {
			continue
		}
		if at >= 0 && s.Sharded() {
			s.Files, s.Index, s.Missing, s.Of = s.Files[at:at+1], "", nil, 0
		}
		return &Choice{Set: s, Others: others(sets, &s)}, nil
	}
	return nil, &NoWeightsError{opts, sets}
}

// others are all sets but the chosen one.
func others(sets []Set, chosen *Set) []Set {
	var rest []Set
	for _, s := range sets {
		if s.Name() != chosen.Name() {
			rest = append(rest, s)
		}
	}
	return rest
}

// stemRank orders the stems that loaders look for.
func stemRank(s *Set) int {
	stems := []string{"model", "diffusion_pytorch_model", "adapter_model", "pytorch_model"}
	if at := slices.Index(stems, s.Stem); at >= 0 {
		return at
	}
	switch {
	case strings.HasPrefix(s.Stem, "consolidated"):
		return len(stems) + 1 // the original layout beside the transformers one
	case strings.HasPrefix(s.Stem, "adapter") || strings.Contains(s.Stem, "mtp"):
		return len(stems) + 2
	}
	return len(stems)
}

// formRank orders single file, index and bare shards. diffusers looks for the
// index first, transformers for the single file.
func formRank(s *Set) int {
	single, index := 0, 1
	if s.Stem == "diffusion_pytorch_model" {
		single, index = 1, 0
	}
	switch {
	case !s.Sharded():
		return single
	case s.Index != "":
		return index
	}
	return 2
}

// folderRank puts the root first; in a pipeline of components, the one that the
// pipeline is named for.
func folderRank(folder string) int {
	switch folder {
	case "":
		return 0
	case "transformer", "unet":
		return 1
	case "original", "metal", "onnx":
		return 3
	}
	return 2
}

// compareSets orders sets by what a loader takes first.
func compareSets(a, b Set) int {
	return cmp.Or(
		cmp.Compare(folderRank(a.Folder), folderRank(b.Folder)),
		cmp.Compare(min(len(a.Variant), 1), min(len(b.Variant), 1)),
		cmp.Compare(stemRank(&a), stemRank(&b)),
		cmp.Compare(formRank(&a), formRank(&b)),
		cmp.Compare(len(b.Files), len(a.Files)), // of two numberings the fuller one
		cmp.Compare(b.Size(), a.Size()),
		strings.Compare(a.Folder, b.Folder),
		strings.Compare(a.Name(), b.Name()),
	)
}

// explain adds the notices of a choice.
func (c *Choice) explain(candidates []Set, opts ChooseOptions) {
	s := &c.Set
	for i := range candidates[1:] {
		o := &candidates[i+1]
		if o.Folder != s.Folder || o.Variant != s.Variant {
			continue
		}
		switch {
		case !s.Sharded() && o.Stem == s.Stem && o.Index != "":
			c.notice(NoticeIndexBesideSingle, s, "%s lies beside the index %s; the single file is taken, as loaders do", s, o)
		case s.Stem == o.Stem && s.Sharded() && o.Sharded():
			c.notice(NoticeSeveral, s, "%s lies beside another numbering, %s; the one with more files is taken", s, o)
		case stemRank(s) == stemRank(o) && s.Stem != o.Stem:
			c.notice(NoticeSeveral, s, "%s was taken among several sets of weights, %s for one; name the one to count", s, o)
		}
	}
	if s.Variant != "" && opts.Variant == "" {
		c.notice(NoticeVariantOnly, s, "%s is a variant, and there are no weights without one; loaders need the variant named", s)
	}
	if s.Folder != "" && opts.Subfolder == "" {
		c.notice(NoticeSubfolder, s, "there are no weights at the root; %s was taken from a subfolder", s)
	}
	if s.Of > 0 && s.Index == "" {
		c.notice(NoticeNoIndex, s, "the shards %s have no index; loaders need model.safetensors.index.json", s)
	}
}

func (c *Choice) notice(kind NoticeKind, about *Set, format string, sets ...*Set) {
	names := make([]any, len(sets))
	for i, s := range sets {
		names[i] = printable(s.Name())
	}
	c.Notices = append(c.Notices, Notice{Kind: kind, Tensor: about.Name(), Offset: -1, Count: 1, Detail: fmt.Sprintf(format, names...)})
}
